"""The bench's knobs on real labs: what a turn does is read back from kernel, nodes and counters."""

from __future__ import annotations

import random
import time

import pytest

from labs import LabError
from labs.bench import limits
from labs.bench.conductor import Conductor
from labs.bench.knobs import Knobs
from labs.bench.load import Load, refused
from labs.errors import NodeDied
from labs.kernel import allowed_cores
from labs.stock import chain, one_vpp, two_vpps

CORES = allowed_cores()
two_cores = pytest.mark.skipif(len(CORES) < 2, reason="this session may use one core only")


@pytest.fixture(scope="module")
def running(engine):
    lab = two_vpps("turned", engine=engine)
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture
def knobs(running):
    """Return the knobs of a lab that is as it was at first, and leave it so."""
    made = Knobs(running)
    yield made
    for name, node in running.nodes.items():
        if not node.alive:
            made.restart(name)
    made.traffic(on=False)
    for name, value in made.at_start.items():
        made.turn(name, value)
    assert made.read_back() == made.at_start


@pytest.fixture
def fresh(engine):
    lab = two_vpps("killed", engine=engine)
    lab.start()
    yield lab
    lab.stop()


def arrived(lab):
    return lab["vpp2"].counters()["memif0/0"].rx_packets


def soon(is_so, seconds=20):
    """Wait for what has to come, however busy the machine is."""
    deadline = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def grows(count, least=1000):
    before = count()
    soon(lambda: count() - before > least)


def traffic_arrives(lab, least=100):
    grows(lambda: arrived(lab), least)


def at_rest(count):
    """Wait until a count stands still."""
    before = None
    while (now := count()) != before:
        before = now
        time.sleep(0.2)


def moved(lab, seconds=0.3):
    """Return what the link's two ends sent and received in a while: packets and bytes."""
    before = [node.counters()["memif0/0"] for node in lab.nodes.values()]
    time.sleep(seconds)
    after = [node.counters()["memif0/0"] for node in lab.nodes.values()]
    return (
        after[0].tx_packets - before[0].tx_packets,
        after[0].tx_bytes - before[0].tx_bytes,
        after[1].rx_packets - before[1].rx_packets,
        after[1].rx_bytes - before[1].rx_bytes,
    )


def test_knobs_stand_at_first_as_the_lab_was_started(knobs):
    assert knobs.at_start == {
        "pinning": "apart" if len(CORES) > 1 else "same",
        "rx_mode": "polling",
        "workers": 0,
        "size": 64,
        "rate": 1.0,
        "flows": 1,
        "ring": 1024,
        "memory": "lent",
        "interval": 10.0,
    }
    assert not any(knob.disabled for knob in knobs.all.values())


@two_cores
@pytest.mark.parametrize("state", ["same", "free", "apart"])
def test_pinning_is_the_kernels_word(running, knobs, state):
    lines = knobs.turn("pinning", state)
    assert knobs.read_back()["pinning"] == state
    assert any("taskset -cp" in line for line in lines)
    wanted = {"same": [CORES[:1]] * 2, "free": [CORES] * 2, "apart": [CORES[:1], CORES[1:2]]}
    assert [node.cores() for node in running.nodes.values()] == wanted[state]


@pytest.mark.parametrize("mode", ["interrupt", "adaptive", "polling"])
def test_the_rx_mode_is_vpps_word(running, knobs, mode):
    lines = knobs.turn("rx_mode", mode)
    assert lines == [
        f"{node.handle.shell} set interface rx-mode memif0/0 {mode}" for node in running.nodes.values()
    ]
    assert knobs.read_back()["rx_mode"] == mode
    assert {node.rx_modes()["memif0/0"] for node in running.nodes.values()} == {mode}


def test_a_mode_that_differs_between_ends_is_told_and_can_be_made_one_again(running, knobs):
    running["vpp1"].rx_mode("interrupt")
    assert knobs.read_back()["rx_mode"] == "vpp1 memif0/0 interrupt, vpp2 memif0/0 polling"
    knobs.turn("rx_mode", "polling")
    assert knobs.read_back()["rx_mode"] == "polling"


