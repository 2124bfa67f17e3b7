from __future__ import annotations

import pytest

from labs.bench.badge import MARKS, Badge
from labs.quality import Quality, Reason


def reasons(count):
    return Quality(tuple(Reason(f"What {number}.", f"Effect {number}.") for number in range(count)))


@pytest.mark.parametrize(("count", "word"), [(0, "good"), (1, "fair"), (3, "poor")])
def test_it_says_the_badge_in_a_word_and_a_shape(count, word):
    badge = Badge()
    badge.show(reasons(count))
    assert (badge.widget.state["badge"], badge.widget.state["mark"]) == (word, MARKS[word])
    assert len(badge.widget.state["reasons"]) == count


def test_no_two_badges_have_one_shape():
    assert len(set(MARKS.values())) == len(MARKS) == 3


def test_without_a_reason_it_says_so():
    badge = Badge()
    badge.show(reasons(0))
    assert badge.widget.state["note"]


def test_before_anything_was_measured_it_claims_nothing():
    assert Badge().widget.state["badge"] == "not known yet"


def test_equal_content_is_not_sent_again(monkeypatch):
    badge = Badge()
    badge.show(reasons(2))
    sent = []
    monkeypatch.setattr(badge.widget, "send_state", lambda key=None: sent.append(key))
    badge.show(reasons(2))
    assert sent == []
