"""A lab that runs as it should: what its operations do, read back from the kernel and from VPP."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from labs import LabError, drawing, two_vpps
from labs.engines import rundir
from labs.errors import LinkDown
from labs.kernel import allowed_cores, threads
from labs.running import current

CORES = allowed_cores()
two_cores = pytest.mark.skipif(len(CORES) < 2, reason="this session may use one core only")

SHOWN = {"glassbox": "glass-box (not VPP)"}
"""What an engine shows where another one shows VPP's release."""

START_ON_ONE_CORE = """
import sys
from labs import LabError, two_vpps
lab = two_vpps("narrow", engine=sys.argv[1])
lab.start()
for act in ("lab.pin('apart')", f"lab.pin(vpp2={sys.argv[2]})", "lab.pin('free')"):
    try:
        eval(act)
    except LabError as error:
        print("refused:", error.message)
print("cores:", [lab[name].cores() for name in lab])
print("answered:", lab.ping("vpp1", "vpp2", 3, 0.1).received > 0)
"""


@pytest.fixture(scope="module")
def lab(engine):
    """Return a running lab of two linked VPPs, for all tests that leave it as it was."""
    lab = two_vpps("healthy", engine=engine)
    lab.start()
    yield lab
    lab.stop()


@pytest.fixture
def short(engine, capsys):
    """Return a lab for one test, not started."""
    lab = two_vpps("short", engine=engine)
    yield lab
    lab.stop()


def answers(lab, source="vpp1", target="vpp2"):
    """Return whether pings are answered; VPP waits one interval for the last, and the machine may be busy."""
    return lab.ping(source, target, count=3, interval=0.1).received > 0


def affinities(lab, node):
    """Return where the kernel lets each thread of a node run."""
    return {each.cores for each in threads(lab[node].handle.pid)}


def rx_count(lab, node):
    return lab[node].counters()["memif0/0"].rx_packets


# Start and stop


def test_start_prints_one_line_that_says_what_runs_where_and_why(short, engine, capsys):
    short.start()
    line = capsys.readouterr().out
    assert line.count("\n") == 1
    assert line.startswith(f"{SHOWN.get(engine, 'VPP 26.06')} on engine ")
    assert f"on engine {engine} (asked for)" in line
    for name in short:
        assert f"{name} core {short[name].cores()[0]}" in line


def test_the_environment_can_choose_the_engine(engine, monkeypatch, capsys):
    monkeypatch.setenv("LABS_ENGINE", engine)
    lab = two_vpps("short")
    try:
        lab.start()
        assert lab.engine == engine
        assert "(LABS_ENGINE asks for it)" in capsys.readouterr().out
    finally:
        lab.stop()


def test_a_started_lab_has_its_links_up(short):
    short.start()
    ends = [state for node in short.nodes.values() for state in node.memifs().interfaces]
    assert [end.connected for end in ends] == [True, True]
    assert {end.role for end in ends} == {"server", "client"}


def test_a_second_start_says_that_it_runs_and_changes_nothing(lab, engine, capsys):
    before = {name: lab[name].handle.pid for name in lab}
    lab.start()
    shown = SHOWN.get(engine, "VPP 26.06")
    assert capsys.readouterr().out == (f"The lab 'healthy' is running already ({shown}, {engine}).\n")
    assert {name: lab[name].handle.pid for name in lab} == before


def test_a_cell_that_makes_and_starts_a_lab_can_be_run_again(short, engine):
    short.start()
    old = [short[name] for name in short]
    again = two_vpps("short", engine=engine)
    assert not any(node.alive for node in old)
    again.start()
    try:
        assert answers(again)
    finally:
        again.stop()


def test_the_lab_it_replaced_can_be_started_again_and_replaces_it(short, engine):
    short.start()
    other = two_vpps("short", engine=engine)
    other.start()
    replaced = [other[name] for name in other]
    short.stop()
    assert all(node.alive for node in replaced)
    short.start()
    assert not any(node.alive for node in replaced)
    assert all(node.alive for node in short.nodes.values())
    other.stop()
    assert all(node.alive for node in short.nodes.values())


