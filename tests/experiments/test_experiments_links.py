from __future__ import annotations

from types import SimpleNamespace

import pytest
from long_tests import not_in_docker

from labs.errors import LabError, NotAvailable
from labs.experiments import kernel_link, links_beds, testpmd
from labs.experiments import links as experiment
from labs.experiments.links import all_settings, links, not_here
from labs.experiments.links_beds import End, Setting
from labs.experiments.links_kinds import KINDS, away, interface_of, refusal
from labs.experiments.links_seen import capabilities
from labs.experiments.links_summary import answer, figures, judge
from labs.experiments.links_table import in_a_table
from labs.kernel import allowed_cores
from labs.stock import one_with_vhost

RATES = {"memif": 19e6, "memif-zc": 21e6, "vhost": 11e6, "veth": 3e5, "tap": 8e5}
LENT = {"memif": 4 << 20, "memif-zc": 512 << 20, "vhost": 512 << 20, "veth": 0, "tap": 0}
NO_RIGHT, SOME_RIGHT = "0000000000000000", "00000000a80425fb"


def a_lab(*plugins, engine="process"):
    node = SimpleNamespace(name="vpp1", spec=SimpleNamespace(plugins=plugins))
    return SimpleNamespace(nodes={"vpp1": node}, engine=engine)


VPP = a_lab("memif", "ping", "vhost")


def window(setting, scale=1.0, **changes):
    rate = scale * RATES[setting.kind] * (64 / setting.size) ** 0.5
    memory = {"name": "/memfd", "size": LENT[setting.kind], "a_writes": True, "b_writes": True}
    receiver = "vpp1" if setting.receiver == "node" else "receiver"
    ran = {"vpp1": 0.001, receiver: 0.9, "sender": 0.95}
    return {
        **vars(setting),
        "setting": str(setting),
        "sent": rate,
        "received": rate,
        "gbit_per_s": 8 * setting.size * rate / 1e9,
        "lent": [memory] if memory["size"] else [],
        "seen_back": 0,
        "rings": [1024, 1024] if setting.kind.startswith("memif") else [],
        "ping_us": 12.0 if setting.receiver == "node" else None,
        "capabilities": [SOME_RIGHT if setting.kind in {"veth", "tap"} else NO_RIGHT] * 2,
        "scheduler": [{"node": name, "running": part} for name, part in ran.items()],
        "others": 0.0,
        **changes,
    }


def windows(change=lambda _: {}, lab=VPP):
    return [window(each, scale, **change(each)) for scale in (1.0, 1.01) for each in all_settings(lab)]


def judged(change=lambda _: {}):
    return judge(windows(change), all_settings(VPP))


@pytest.fixture(autouse=True)
def a_kernel_that_gives_links(monkeypatch):
    """The kernel's link is tested in a module of its own."""
    monkeypatch.setattr(kernel_link, "missing", lambda _: "")


def test_every_kind_is_compared_and_the_glass_box_is_left_what_it_can(monkeypatch):
    assert {each.link for each in all_settings(VPP)} == {
        (who, kind) for who in ("testpmd", "node") for kind in KINDS if who == "testpmd" or KINDS[kind].make
    }
    lab = a_lab("memif", "ping", engine="glassbox")
    glass = all_settings(lab)
    assert Setting("testpmd", "vhost", 64) in glass
    assert {each.kind for each in glass if each.receiver == "node"} == {"memif"}
    assert "not sealed" in refusal("memif-zc", lab, lab.nodes["vpp1"])
    assert refusal("vhost", lab, lab.nodes["vpp1"]) == "vpp1 has no vhost-user."
    assert "CAP_NET_ADMIN" in refusal("veth", VPP, VPP.nodes["vpp1"])
    assert len(not_here(VPP)) == 1
    monkeypatch.setattr(kernel_link, "missing", lambda _: "The kernel gives us no link of its own: no.")
    assert all(each.kind not in {"veth", "tap"} for each in all_settings(VPP))
    assert not_here(VPP)[-1].startswith("The kernel gives us no link")


def test_settings_of_one_link_stand_side_by_side():
    found = [each.link for each in all_settings(VPP)]
    assert found == sorted(found, key=list(dict.fromkeys(found)).index)


def test_figures_as_measured_by_hand_pass_every_verdict():
    verdicts = judged()
    assert len(verdicts) == 7
    assert all(verdict.passed for verdict in verdicts), [str(each) for each in verdicts]


@pytest.mark.parametrize(
    ("change", "number"),
    [
        (lambda each: {"gbit_per_s": 1.0} if each.kind == "vhost" and each.size == 1500 else {}, 0),
        (
            lambda each: (
                {"lent": [{"name": "", "size": 65 << 20, "a_writes": True, "b_writes": True}]}
                if each.kind == "memif"
                else {}
            ),
            1,
        ),
        (
            lambda each: (
                {"lent": [{"name": "", "size": 512 << 20, "a_writes": True, "b_writes": False}]}
                if each.kind == "vhost"
                else {}
            ),
            3,
        ),
        (lambda each: {"seen_back": 1} if each.kind == "vhost" else {}, 4),
        (lambda each: {"capabilities": [NO_RIGHT, SOME_RIGHT]} if each.kind == "memif-zc" else {}, 5),
        (lambda each: {"rings": [1024, 256]} if each.kind == "vhost" else {}, 6),
        (lambda _: {"rings": []}, 6),
    ],
)
def test_a_relation_that_does_not_hold_fails_alone(change, number):
    failed = {index for index, verdict in enumerate(judged(change)) if not verdict.passed}
    assert failed == ({number, 2} if number == 1 else {number})  # a memif that copies is in two of them


