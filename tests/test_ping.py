from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.errors import LabError
from labs.ping import Ping

times = st.lists(st.floats(0.001, 100, allow_nan=False), min_size=1, max_size=60)


def ping(*times_ms, sent=None):
    return Ping(
        "vpp1",
        "vpp2",
        "10.10.2.2",
        len(times_ms) if sent is None else sent,
        np.arange(1, len(times_ms) + 1),
        np.array(times_ms, float),
    )


def test_the_median_is_in_the_middle():
    assert ping(1.0, 2.0, 9.0).p50 == 2.0


@given(times)
def test_percentiles_are_in_order_and_within_the_times(values):
    each = ping(*values)
    row = each.summary().iloc[0]
    assert min(values) <= each.p50 <= each.p99 <= max(values)
    assert list(row[2:]) == sorted(row[2:])


@given(times)
def test_the_table_holds_every_reply(values):
    table = ping(*values).table()
    assert list(table["time (ms)"]) == values
    assert list(table.index) == list(range(1, len(values) + 1))


def test_requests_and_replies_are_counted():
    each = ping(1.0, 2.0, sent=5)
    assert (each.sent, each.received) == (5, 2)
    assert "5 sent, 2 answered" in str(each)


def test_no_reply_is_said_and_never_a_zero():
    none = ping(sent=4)
    assert str(none) == "vpp1 → vpp2: 4 sent, none answered"
    assert none.summary().iloc[0, 2:].isna().all()
    assert len(none.table()) == 0


@pytest.mark.parametrize("ask", [lambda p: p.p50, lambda p: p.p99, lambda p: p.percentile(90)])
def test_a_percentile_of_nothing_is_refused_in_words(ask):
    with pytest.raises(LabError, match="vpp2 answered none of 4 pings from vpp1"):
        ask(ping(sent=4))


@pytest.mark.parametrize("q", [-1, 101])
def test_a_percentile_outside_the_hundred_is_refused(q):
    with pytest.raises(LabError, match="percentile"):
        ping(1.0).percentile(q)


def test_it_shows_as_a_page_too():
    assert "p99 (ms)" in ping(1.0)._repr_html_()
    assert "p99 (ms)" in ping(sent=1)._repr_html_()