def test_two_labs_of_different_names_run_side_by_side(lab, short):
    short.start()
    assert answers(short)
    assert answers(lab)
    short.stop()
    assert answers(lab)


def test_stop_leaves_nothing_and_may_come_twice_or_first(short):
    short.stop()
    short.start()
    nodes = list(short.nodes.values())
    short.stop()
    short.stop()
    assert not any(node.alive for node in nodes)
    assert not (rundir.base() / "short").exists()
    assert short.engine == ""
    assert short.version == ""


def test_reset_gives_new_nodes_as_they_were_at_first(short):
    short.start()
    before = {name: short[name].handle.pid for name in short}
    short["vpp1"].cli("create loopback interface")
    short.reset()
    assert not set(before.values()) & {short[name].handle.pid for name in short}
    assert "loop0" not in short["vpp1"].cli("show interface")
    assert answers(short)


@pytest.mark.parametrize(
    "act",
    [
        lambda lab: lab["vpp1"],
        lambda lab: lab.nodes,
        list,
        lambda lab: lab.ping("vpp1", "vpp2"),
        lambda lab: lab.pin("same"),
        lambda lab: lab.rx_mode("interrupt"),
        lambda lab: lab.evidence(0.1),
        lambda lab: lab.wait_link(0.1),
        lambda lab: lab.restart("vpp1"),
        lambda lab: lab.folder,
    ],
)
def test_a_lab_that_is_not_started_says_so(act):
    with pytest.raises(LabError, match="The lab 'never' is not started") as refused:
        act(two_vpps("never"))
    assert "lab.start()" in refused.value.hint


def test_a_lab_that_is_not_started_can_be_looked_at():
    assert repr(two_vpps("never")) == "never: stopped (nodes vpp1, vpp2)"
    assert "stopped" in two_vpps("never")._repr_mimebundle_()["text/html"]


def test_a_lab_s_folder_holds_the_sockets_of_its_nodes(lab):
    assert (lab.folder / "vpp1.cli.sock").is_socket()
    assert (lab.folder / "memif.sock").is_socket()


def test_the_folder_is_gone_with_the_lab(short):
    short.start()
    folder = short.folder
    assert folder.is_dir()
    short.stop()
    assert not folder.exists()
    with pytest.raises(LabError, match="is not started"):
        _ = short.folder


def test_a_lab_iterates_over_its_nodes_names(lab):
    assert list(lab) == ["vpp1", "vpp2"]
    assert [lab[name].name for name in lab] == ["vpp1", "vpp2"]


@pytest.mark.parametrize("name", ["vpp3", "", "VPP1", None, 0])
def test_a_node_that_is_not_there_is_refused_and_the_nodes_are_named(lab, name):
    with pytest.raises(LabError) as refused:
        lab[name]
    assert repr(name) in refused.value.message
    assert "vpp1, vpp2" in refused.value.hint


def test_current_finds_the_lab_by_its_node(lab):
    assert current("vpp2") is lab
    with pytest.raises(LabError, match="No running lab has a node 'vpp7'"):
        current("vpp7")


def test_the_display_shows_nodes_cores_and_the_link(lab):
    text = lab._repr_mimebundle_()["text/plain"]
    assert "connected" in text
    for name in lab:
        assert f"{name}: core {lab[name].cores()[0]}" in text
    assert text == repr(lab)
    assert lab._repr_mimebundle_()["text/html"] == drawing.svg(lab.view())


def test_the_version_is_what_vpp_itself_says(lab):
    assert lab["vpp1"].api.version.startswith(lab.version.removeprefix("VPP "))


# Ping


@pytest.mark.parametrize(("source", "target"), [("vpp1", "vpp2"), ("vpp2", "vpp1")])
def test_a_ping_is_answered_as_often_as_asked(lab, source, target):
    ping = lab.ping(source, target, count=4, interval=0.3)
    assert (ping.sent, ping.received) == (4, 4)
    assert ping.sequence.tolist() == [1, 2, 3, 4]
    assert 0 < ping.p50 <= ping.p99
    assert str(ping).startswith(f"{source} → {target}: 4 sent, 4 answered")


