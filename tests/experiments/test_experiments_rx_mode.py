from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from long_tests import LONG

from labs import load_run, two_vpps
from labs.errors import LabError
from labs.experiments import rx_mode as experiment
from labs.experiments.rx_mode import all_settings, rx_mode
from labs.experiments.rx_mode_summary import FIGURES, figures, judge, off_the_wire, outliers, summarise
from labs.experiments.rx_mode_window import Setting, percentile
from labs.kernel import allowed_cores
from labs.spoken import RX_MODES

two_cores = pytest.mark.skipif(len(allowed_cores()) < 2, reason="this session may use one core only")

# What a quiet machine shows, from the course's own measurements.
POLLS = {"running": 0.99, "waiting": 0.01, "voluntary": 0.0}
SLEEPS = {"running": 0.02, "waiting": 0.0, "voluntary": 110.0}
FIGURES_OF = {
    ("polling", "apart"): {"ping": 0.08, "whole": 9.0, "near": 4.0, "share": POLLS},
    ("polling", "same"): {
        "ping": 7.6,
        "whole": 7600.0,
        "near": 800.0,
        "share": {**POLLS, "running": 0.5, "waiting": 0.5},
    },
    ("interrupt", "apart"): {"ping": 4.4, "whole": 110.0, "near": 60.0, "share": SLEEPS},
    ("interrupt", "same"): {"ping": 4.4, "whole": 130.0, "near": 60.0, "share": SLEEPS},
}

UNHURRIED = (  # claims that no other program can disturb
    "without a packet a node in interrupt mode uses less than a twentieth of a core",
    "nobody rings for a polling node, and for a sleeping one the doorbell is rung",
    "a link that connects anew has lost its rx-mode",
    "set again, the rx-mode stands",
)


def window(setting, **changes):
    mode = "polling" if setting.mode == "polling" else "interrupt"
    values = {**FIGURES_OF[mode, setting.state], "rung": 0.0, **changes}
    if setting.rate and mode != "polling" and "rung" not in changes:
        values["rung"] = 0.9 * setting.rate
    share = {**values["share"], "node": "vpp2"}
    return {
        **vars(setting),
        "setting": str(setting),
        "times_ms": [values["ping"]] * 20,
        "whole_us": [values["whole"]] * 50,
        "near_us": [values["near"]] * 50,
        "scheduler": [{**share, "node": "vpp1"}, share],
        "rung": values["rung"],
        "offered": setting.rate,
        "received": setting.rate,
        "others": 0.0,
    }


def windows(rounds=2, **changes):
    """Return windows of all settings; changes are by mode and state, as ``polling_apart``."""
    return [
        window(each, **changes.get(f"{each.mode}_{each.state}", {}))
        for _ in range(rounds)
        for each in all_settings()
    ]


def judged(**changes):
    return judge(windows(**changes), all_settings())


def test_every_mode_is_measured_in_each_placement_idle_and_under_load(monkeypatch):
    monkeypatch.delenv("LABS_PROFILE", raising=False)
    full = all_settings()
    assert {each.mode for each in full} == set(RX_MODES)
    assert {each.rate for each in full} == {0, 1e3, 1e4, 1e5}
    assert len({str(each) for each in full}) == len(full) == 24
    monkeypatch.setenv("LABS_PROFILE", "ci")
    short = all_settings()
    assert {(each.mode, each.state) for each in short} == {(each.mode, each.state) for each in full}
    assert {str(each) for each in short} < {str(each) for each in full}


def test_a_setting_reads_as_a_learner_says_it():
    assert str(Setting("interrupt", "apart", 0.0)) == "interrupt, a core each, idle"
    assert str(Setting("polling", "same", 1e4)) == "polling, all nodes on one core, 10k packets a second"


def test_figures_as_measured_on_a_quiet_machine_pass_every_verdict():
    verdicts = judged()
    assert len(verdicts) == 6
    assert all(verdict.passed for verdict in verdicts), [str(each) for each in verdicts]


@pytest.mark.parametrize(
    ("changes", "number", "because"),
    [
        ({"interrupt_apart": {"share": {**SLEEPS, "running": 0.2}}}, 0, "20.0 %"),
        ({"polling_apart": {"share": {**POLLS, "running": 0.4, "waiting": 0.1}}}, 1, "50 % of the time"),
        ({"polling_apart": {"near": 30.0}}, 2, "a factor of 2.0"),
        ({"interrupt_same": {"whole": 5000.0}}, 3, "a factor of 1.5"),
        ({"interrupt_apart": {"ping": 0.2}}, 4, "a factor of 1.8"),
        ({"polling_apart": {"rung": 70.0}}, 5, "up to 70 a second for a polling node"),
        ({"interrupt_apart": {"rung": 0.0}}, 5, "at least 0 a second for a sleeping one"),
    ],
)
def test_a_relation_that_does_not_hold_fails_alone_with_its_figures(changes, number, because):
    verdicts = judged(**changes)
    assert [verdict.passed for verdict in verdicts] == [index != number for index in range(6)]
    assert because in verdicts[number].because


def test_a_polling_node_that_waits_for_a_shared_core_still_takes_all_it_can_get():
    share = {**POLLS, "running": 0.4, "waiting": 0.6}
    assert judged(polling_apart={"share": share})[1].passed