def test_the_readers_question_is_answered_in_words():
    told = answer(windows(), all_settings(VPP))
    assert len(told) == 4
    assert all("fewer packets in every pass (0.58 to 0.58 times as many)" in each for each in told)
    alike = answer(windows(lambda _: {"received": 1e6}), all_settings(VPP))
    assert all("no difference that stands in every pass (1.00 to 1.00" in each for each in alike)


def test_a_pace_that_falls_on_both_links_alike_hides_no_difference():
    a, b = Setting("node", "memif", 64), Setting("node", "vhost", 64)
    some = [window(each, pace) for pace in (1.0, 0.4) for each in (a, b)]
    assert "fewer packets in every pass" in answer(some, [a, b])[0]
    some[-1]["received"] = 2 * some[-2]["received"]
    assert "no difference that stands in every pass (0.58 to 2.00" in answer(some, [a, b])[0]
    assert "fewer packets" in answer(some[:3], [a, b])[0]  # cut short in the second pass
    assert answer([], [a, b]) == []


def test_memory_is_told_in_mebibytes():
    assert figures(windows(), Setting("node", "memif", 64))["lent_mib"].median == 4.0


def test_the_processors_time_is_that_of_who_took_part():
    to_node, beside_it = Setting("node", "memif", 64), Setting("testpmd", "memif", 64)
    for each, receiver in ((to_node, 0.9), (beside_it, 0.9)):
        found = figures([window(each)], each)
        assert found["sender_ns"].median == pytest.approx(0.95e9 / 19e6)
        assert found["receiver_ns"].median == pytest.approx(receiver * 1e9 / 19e6)
    silent = window(to_node, scheduler=[{"node": "sender", "running": None}])
    assert figures([silent], to_node)["sender_ns"].median is None


def test_the_table_has_a_column_for_each_link_and_says_what_is_not_here():
    table = in_a_table(windows(), all_settings(VPP))
    assert list(table) == [each.words for each in KINDS.values()]
    assert len({tuple(column) for column in table.values()}) == 1  # the same rows
    veth, vhost = table["the kernel's veth"], table["vhost-user"]
    assert veth["ping from the node: µs"] == "not here"
    assert veth["privileges"].startswith("CAP_NET_ADMIN")
    assert vhost["privileges"] == "none"
    assert (vhost["the receiver may write there"], veth["the receiver may write there"]) == ("yes", "no")
    assert vhost["MiB of the sender's that the receiver maps"] == "512"


@pytest.mark.parametrize("kind", [kind for kind, each in KINDS.items() if each.make])
def test_what_is_made_is_unmade_the_interface_first(kind):
    assert "/run/x.sock" in KINDS[kind].make("/run/x.sock")[0]
    interface = interface_of(kind, "VirtualEthernet0/0/3\n")
    assert interface == ("VirtualEthernet0/0/3" if kind == "vhost" else "memif250/0")
    lines = away(kind, interface)
    assert interface in lines[1]
    assert "198.18.0.2/32" in lines[0]  # the bench's route is wider, and not ours to take


def test_a_peer_that_never_sends_is_a_sentence(monkeypatch):
    monkeypatch.setattr(links_beds, "_CONNECTS_WITHIN", 0.2)
    silent = End(1, lambda: 7)
    with pytest.raises(LabError, match="Nothing came over vhost-user within") as told:
        links_beds._wait_for_packets(silent, Setting("node", "vhost", 64))
    assert "show vhost-user" in told.value.hint
    counts = iter(range(9))
    links_beds._wait_for_packets(End(1, lambda: next(counts)), Setting("node", "vhost", 64))


def test_without_testpmd_it_says_what_to_install(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotAvailable, match="testpmd is not here") as told:
        links(a_lab())
    assert "apt-get install" in told.value.hint


@pytest.mark.skipif(bool(testpmd.missing()), reason="testpmd is not here")
@pytest.mark.skipif(len(allowed_cores()) < 2, reason="this session may use one core only")
def test_links_are_compared_and_nothing_of_them_is_left(engine, monkeypatch, tmp_path):
    not_in_docker(engine)
    monkeypatch.setenv("LABS_PROFILE", "ci")
    monkeypatch.setenv("LABS_RUNS", str(tmp_path))
    monkeypatch.setattr(experiment, "_SHORTEST", 0.3)
    monkeypatch.setattr(  # the kinds of a node; between two testpmd's no engine takes part
        experiment, "all_settings", lambda lab: [each for each in all_settings(lab) if each.size == 64]
    )
    lab = one_with_vhost("compare", engine=engine)
    lab.start()
    try:
        before = lab["vpp1"].cli("show interface")
        run = links(lab, 0.3, 1)
        left = lab["vpp1"].cli("show interface")
        assert before.split() == left.split()
        assert int(capabilities(lab["vpp1"].handle.pid), 16) == 0
        assert "198.18.0.2" not in lab["vpp1"].cli("show ip fib 198.18.0.2/32").splitlines()[-1]
    finally:
        lab.stop()
    assert all(each["received"] > 0 for each in run.windows)
    assert all(each["ping_us"] for each in run.windows if each["receiver"] == "node")
    assert len(run.verdicts) == 7
    assert all(verdict.passed for verdict in run.verdicts[1:]), [str(each) for each in run.verdicts]
    assert len(run.summary["not here"]) == (3 if engine == "glassbox" else 1)