def test_the_first_ping_after_the_start_loses_none(short):
    short.start()
    assert short.ping("vpp1", "vpp2", count=3, interval=0.3).sequence.tolist() == [1, 2, 3]


def test_the_shortest_interval_that_is_taken_still_gets_answers(lab):
    ping = lab.ping("vpp1", "vpp2", count=200, interval=0.0001)
    assert ping.sent == 200
    assert ping.received > 0


@pytest.mark.parametrize("count", [0, -1, 1.5, "3", None, math.nan])
def test_a_count_that_is_none_is_refused(lab, count):
    with pytest.raises(LabError, match="cannot send") as refused:
        lab.ping("vpp1", "vpp2", count)
    assert "count=20" in refused.value.hint


@pytest.mark.parametrize("interval", [0, -1, 0.00001, 61, math.nan, math.inf, "1", None])
def test_an_interval_that_is_none_is_refused(lab, interval):
    with pytest.raises(LabError, match="cannot wait") as refused:
        lab.ping("vpp1", "vpp2", 3, interval)
    assert "0.0001 to 60" in refused.value.hint


def test_a_node_cannot_ping_itself(lab):
    with pytest.raises(LabError, match="vpp1 cannot ping itself"):
        lab.ping("vpp1", "vpp1")


@pytest.mark.parametrize(("source", "target"), [("vpp9", "vpp1"), ("vpp1", "vpp9")])
def test_a_ping_of_a_strange_node_is_refused(lab, source, target):
    with pytest.raises(LabError, match="no node 'vpp9'"):
        lab.ping(source, target)


def test_a_ping_without_a_common_network_is_refused_with_a_line_that_makes_one(lab):
    lab["vpp2"].cli("set interface ip address del memif0/0 10.10.2.2/24")
    try:
        with pytest.raises(LabError, match="vpp1 and vpp2 share no network") as refused:
            lab.ping("vpp1", "vpp2")
        assert "set interface ip address" in refused.value.hint
    finally:
        lab["vpp2"].cli("set interface ip address memif0/0 10.10.2.2/24")
    assert answers(lab)


def test_pings_that_nobody_answers_are_counted_as_such(lab):
    ping = lab["vpp1"].ping("10.10.2.77", 3, 0.01)
    assert (ping.sent, ping.received) == (3, 0)
    with pytest.raises(LabError, match="answered none of 3"):
        assert ping.p50


def test_an_address_that_leads_nowhere_gets_vpps_own_words(lab):
    with pytest.raises(LabError, match="no egress interface"):
        lab["vpp1"].ping("192.0.2.1", 3, 0.01)


def test_counters_count_the_pings(lab):
    before = rx_count(lab, "vpp1"), rx_count(lab, "vpp2")
    ping = lab.ping("vpp1", "vpp2", count=10, interval=0.05)
    assert rx_count(lab, "vpp1") - before[0] >= ping.received > 0
    assert rx_count(lab, "vpp2") - before[1] >= ping.received


def test_the_api_and_the_cli_agree_on_the_interfaces(lab):
    shown = lab["vpp1"].cli("show interface")
    names = [each.interface_name for each in lab["vpp1"].api.sw_interface_dump()]
    assert "memif0/0" in names
    assert all(name in shown for name in names)


# Placement


@pytest.fixture
def home(lab):
    """Bring the nodes back to where they were."""
    cores = {name: lab[name].spec.cores for name in lab}
    yield lab
    for name, wanted in cores.items():
        lab[name].pin(wanted)


@two_cores
@pytest.mark.parametrize(
    ("state", "first", "second"),
    [
        ("same", {CORES[:1]}, {CORES[:1]}),
        ("apart", {CORES[:1]}, {CORES[1:2]}),
        ("free", {CORES}, {CORES}),
    ],
)
def test_the_kernel_confirms_each_state(home, state, first, second, capsys):
    home.pin(state)
    assert affinities(home, "vpp1") == first
    assert affinities(home, "vpp2") == second
    said = capsys.readouterr().out
    assert f"The kernel now says: vpp1 core{'s' if state == 'free' else ''} " in said
    assert said.startswith("$ ")


