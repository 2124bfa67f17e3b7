from __future__ import annotations

from types import SimpleNamespace

import pytest
from long_tests import not_in_docker

from labs.errors import NotAvailable
from labs.experiments import links as experiment
from labs.experiments import testpmd
from labs.experiments.links import all_settings, capabilities, links, refusal
from labs.experiments.links_beds import KINDS, Beds, Setting
from labs.experiments.links_summary import answer, figures, judge, judge_privileges
from labs.kernel import allowed_cores
from labs.stock import one_with_vhost

RATES = {"memif": 19e6, "memif-zc": 21e6, "vhost": 11e6}
LENT = {"memif": 4 << 20, "memif-zc": 512 << 20, "vhost": 512 << 20}


def a_lab(*plugins, engine="process"):
    node = SimpleNamespace(name="vpp1", spec=SimpleNamespace(plugins=plugins))
    return SimpleNamespace(nodes={"vpp1": node}, engine=engine)


VPP = a_lab("memif", "ping", "vhost")


def window(setting, scale=1.0, **changes):
    rate = scale * RATES[setting.kind] * (64 / setting.size) ** 0.5
    memory = {"name": "/memfd", "size": LENT[setting.kind], "a_writes": True, "b_writes": True}
    return {
        **vars(setting),
        "setting": str(setting),
        "sent": rate,
        "received": rate,
        "gbit_per_s": 8 * setting.size * rate / 1e9,
        "lent": [memory],
        "others": 0.0,
        **changes,
    }


def windows(change=lambda _: {}, lab=VPP):
    return [window(each, scale, **change(each)) for scale in (1.0, 1.01) for each in all_settings(lab)]


def judged(change=lambda _: {}):
    return judge(windows(change), all_settings(VPP))


def test_every_kind_is_compared_and_the_glass_box_is_left_what_it_can():
    assert {(each.receiver, each.kind) for each in all_settings(VPP)} == {
        (who, kind) for who in ("testpmd", "node") for kind in KINDS
    }
    lab = a_lab("memif", "ping", engine="glassbox")
    glass = all_settings(lab)
    assert Setting("testpmd", "vhost", 64) in glass
    assert {each.kind for each in glass if each.receiver == "node"} == {"memif"}
    assert "not sealed" in refusal("memif-zc", lab, lab.nodes["vpp1"])
    assert refusal("vhost", lab, lab.nodes["vpp1"]) == "vpp1 has no vhost-user."


def test_figures_as_measured_by_hand_pass_every_verdict():
    verdicts = judged()
    assert len(verdicts) == 4
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
    ],
)
def test_a_relation_that_does_not_hold_fails_alone(change, number):
    failed = {index for index, verdict in enumerate(judged(change)) if not verdict.passed}
    assert failed == ({number, 2} if number == 1 else {number})  # a memif that copies is in two of them


@pytest.mark.parametrize(("effective", "passed"), [("0000000000000000", True), ("00000000a80425fb", False)])
def test_a_node_with_a_privilege_proves_nothing(effective, passed):
    verdict = judge_privileges(effective)
    assert verdict.passed == passed
    assert effective in verdict.because


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


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_made_is_unmade_the_interface_first(kind):
    make, name, unmake = Beds.lines(kind, "/run/x.sock")
    assert "/run/x.sock" in make[0]
    assert any(name in line for line in unmake)
    if kind != "vhost":
        assert unmake[-1].startswith("delete interface")  # an ExitStack begins with the last


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
        assert int(capabilities(lab["vpp1"]), 16) == 0
    finally:
        lab.stop()
    assert all(each["received"] > 0 for each in run.windows)
    shown = [each for each in run.verdicts if "memory" in each.claim or "privilege" in each.claim]
    assert len(shown) == 4
    assert all(verdict.passed for verdict in shown), [str(each) for each in shown]
    assert len(run.summary["not here"]) == (2 if engine == "glassbox" else 0)