@pytest.mark.parametrize("ring", [64, 4096])
def test_a_ring_is_made_anew_and_keeps_mode_and_traffic(running, knobs, ring):
    knobs.turn("rx_mode", "interrupt")
    knobs.turn("rate", 0.01)
    knobs.traffic(on=True)
    lines = knobs.turn("ring", ring)
    assert f" ring-size {ring}" in " ".join(lines)
    found = knobs.read_back()
    assert (found["ring"], found["rx_mode"], found["rate"]) == (ring, "interrupt", 0.01)
    traffic_arrives(running)
    assert running.ping("vpp2", "vpp1", count=3, interval=0.1).received > 0


def test_packets_are_copied_or_lent_and_all_else_stays(running, knobs):
    knobs.turn("ring", 256)
    knobs.turn("rate", 0.01)
    knobs.traffic(on=True)
    for memory in ("copied", "lent"):
        lines = knobs.turn("memory", memory)
        assert ("no-zero-copy" in " ".join(lines)) == (memory == "copied")
        found = knobs.read_back()
        assert (found["memory"], found["ring"], found["rate"]) == (memory, 256, 0.01)
        traffic_arrives(running)
    knobs.turn("ring", 1024)


def test_a_ring_that_is_so_already_is_not_made_anew(knobs):
    assert knobs.turn("ring", 1024) == []
    assert knobs.turn("memory", "lent") == []
    assert knobs.turn("workers", 0) == []


@pytest.mark.parametrize("size", [64, 1500, 4096, 9000, "imix"])
def test_frames_are_as_large_as_asked_for_and_arrive(running, knobs, size):
    knobs.turn("rate", 0.02)
    knobs.turn("size", size)
    knobs.traffic(on=True)
    assert knobs.read_back()["size"] == size
    knobs.traffic(on=False)
    at_rest(lambda: arrived(running))
    before = [node.counters()["memif0/0"] for node in running.nodes.values()]
    lost = refused(running["vpp1"], "memif0/0")
    knobs.traffic(on=True)
    traffic_arrives(running, 1000)
    knobs.traffic(on=False)
    at_rest(lambda: arrived(running))
    after = [node.counters()["memif0/0"] for node in running.nodes.values()]
    sent = after[0].tx_packets - before[0].tx_packets
    received = after[1].rx_packets - before[1].rx_packets
    assert sent == received + refused(running["vpp1"], "memif0/0") - lost
    mean = (after[1].rx_bytes - before[1].rx_bytes) / received
    assert 64 < mean < 1514 if size == "imix" else mean == size  # the mix itself has a test of its own
    assert after[1].drops - before[1].drops == received  # nothing is answered


def test_the_imix_keeps_its_mix_when_it_is_sent_flat_out(running, knobs):
    knobs.turn("size", "imix")
    knobs.turn("rate", "flat out")
    knobs.traffic(on=True)
    assert knobs.read_back()["rate"] == "flat out"
    sent, volume, _, _ = moved(running)
    assert volume / sent == pytest.approx((7 * 64 + 4 * 590 + 1514) / 12, rel=0.02)


def test_a_rate_changes_without_a_new_stream(running, knobs):
    knobs.traffic(on=True)
    lines = knobs.turn("rate", 0.05)
    assert lines == [f"{running['vpp1'].handle.shell} packet-generator configure bench rate 50000"]
    assert moved(running, 0.5)[0] < 60_000
    traffic_arrives(running)
    assert knobs.read_back()["rate"] == 0.05


def test_a_rate_of_nothing_sends_nothing_and_does_not_mean_flat_out(running, knobs):
    knobs.traffic(on=True)
    knobs.turn("rate", 0)
    time.sleep(0.1)
    assert moved(running)[0] < 20  # neighbours may still talk
    assert knobs.read_back()["rate"] == 0
    assert knobs.load.running
    knobs.turn("rate", 0.1)
    traffic_arrives(running)