@two_cores
def test_nodes_move_by_name_and_the_others_stay(home):
    home.pin("same")
    home.pin(vpp2=CORES[1])
    assert affinities(home, "vpp1") == {CORES[:1]}
    assert affinities(home, "vpp2") == {CORES[1:2]}
    home.pin(vpp2=None)
    assert affinities(home, "vpp2") == {CORES}


@two_cores
def test_a_lab_that_was_moved_still_answers(home):
    for state in ("same", "free", "apart"):
        home.pin(state)
        assert answers(home)


@pytest.mark.engine("process")
@two_cores
def test_the_commands_it_prints_do_the_same_in_a_shell(capsys):
    lab = two_vpps("short", engine="process")
    lab.start()
    try:
        lab.pin("same")
        commands = [line[2:] for line in capsys.readouterr().out.splitlines() if line.startswith("$ ")]
        lab.pin("free")
        for command in commands:
            subprocess.run(command.split(), check=True, capture_output=True)
        assert affinities(lab, "vpp1") == affinities(lab, "vpp2") == {CORES[:1]}
    finally:
        lab.stop()


def test_a_core_outside_the_session_is_refused_and_nothing_moves(home):
    before = affinities(home, "vpp1"), affinities(home, "vpp2")
    with pytest.raises(LabError) as refused:
        home.pin(vpp1=CORES[0], vpp2=max(CORES) + 1)
    assert f"vpp2 cannot run on core {max(CORES) + 1}" in refused.value.message
    assert ", ".join(map(str, CORES)) in refused.value.message
    assert (affinities(home, "vpp1"), affinities(home, "vpp2")) == before


@pytest.mark.parametrize("cores", [[], ()])
def test_no_core_at_all_is_free_to_move(home, cores):
    home.pin(vpp1=cores)
    assert affinities(home, "vpp1") == {CORES}


@pytest.mark.parametrize(
    ("state", "cores", "words"),
    [
        ("together", {}, "There is no placement 'together'"),
        (None, {"vpp9": 0}, "no node 'vpp9'"),
        ("same", {"vpp1": 0}, "either a state or cores"),
        (None, {}, "either a state or cores"),
        ("", {}, "There is no placement ''"),
        (0, {}, "There is no placement 0"),
    ],
)
def test_a_placement_that_is_none_is_refused(lab, state, cores, words):
    with pytest.raises(LabError, match=words) as refused:
        lab.pin(state, **cores)
    assert refused.value.hint