def test_a_kernel_without_schedstat_leaves_the_verdicts_about_time_on_the_wire():
    blind = {"running": None, "waiting": None, "voluntary": 3.0}
    everywhere = {name: {"share": blind} for name in ("polling_apart", "interrupt_apart")}
    verdicts = judged(**everywhere)
    assert len(verdicts) == 4
    assert all(verdict.passed for verdict in verdicts)


def test_without_replies_nothing_is_claimed():
    silent = [{**each, "times_ms": [], "whole_us": [], "near_us": []} for each in windows()]
    verdicts = judge(silent, all_settings())
    assert [verdict.passed for verdict in verdicts] == [True, True, False, False, False, True]
    assert verdicts[2].because == "too few replies came back"


def test_what_the_probe_does_not_see_of_a_ping_is_off_the_wire():
    assert off_the_wire(windows()) == pytest.approx(1 - 110 / 4400)
    assert off_the_wire(windows(interrupt_apart={"whole": 9000.0})) == 0.0
    assert off_the_wire([]) is None


def test_processor_time_and_wake_ups_are_those_of_the_receiver():
    setting = Setting("interrupt", "apart", 1e4)
    one = window(setting)
    one["scheduler"][0] = {**POLLS, "node": "vpp1"}  # its packet generator polls
    assert summarise([one], [setting])[str(setting)]["cpu_percent"]["median"] == pytest.approx(2.0)


def test_the_summary_has_a_group_for_each_setting_and_each_figure_its_spread():
    setting = Setting("polling", "apart", 0.0)
    group = summarise([window(setting, whole=each) for each in (9.0, 7.0, 30.0)], [setting])[str(setting)]
    assert set(group) == set(FIGURES)
    assert group["wire_p50_us"] == {"median": 9.0, "lowest": 7.0, "highest": 30.0}
    assert group["ping_p50_us"]["median"] == pytest.approx(80.0)


def test_a_window_that_stands_out_is_named_by_its_number_in_the_run():
    some = windows(rounds=3)
    size = len(all_settings())
    some[size + 4] = window(all_settings()[4], whole=90_000.0)
    assert outliers(some, all_settings()) == [size + 5]


@pytest.mark.parametrize(("count", "known"), [(0, False), (2, False), (3, True)])
def test_a_percentile_needs_three_samples(count, known):
    assert (percentile([1.0] * count, 50) is not None) == known


some = st.none() | st.floats(0, 1)


@given(
    st.lists(
        st.builds(
            window,
            st.sampled_from(all_settings()),
            ping=st.floats(0, 1e3),
            near=st.floats(0, 1e6),
            whole=st.floats(0, 1e6),
            rung=st.floats(0, 1e6),
            share=st.builds(lambda part: {"running": part, "waiting": part, "voluntary": 1.0}, some),
        ),
        max_size=6,
    )
)
def test_any_windows_can_be_summed_up_judged_and_told(found):
    summarise(found, all_settings())
    for verdict in judge(found, all_settings()):
        assert verdict.claim in str(verdict)
    for setting in all_settings():
        assert set(figures(found, setting)) == set(FIGURES)


class OneNode:
    nodes = {"vpp1": None}  # noqa: RUF012 - only its length is looked at


def test_with_one_node_it_is_refused():
    with pytest.raises(LabError, match="this lab has one node"):
        rx_mode(OneNode())


def test_on_one_core_it_is_refused_with_the_core(monkeypatch):
    monkeypatch.setattr(experiment, "allowed_cores", lambda: (3,))
    lab = OneNode()
    lab.nodes = {"vpp1": None, "vpp2": None}
    with pytest.raises(LabError, match=r"needs two cores, and this session may use one \(3\)"):
        rx_mode(lab)


@pytest.mark.parametrize(("seconds", "rounds"), [(0.1, 1), (float("nan"), 1), (1, 0), (1, 1.5)])
def test_a_run_of_nothing_is_refused(seconds, rounds):
    with pytest.raises(LabError, match="Nothing can be measured"):
        rx_mode(OneNode(), seconds, rounds)


@pytest.mark.skipif(not LONG, reason="notebook 04 runs the whole of it; LABS_LONG_TESTS=1 runs this, too")
@two_cores
@pytest.mark.engine("process")  # notebook 04 runs it on each engine, and judges its verdicts
def test_polling_buys_latency_and_costs_a_core(monkeypatch, tmp_path):
    monkeypatch.setenv("LABS_PROFILE", "ci")
    monkeypatch.setenv("LABS_RUNS", str(tmp_path))
    lab = two_vpps("rx-mode", engine="process")
    lab.start()
    try:
        home = {name: node.spec.cores for name, node in lab.nodes.items()}
        run = rx_mode(lab, rounds=1)
        assert {name: node.spec.cores for name, node in lab.nodes.items()} == home
        assert all(set(node.rx_modes().values()) == {"polling"} for node in lab.nodes.values())
    finally:
        lab.stop()
    assert run.complete
    assert load_run(run.path).windows == run.windows
    for each in run.windows:
        modes = {mode for node in each["modes read back"].values() for mode in node.values()}
        assert modes == {each["mode"]}
        assert each["received"] == pytest.approx(each["rate"], rel=0.2, abs=50)
    assert run.summary["reconnect"]["after"] == "polling"
    assert run.summary["reconnect"]["again"] == "interrupt"
    shown = {verdict.claim: verdict.passed for verdict in run.verdicts}
    assert len(shown) == 10
    for claim in UNHURRIED:
        assert shown[claim], run.verdicts
