"""What knobs stand at, by what was seen: each rule with made-up nodes."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import pytest

from labs.bench import read_back
from labs.bench.load import Load
from labs.bench.seen import Seen, Stream, look_at, streams_in
from labs.bench.stream_lines import parts
from labs.errors import NodeDied
from labs.topology import NodeSpec

HEAD = "Name               Enabled        Count     Parameters"
VPPS = (
    f"{HEAD}\n"
    "other                Yes            12       limit 0, rate 1.00e6 pps, size 64-64, worker 0, \n"
    "bench-64             Yes         17599262    limit 0, rate 5.83e5 pps, size 64-64, worker 0, \n"
    "bench-590            No             0       limit 0, rate 0.00e0 pps, size 590-590, worker 0, \n"
    "                                            hdr-size 14, offset 0, \n"
)
GLASS = (
    f"{HEAD}\nbench               Yes          519700     limit 0, rate 1.00e6 pps, size 64-64, "
    "node memif0/0-output, interface pg0"
)

LINKS = {"vpp1": ["memif0/0"], "vpp2": ["memif0/0"]}


@pytest.fixture
def cores(monkeypatch):
    """Return a function that says which cores there are."""

    def there_are(*numbers):
        for place in ("labs.placement", "labs.bench.read_back"):
            monkeypatch.setattr(f"{place}.allowed_cores", lambda: numbers)
        monkeypatch.setattr("labs.placement.separate_cores", lambda count: numbers[:count])

    return there_are


def pair(one=(), two=(), **more):
    return {
        name: Seen(NodeSpec(name, workers=more.get("workers", 0)), tuple(cores), **more)
        for name, cores in (("vpp1", one), ("vpp2", two))
    }


@pytest.mark.parametrize(
    ("one", "two", "found"),
    [
        ((2,), (2,), "same"),
        ((2,), (5,), "apart"),
        ((2, 5, 6), (2, 5, 6), "free"),
        ((5,), (5,), "vpp1 core 5, vpp2 core 5"),
        ((5,), (2,), "vpp1 core 5, vpp2 core 2"),
        ((2, 5), (6,), "vpp1 cores 2,5, vpp2 core 6"),
    ],
)
def test_a_placement_is_known_by_its_cores(cores, one, two, found):
    cores(2, 5, 6)
    assert read_back.pinning(pair(one, two), None) == found


def test_on_one_core_it_is_the_placement_that_was_asked_for(cores):
    cores(3)
    assert read_back.pinning(pair((3,), (3,)), "free") == "free"
    assert read_back.pinning(pair((3,), (3,)), "same") == "same"
    assert read_back.pinning(pair((3,), (3,)), "apart") == "same"  # which it cannot be


def test_threads_of_workers_are_counted_in_a_placement(cores):
    cores(0, 1, 2, 3)
    assert read_back.pinning(pair((0, 1), (2, 3), workers=1), None) == "apart"
    assert read_back.pinning(pair((0,), (2, 3), workers=1), None) != "apart"


def test_a_probes_memif_has_no_say_in_the_mode_and_the_ring():
    seen = pair(
        modes={"memif0/0": "interrupt", "memif900/0": "polling"}, rings={"memif0/0": 64, "memif900/0": 1024}
    )
    assert read_back.rx_mode(seen, LINKS) == "interrupt"
    assert read_back.ring(seen, LINKS) == 64


def test_what_differs_is_told_end_by_end():
    seen = pair() | {"vpp2": Seen(NodeSpec("vpp2"), (), 2, {"memif0/0": "adaptive"}, {"memif0/0": 128})}
    seen["vpp1"] = Seen(NodeSpec("vpp1"), (), 0, {"memif0/0": "polling"}, {"memif0/0": 64})
    assert read_back.rx_mode(seen, LINKS) == "vpp1 memif0/0 polling, vpp2 memif0/0 adaptive"
    assert read_back.ring(seen, LINKS) == "vpp1 memif0/0 64, vpp2 memif0/0 128"
    assert read_back.workers(seen) == "vpp1 0, vpp2 2"


def test_the_clients_say_whether_they_lend_and_a_probes_memif_has_no_say():
    seen = pair()
    seen["vpp2"] = replace(seen["vpp2"], lends={"memif0/0": False, "memif900/0": True})
    assert read_back.memory(seen, LINKS) == "copied"
    seen["vpp1"] = replace(seen["vpp1"], lends={"memif0/0": True})
    assert read_back.memory(seen, LINKS) == "vpp1 memif0/0 lent, vpp2 memif0/0 copied"
    assert read_back.memory(pair(), LINKS) is None


def test_what_is_not_connected_has_neither_mode_nor_ring():
    assert read_back.rx_mode(pair(), LINKS) is None
    assert read_back.ring(pair(), LINKS) is None
    assert read_back.workers(pair()) == 0


def test_the_benchs_streams_are_read_on_either_engine_and_no_others():
    assert streams_in(VPPS) == (
        Stream("bench-64", 583000.0, 64),
        Stream("bench-590", 0.0, 590, enabled=False),
    )
    assert streams_in(GLASS) == (Stream("bench", 1e6, 64),)
    assert streams_in("no streams currently defined") == ()


def load(**wanted):
    made = Load(None)
    for name, value in wanted.items():
        setattr(made, name, value)
    return made


def shown(load, factor=1.0):
    """Return the streams of a load as VPP shows them: in three digits."""
    return tuple(
        Stream(part.name, float(f"{(load.rate or 0) * part.share * factor:.2e}"), part.size)
        for part in parts(load.size)
    )


@pytest.mark.parametrize("size", [64, 9000, "imix"])
@pytest.mark.parametrize("rate", [1.0, 123_456.0, 1_000_000.0, 14_880_952.0, None])
def test_a_load_is_read_back_as_it_was_asked_for(size, rate):
    wanted = load(size=size, rate=rate, running=True, flows=7)
    found = read_back.load(shown(wanted), wanted)
    assert found == {"size": size, "flows": 7, "rate": "flat out" if rate is None else rate / 1e6}


def test_a_load_that_somebody_else_changed_is_told_as_it_is():
    wanted = load(size=64, rate=1e6, running=True)
    assert read_back.load((Stream("bench", 2e6, 128),), wanted)["rate"] == 2.0
    assert read_back.load((Stream("bench", 2e6, 128),), wanted)["size"] == 128
    assert read_back.load((Stream("bench", 0.0, 64),), wanted)["rate"] == "flat out"
    assert read_back.load((Stream("bench", 1e6, 64, enabled=False),), wanted)["rate"] == 0.0
    assert read_back.load((), wanted)["rate"] == 0.0


def test_a_load_that_does_not_run_is_what_it_would_be():
    assert read_back.load((), load(size="imix", rate=None, flows=3)) == {
        "size": "imix",
        "rate": "flat out",
        "flows": 3,
    }


def test_a_node_that_has_ended_is_not_seen():
    def gone():
        raise NodeDied("vpp1 is not running.")

    assert look_at(SimpleNamespace(threads=gone)) is None