def test_on_one_core_a_lab_shares_it_and_refuses_to_part(engine):
    outside = str(max(CORES) if len(CORES) > 1 else CORES[0] + 1)
    done = subprocess.run(
        ["taskset", "-c", str(CORES[0]), sys.executable, "-c", START_ON_ONE_CORE, engine, outside],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert f"vpp1 core {CORES[0]}, vpp2 core {CORES[0]}" in done.stdout
    assert f"refused: A core each needs 2 cores, and this session may use 1 ({CORES[0]})" in done.stdout
    assert f"refused: vpp2 cannot run on core {outside}: it is outside the cores" in done.stdout
    assert f"cores: [({CORES[0]},), ({CORES[0]},)]" in done.stdout
    assert "answered: True" in done.stdout


def test_something_that_moves_a_node_back_is_told_of(lab, monkeypatch):
    monkeypatch.setattr(type(lab["vpp1"]), "cores", lambda _: (CORES[-1] + 1,))
    with pytest.raises(LabError, match=f"vpp1 was to run on core {CORES[0]}, and the kernel says") as told:
        lab.pin(vpp1=CORES[0])
    assert "labs doctor" in told.value.hint


# rx-mode


@pytest.fixture
def polling(lab):
    yield lab
    lab.rx_mode("polling")


@pytest.mark.parametrize("mode", ["interrupt", "adaptive", "polling"])
def test_vpp_confirms_the_mode(polling, mode, capsys):
    polling.rx_mode(mode)
    assert [node.rx_modes() for node in polling.nodes.values()] == [{"memif0/0": mode}] * 2
    assert f"vpp1 now says: memif0/0 {mode}." in capsys.readouterr().out
    assert answers(polling)


def test_the_mode_of_one_node_is_its_own(polling):
    polling.rx_mode("interrupt", "vpp1")
    assert polling["vpp1"].rx_modes() == {"memif0/0": "interrupt"}
    assert polling["vpp2"].rx_modes() == {"memif0/0": "polling"}


@pytest.mark.parametrize("mode", ["sleeping", "", None, "POLLING"])
def test_an_unknown_mode_is_refused_and_the_known_ones_are_named(lab, mode):
    with pytest.raises(LabError, match="There is no rx-mode") as refused:
        lab.rx_mode(mode)
    assert "polling, interrupt, adaptive" in refused.value.hint


def test_the_mode_of_a_strange_node_is_refused(lab):
    with pytest.raises(LabError, match="no node 'vpp3'"):
        lab.rx_mode("polling", "vpp3")


def test_before_a_memif_connects_there_is_no_mode_to_set(engine):
    lab = two_vpps("short", links=False, engine=engine)
    lab.start()
    try:
        with pytest.raises(LinkDown, match="vpp1 has no connected memif"):
            lab.rx_mode("interrupt")
        lab["vpp1"].cli("create interface memif id 0 master\nset interface state memif0/0 up")
        with pytest.raises(LinkDown, match="vpp1 has no connected memif"):
            lab.rx_mode("interrupt", "vpp1")
        assert lab["vpp1"].rx_modes() == {}
    finally:
        lab.stop()


def test_the_mode_is_lost_when_the_peer_comes_anew(polling):
    polling.rx_mode("interrupt")
    polling.restart("vpp2")
    polling.wait_link(10)
    assert [node.rx_modes() for node in polling.nodes.values()] == [{"memif0/0": "polling"}] * 2


# Evidence


@two_cores
def test_a_polling_node_runs_and_one_that_waits_for_interrupts_sleeps(polling):
    polling.rx_mode("interrupt", "vpp2")
    seen = polling.evidence(1.0)
    assert seen["vpp1"].running > 5 * seen["vpp2"].running
    assert seen["vpp1"].running + seen["vpp1"].waiting > 0.8
    assert seen["vpp2"].voluntary > 10 * seen["vpp1"].voluntary


@two_cores
def test_on_one_core_two_polling_nodes_wait_for_each_other(home):
    home.pin("same")
    seen = home.evidence(1.0)
    for node in home:
        assert seen[node].waiting > 0.25
        assert seen[node].involuntary > 0
        assert seen[node].cores == CORES[:1]


@pytest.mark.parametrize("seconds", [0, -1, math.nan])
def test_a_look_that_takes_no_time_is_refused(lab, seconds):
    with pytest.raises(LabError, match="Nothing can be seen"):
        lab.evidence(seconds)


# A stopped VPP, and one that comes back


def test_a_vpp_that_is_held_is_not_taken_for_dead(lab):
    pid = lab["vpp2"].handle.pid
    os.kill(pid, signal.SIGSTOP)
    try:
        assert lab["vpp2"].alive
        assert lab["vpp2"].cores()
    finally:
        os.kill(pid, signal.SIGCONT)
    assert answers(lab)


@two_cores
def test_a_restart_keeps_the_cores_that_were_chosen(home):
    home.pin(vpp1=CORES[1], vpp2=CORES[0])
    home.restart("vpp1")
    home.wait_link(10)
    assert affinities(home, "vpp1") == {CORES[1:2]}
    home.pin(vpp1=None)
    home.restart("vpp1")
    home.wait_link(10)
    assert affinities(home, "vpp1") == {CORES}
    assert answers(home)


def test_numpys_integers_are_cores_too_even_at_the_next_restart(home):
    home.pin(vpp1=np.int64(CORES[0]))
    home.restart("vpp1")
    home.wait_link(10)
    assert affinities(home, "vpp1") == {CORES[:1]}


def test_a_restart_of_a_strange_node_is_refused(lab):
    with pytest.raises(LabError, match="no node 'vpp3'"):
        lab.restart("vpp3")
