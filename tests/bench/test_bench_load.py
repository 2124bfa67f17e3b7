"""The load with nodes that are no VPPs: which lines it says, and what it makes of refusals."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.bench.load import SIZES, Load, refused
from labs.errors import CliError, LabError
from labs.node import Node


class FakeNode:
    """A node with one memif and a packet generator that refuses as VPP's does."""

    def __init__(self, name, address, pid=1):
        self.name = name
        self.handle = SimpleNamespace(shell=f"vppctl {name}", pid=pid)  # noqa: S604 - a word, no shell
        self.api = SimpleNamespace(
            sw_interface_dump=lambda: [SimpleNamespace(interface_name="memif0/0", l2_address=f"mac-{name}")]
        )
        self.streams = {}
        self.routes = []
        self.said = []
        self.refuses = ""
        self.addresses = lambda: {"memif0/0": [address]}

    say, in_shell = Node.say, Node.in_shell

    def cli(self, text, _timeout=None):
        return "\n".join(self.answer(line) for line in text.splitlines())

    def answer(self, line):
        self.said.append(line)
        words = line.split()
        if self.refuses and self.refuses in line:
            raise CliError("VPP refused this line.")
        match words[:2]:
            case ["ip", "route"]:
                self.routes.append(words[3])
            case ["show", "packet-generator"]:
                return "\n".join(
                    f"{name} {'Yes' if on else 'No'} 0 limit 0, rate {rate} pps, size {size}-{size}, "
                    for name, (on, rate, size) in self.streams.items()
                )
            case ["packet-generator", "new"]:
                size = words[words.index("size") + 1].split("-")[0]
                self.streams[words[words.index("name") + 1]] = [False, words[words.index("rate") + 1], size]
            case ["packet-generator", verb]:
                if words[2] not in self.streams:
                    raise CliError(f"unknown input `{words[2]}'")
                if verb == "delete":
                    del self.streams[words[2]]
                elif verb == "configure":
                    self.streams[words[2]][1] = words[4]
                else:
                    self.streams[words[2]][0] = verb == "enable-stream"
        return ""

    def sent(self):
        """Return what is sent: size and rate of each stream."""
        return sorted((int(size), int(rate)) for on, rate, size in self.streams.values() if on)


@pytest.fixture
def lab():
    return make_lab()


def make_lab():
    return SimpleNamespace(
        nodes={"vpp1": FakeNode("vpp1", "10.10.2.1/24", 11), "vpp2": FakeNode("vpp2", "10.10.2.2/24", 12)}
    )


@pytest.fixture
def load(lab):
    return Load(lab)


def test_lines_are_returned_as_a_shell_takes_them(lab, load):
    lines = load.start()
    assert lines[0] == "vppctl vpp2 ip route add 198.18.0.0/15 via drop"
    assert lines[1].startswith(
        "vppctl vpp1 packet-generator new { name bench size 64-64 rate 1000000 node memif0/0 "
    )
    assert "IP4: mac-vpp1 -> mac-vpp2 UDP: 10.10.2.1 -> 198.18.0.1 UDP: 5000 -> 9 " in lines[1]
    assert lines[2:] == ["vppctl vpp1 packet-generator enable-stream bench"]
    assert load.stop() == [
        "vppctl vpp1 packet-generator disable-stream bench",
        "vppctl vpp1 packet-generator delete bench",
    ]
    assert load.stop() == []


def test_backwards_the_last_node_sends_and_the_first_drops(lab):
    load = Load(lab, backwards=True)
    load.start()
    assert lab.nodes["vpp1"].routes == ["198.18.0.0/15"]
    assert lab.nodes["vpp1"].streams == {}
    assert lab.nodes["vpp2"].sent() == [(64, 1000000)]
    assert any("10.10.2.2 -> 198.18.0.1" in line for line in lab.nodes["vpp2"].said)
    load.stop()
    assert lab.nodes["vpp1"].said[-1] == "ip route del 198.18.0.0/15 via drop"


@pytest.mark.parametrize("end", ["stop", "suspend"])
def test_routed_packets_have_no_ethernet_header_and_leave_no_route_behind(lab, end):
    load = Load(lab, routed=True)
    load.start()
    (stream,) = [line for line in lab.nodes["vpp1"].said if "new" in line]
    assert "node ip4-lookup" in stream
    assert "size 50-50" in stream  # 64 bytes less the Ethernet header
    assert "IP4:" not in stream
    assert "length 30" in stream
    getattr(load, end)()
    for name, way in (("vpp1", "via 10.10.2.2 memif0/0"), ("vpp2", "via drop")):
        said = [line for line in lab.nodes[name].said if "ip route" in line]
        assert said == [f"ip route {verb} 198.18.0.0/15 {way}" for verb in ("add", "del")]
    assert load.resume() == [] if end == "stop" else load.resume()