@pytest.mark.parametrize("flows", [2, 1000])
def test_flows_take_turns(running, knobs, flows):
    knobs.turn("rate", 0.1)
    knobs.turn("flows", flows)
    knobs.traffic(on=True)
    running["vpp2"].cli("trace add memif-input 50")
    time.sleep(0.2)
    shown = running["vpp2"].cli("show trace max 50")
    running["vpp2"].cli("clear trace")
    ports = {int(line.split()[1]) for line in shown.splitlines() if line.strip().endswith("-> 9")}
    assert len(ports) == min(flows, 50)
    assert ports <= set(range(5000, 5000 + flows))
    assert knobs.read_back()["flows"] == flows


def test_what_is_set_before_the_start_is_what_is_sent(running, knobs):
    knobs.turn("size", 512)
    knobs.turn("rate", 0.03)
    assert moved(running)[0] < 20
    lines = knobs.traffic(on=True)
    assert "size 512-512 rate 30000 " in lines[-2]
    assert lines[-1].endswith("packet-generator enable-stream bench")
    traffic_arrives(running)
    sent, volume, _, _ = moved(running)
    assert volume == sent * 512


def test_starting_twice_sends_once(running, knobs):
    knobs.turn("rate", 0.05)
    knobs.traffic(on=True)
    knobs.traffic(on=True)
    assert moved(running, 0.5)[0] < 60_000
    knobs.traffic(on=False)
    knobs.traffic(on=False)
    time.sleep(0.05)
    assert moved(running)[0] < 20
    assert "bench" not in running["vpp1"].cli("show packet-generator")


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("nothing", 1, "There is no knob 'nothing'"),
        ("size", 65, "frame size cannot be 65"),
        ("size", "64", "frame size cannot be '64'"),
        ("rate", -1, "offered rate cannot be -1"),
        ("rate", float("nan"), "offered rate cannot be nan"),
        ("rate", "fast", "it takes flat out, 0 to 30 Mpps"),
        ("flows", 0, "flows cannot be 0: it takes 1 to 1000"),
        ("flows", 1.5, "flows cannot be 1.5"),
        ("ring", 1000, "ring size cannot be 1000"),
        ("rx_mode", "sleepy", "rx-mode cannot be 'sleepy': it takes polling, interrupt, adaptive"),
        ("pinning", "loose", "pinning cannot be 'loose'"),
        ("workers", -1, "workers cannot be -1"),
        ("interval", 0, "probe interval cannot be 0"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_changes(knobs, name, value, words):
    before = knobs.read_back()
    with pytest.raises(LabError) as refusal:
        knobs.turn(name, value)
    assert words in refusal.value.message
    assert knobs.read_back() == before


def test_what_this_machine_cannot_do_says_why_beforehand(running, knobs, monkeypatch):
    for place in ("labs.placement", "labs.bench.limits"):
        monkeypatch.setattr(f"{place}.allowed_cores", lambda: CORES[:1])
    monkeypatch.setattr("labs.placement.separate_cores", lambda count: CORES[:1][:count])
    knobs.refresh()
    off = {choice.value: choice.disabled for choice in knobs.all["pinning"].choices}
    assert off["apart"].startswith("A core each needs 2 cores, and this session may use 1")
    assert off["same"] == off["free"] == ""
    workers = {choice.value: choice.disabled for choice in knobs.all["workers"].choices}
    assert workers[0] == ""
    assert workers[1] == (
        "With 1 worker in each of 2 nodes a core for each thread needs 4 cores, and this session may use 1 "
        f"({CORES[0]})."
    )
    with pytest.raises(LabError, match="A core each needs 2 cores"):
        knobs.turn("pinning", "apart")


def test_rings_that_would_take_all_buffers_are_off_where_there_are_such(running, knobs, engine):
    off = [choice.value for choice in knobs.all["ring"].choices if choice.disabled]
    assert off == ([] if engine == "glassbox" else [8192, 16384])


@two_cores
def test_workers_come_and_go_and_all_else_stays(running, knobs, monkeypatch):
    monkeypatch.setattr(limits, "_workers", lambda *_: "")  # a core each is not needed to show this
    knobs.turn("pinning", "free")
    knobs.turn("rx_mode", "interrupt")
    knobs.turn("ring", 256)
    knobs.turn("rate", 0.01)
    knobs.traffic(on=True)
    kept = {"pinning": "free", "rx_mode": "interrupt", "ring": 256, "rate": 0.01}
    for count in (1, 0):
        knobs.turn("workers", count)
        found = knobs.read_back()
        assert found["workers"] == count
        assert kept.items() <= found.items()
        traffic_arrives(running)


# A node that ends


@pytest.mark.parametrize("victim", ["vpp1", "vpp2"])
def test_a_node_that_ended_is_a_sentence_and_comes_back_as_it_was(fresh, victim):
    knobs = Knobs(fresh)
    wanted = {"pinning": "same", "rx_mode": "interrupt", "ring": 128, "size": 256, "rate": 0.01, "flows": 9}
    for name, value in wanted.items():
        knobs.turn(name, value)
    knobs.traffic(on=True)
    heard = []
    conductor = Conductor(knobs, heard.append)
    fresh[victim].kill()
    for name, value in (("rx_mode", "polling"), ("ring", 64), ("size", 64), ("pinning", "free")):
        conductor.turn(name, value)
    conductor.wait(20)
    assert [each.error for each in heard] == [f"{victim} is not running: restart it first."] * 4
    assert heard[-1].state["pinning"] is None
    assert knobs.all["ring"].disabled == f"{victim} is not running: restart it first."
    conductor.restart(victim)
    conductor.wait(30)
    conductor.close()
    assert heard[-1].error == ""
    assert wanted.items() <= heard[-1].state.items()
    traffic_arrives(fresh)
    assert not any(knob.disabled for knob in knobs.all.values())


def test_both_nodes_may_end_and_come_back_one_by_one(fresh):
    knobs = Knobs(fresh)
    knobs.turn("rx_mode", "adaptive")
    knobs.turn("rate", 0.01)
    knobs.traffic(on=True)
    for node in fresh.nodes.values():
        node.kill()
    knobs.read_back()
    assert knobs.all["size"].disabled == "vpp1 and vpp2 are not running: restart them first."
    knobs.restart("vpp2")
    assert knobs.read_back()["rx_mode"] is None
    knobs.restart("vpp1")
    found = knobs.read_back()
    assert (found["rx_mode"], found["rate"]) == ("adaptive", 0.01)
    traffic_arrives(fresh)


def test_a_node_that_ends_while_links_are_made_anew_leaves_a_lab_that_can_be_mended(fresh, monkeypatch):
    knobs = Knobs(fresh)
    real = fresh._wait_own_links

    def dies():
        fresh["vpp2"].kill()
        real()

    monkeypatch.setattr(fresh, "_wait_own_links", dies)
    with pytest.raises(NodeDied):
        knobs.turn("ring", 512)
    monkeypatch.undo()
    time.sleep(0.2)
    # VPP 26.06's server may die, too, when its client leaves in the midst of a handshake
    ended = [name for name, node in fresh.nodes.items() if not node.alive]
    assert "vpp2" in ended
    for name in ended:
        knobs.restart(name)
    assert knobs.read_back()["ring"] == 512


def test_an_end_that_is_missing_is_made_again_at_a_restart(fresh):
    knobs = Knobs(fresh)
    fresh["vpp1"].cli("delete interface memif memif0/0")
    fresh["vpp2"].kill()
    knobs.restart("vpp2")
    assert knobs.read_back() == knobs.at_start


def test_a_lab_that_was_stopped_is_a_sentence(fresh):
    heard = []
    conductor = Conductor(Knobs(fresh), heard.append)
    fresh.stop()
    conductor.turn("size", 128)
    conductor.traffic(on=True)
    conductor.restart("vpp1")
    conductor.wait(10)
    conductor.close()
    assert [each.error for each in heard] == ["The lab 'killed' is not started."] * 3
    assert {each.hint for each in heard} == {"run lab.start() first."}


# Other labs


@pytest.mark.engine("glassbox")
def test_a_lab_of_one_node_has_no_traffic_and_says_so():
    lab = one_vpp("lonely", engine="glassbox")
    lab.start()
    try:
        knobs = Knobs(lab)
        for name in ("size", "rate", "flows"):
            assert knobs.all[name].disabled == "This lab has one node, and traffic needs a link between two."
        assert "No memif is connected" in knobs.all["rx_mode"].disabled
        assert "no link of its own" in knobs.all["ring"].disabled
        assert knobs.turn("pinning", "free")
        with pytest.raises(LabError, match="this lab has one node"):
            knobs.traffic(on=True)
        assert not knobs.load.running
    finally:
        lab.stop()


@pytest.mark.engine("glassbox")
def test_packets_pass_through_the_nodes_between_and_come_back_after_each_restart():
    lab = chain(3, "passed-on", engine="glassbox")
    lab.start()

    def ended():
        return lab["vpp3"].counters()["memif1/0"].drops

    try:
        knobs = Knobs(lab)
        knobs.turn("rx_mode", "interrupt")
        knobs.turn("rate", 0.01)
        knobs.traffic(on=True)
        for victim in ("vpp2", "vpp3", "vpp1"):
            lab[victim].kill()
            knobs.restart(victim)
            assert knobs.read_back()["rx_mode"] == "interrupt"
            grows(ended)
        knobs.turn("ring", 64)
        grows(ended)
    finally:
        lab.stop()


@pytest.mark.engine("glassbox")
def test_links_made_by_hand_carry_traffic_and_have_no_ring_knob():
    lab = two_vpps("by-hand", links=False, engine="glassbox")
    lab.start()
    try:
        load = Load(lab)
        with pytest.raises(LabError, match="no way from vpp1 to vpp2"):
            load.start()
        for node, role, address in (("vpp1", "master", "10.9.0.1/24"), ("vpp2", "slave", "10.9.0.2/24")):
            lab[node].cli(
                f"create interface memif id 7 {role}\nset interface state memif0/7 up\n"
                f"set interface ip address memif0/7 {address}"
            )
        lab.wait_link()
        knobs = Knobs(lab)
        knobs.turn("rx_mode", "interrupt")
        knobs.turn("rate", 0.01)
        knobs.traffic(on=True)
        assert knobs.read_back()["rx_mode"] == "interrupt"
        assert "by hand" in knobs.all["ring"].disabled
        soon(lambda: lab["vpp2"].counters()["memif0/7"].rx_packets > 100)
    finally:
        lab.stop()


# The property


VALUES = {
    "pinning": ["same", "apart", "free"] if len(CORES) > 1 else ["same", "free"],
    "rx_mode": ["polling", "interrupt", "adaptive"],
    "size": [64, 128, 1500, 9000, "imix"],
    "rate": [0, 0.01, 0.123456, 1, "flat out"],
    "flows": [1, 2, 77, 1000],
    "ring": [64, 256, 1024, 4096],
    "memory": ["lent", "copied"],
    "interval": [1, 2.5, 100],
    "workers": [0, 1, 99],  # the last two are refused, here or everywhere
    "nothing": [1],
}


@pytest.mark.engine("glassbox")
@pytest.mark.parametrize("seed", range(3))
def test_200_turns_faster_than_they_complete_end_where_the_last_accepted_ones_say(seed):
    chance = random.Random(seed)  # noqa: S311 - no secret is made of it
    lab = two_vpps(f"dizzy{seed}", engine="glassbox")
    lab.start()
    try:
        knobs = Knobs(lab)
        wanted = dict(knobs.at_start)
        heard = []

        def listener(turned):
            heard.append(turned)
            if not turned.error and turned.name in wanted:
                wanted[turned.name] = turned.value

        conductor = Conductor(knobs, listener)
        for _ in range(200):
            match chance.randrange(20):
                case 0:
                    conductor.traffic(chance.random() < 0.8)
                case 1:
                    conductor.look()
                case _:
                    name = chance.choice(list(VALUES))
                    conductor.turn(name, chance.choice(VALUES[name]))
            time.sleep(chance.choice([0, 0, 0.001, 0.02]))
        assert conductor.wait(60)
        conductor.close()
        assert knobs.read_back() == wanted
        assert heard[-1].state == wanted
        assert {name: knob.wanted for name, knob in knobs.all.items()} == wanted
        assert [each.error for each in heard if each.error and each.name in ("traffic", "look")] == []
        refusals = {each.name for each in heard if each.error}
        assert refusals <= {"workers", "nothing"}
        assert all(node.alive for node in lab.nodes.values())
    finally:
        lab.stop()
