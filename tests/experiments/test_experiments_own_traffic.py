from __future__ import annotations

import pytest
from long_tests import not_in_docker

from labs import two_vpps
from labs.experiments.limits import compare
from labs.experiments.own_traffic import OwnTraffic
from labs.kernel import allowed_cores

pytestmark = pytest.mark.skipif(len(allowed_cores()) < 2, reason="this session may use one core only")


def test_all_that_we_send_and_get_the_node_has_counted_too(engine):
    not_in_docker(engine)
    lab = two_vpps("own-traffic", engine=engine)
    lab.start()
    try:
        lab["vpp2"].rx_mode("interrupt")
        before = set(lab["vpp1"].counters())
        with OwnTraffic(lab.folder, lab["vpp1"]) as own:
            straight = own.straight_in(0.3)
            assert straight["sent"] == straight["received"] > 0
            counted = own.through(5e4, 0.5)
            assert counted["sent"] == counted["in"] == counted["out"] > 0
            assert counted["came"] == counted["out"] - counted["refused"] > 0
            again = own.straight_in(0.1, size=1500)  # the route leads to a drop again
            assert again["sent"] == again["received"] > 0
        assert {name for name in lab["vpp1"].counters() if name.startswith("memif")} <= before
        assert "198.19" not in lab["vpp1"].cli("show ip fib")
    finally:
        lab.stop()


def test_limits_are_this_machine_s_and_parts_are_of_them():
    found = compare(1.0, None, 0.2)
    assert found["the lab's part of the packets"] == pytest.approx(1 / found["packets without a graph, Mpps"])
    assert found["the lab's part of the copying"] is None
    assert found["the mail's 29 Gbit/s as part of the copying"] == pytest.approx(
        29 / found["memory copied, Gbit/s"]
    )