def test_routes_are_said_once_for_a_node_and_again_for_its_successor(lab, load):
    load.start()
    load.set(size=128)
    load.set(size="imix")
    assert len(lab.nodes["vpp2"].routes) == 1
    lab.nodes["vpp2"] = FakeNode("vpp2", "10.10.2.2/24", 13)
    load.set(size=64)
    assert lab.nodes["vpp2"].routes == ["198.18.0.0/15"]


def test_a_stream_is_disabled_before_it_is_deleted_and_made_anew(lab, load):
    """VPP has crashed on the deletion of a stream that was being sent (VPP-567)."""
    load.start()
    lab.nodes["vpp1"].said.clear()
    load.set(size=512)
    verbs = [line.split()[1] for line in lab.nodes["vpp1"].said]
    assert verbs == ["disable-stream", "delete", "new", "enable-stream"]


def test_streams_that_another_bench_left_are_taken_away(lab, load):
    load.set(size="imix")
    load.start()
    other = Load(lab)
    other.start()
    assert list(lab.nodes["vpp1"].streams) == ["bench"]


def test_streams_that_are_gone_are_made_again_when_the_rate_changes(lab, load):
    load.start()
    lab.nodes["vpp1"].streams.clear()
    load.set(rate=5000)
    assert lab.nodes["vpp1"].sent() == [(64, 5000)]


@pytest.mark.parametrize(
    "change", [{"size": 128}, {"flows": 5}, {"rate": 7.0}, {"rate": None}, {"size": "imix", "rate": 0.5}]
)
def test_a_change_that_a_node_refuses_is_taken_back(lab, load, change):
    load.start()
    lab.nodes["vpp1"].refuses = "rate" if "rate" in change else "new"
    with pytest.raises(CliError):
        load.set(**change)
    assert (load.size, load.rate, load.flows, load.running) == (64, 1e6, 1, True)


@pytest.mark.parametrize(
    "change",
    [
        {"size": 63},
        {"size": 9001},
        {"size": True},
        {"size": 64.0},
        {"size": "big"},
        {"flows": 0},
        {"flows": 1001},
        {"flows": 2.0},
        {"flows": True},
        {"rate": -1},
        {"rate": float("nan")},
        {"rate": float("inf")},
        {"rate": "fast"},
        {"size": 128, "flows": 0},
        {"rate": 5, "flows": 0},
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(lab, load, change):
    load.start()
    said = len(lab.nodes["vpp1"].said)
    with pytest.raises(LabError, match=r"cannot|is no rate"):
        load.set(**change)
    assert (load.size, load.rate, load.flows) == (64, 1e6, 1)
    assert len(lab.nodes["vpp1"].said) == said


def test_a_start_that_fails_is_no_start(lab, load):
    lab.nodes["vpp1"].refuses = "new"
    with pytest.raises(CliError):
        load.start()
    assert not load.running
    lab.nodes["vpp1"].refuses = ""
    load.start()
    assert lab.nodes["vpp1"].sent() == [(64, 1000000)]


def test_a_suspended_load_comes_back_and_a_stopped_one_does_not(lab, load):
    load.start()
    load.suspend()
    assert lab.nodes["vpp1"].streams == {}
    load.set(rate=9000)
    load.suspend()
    load.resume()
    assert lab.nodes["vpp1"].sent() == [(64, 9000)]
    load.stop()
    assert load.resume() == []


def test_refused_packets_are_those_without_a_slot_on_either_engine():
    def node(**errors):
        return SimpleNamespace(stats=SimpleNamespace(error=lambda name: errors.get(name, 0)))

    vpp = {
        "/err/memif0/0-tx/no_free_slots": 5,
        "/err/memif0/0-tx/rollback": 3,
        "/err/memif1/0-tx/no_free_slots": 9,
    }
    assert refused(node(**vpp), "memif0/0") == 5
    assert refused(node(**{"/err/memif-tx/no free tx slots": 7}), "memif0/0") == 7
    assert refused(node(), "memif0/0") == 0


steps = st.one_of(
    st.sampled_from([("start",), ("stop",), ("suspend",), ("resume",)]),
    st.tuples(st.just("size"), st.sampled_from(SIZES)),
    st.tuples(st.just("rate"), st.sampled_from([0, 1200, 12_000_000, None])),
    st.tuples(st.just("flows"), st.integers(1, 1000)),
)
IMIX_SIZES = (64, 590, 1514)


@given(st.lists(steps, max_size=30))
@settings(deadline=None)
def test_what_is_sent_is_always_what_is_wanted(sequence):
    lab = make_lab()
    load = Load(lab)
    for name, *value in sequence:
        if value:
            load.set(**{name: value[0]})
        else:
            getattr(load, name)()
    load.resume()
    sent = lab.nodes["vpp1"].sent()
    if not load.running or load.rate == 0:
        assert sent == []
    elif load.size == "imix":
        rates = [0, 0, 0] if load.rate is None else [round(load.rate * part / 12) for part in (7, 4, 1)]
        assert sent == list(zip(IMIX_SIZES, rates, strict=True))
    else:
        assert sent == [(load.size, int(load.rate or 0))]
