from __future__ import annotations

import itertools
import os
import pty
import re
import subprocess
import threading
import time

import pytest
from doors_loop import DoorLoop, enter, program_of_vpp, pump, short_directory
from hypothesis import given, settings
from hypothesis import strategies as st

from labs.errors import LabError
from labs.glassbox.doors import CliDoor, Running, cli_session
from labs.glassbox.doors.cli_editor import Editor
from labs.vpp.cli import Cli
from labs.vpp.telnet import NON_INTERACTIVE

BIG = "\n".join(f"{number:079d}" for number in range(100_000))


class Count:
    """A command that says a number at each poll, up to a last one."""

    def __init__(self, last=10**9):
        self.last = last
        self.said = 0
        self.aborts = 0
        self.has_ended = False

    def poll(self):
        if self.has_ended or self.said >= self.last:
            return None
        if self.aborts:
            self.has_ended = True
            return ["", "Aborted due to a keypress."]
        self.said += 1
        return [f"number {self.said}"]

    def abort(self):
        self.aborts += 1


class Fake:
    """Runs lines, and remembers them."""

    def __init__(self):
        self.lines = []
        self.running = []

    def __call__(self, line):
        self.lines.append(line)
        word, _, rest = line.partition(" ")
        if word == "count":
            self.running.append(Count(int(rest or 10**9)))
            return self.running[-1]
        if word == "refuse":
            raise LabError("There is no such thing.", "try another.")
        if word == "break":
            raise RuntimeError("a bug")
        return {"big": BIG, "say": rest, "nothing": ""}.get(word, f"ran {line}")


@pytest.fixture
def place():
    with short_directory() as path:
        yield path


@pytest.fixture
def fake():
    return Fake()


@pytest.fixture
def path(place, fake):
    with DoorLoop(CliDoor(place / "cli.sock", fake, banner="glass-box (not VPP)")):
        yield place / "cli.sock"


@pytest.fixture
def cli(path):
    client = Cli(path)
    yield client
    client.close()


@pytest.fixture
def eventually():
    def wait(condition, seconds=10.0):
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, "it never happened"
            time.sleep(0.005)

    return wait


@pytest.fixture
def vppctl(path):
    program = program_of_vpp("vppctl")
    if program is None:
        pytest.skip("no vppctl found: install VPP, or set LABS_VPP")
    return lambda *words, **more: (
        subprocess.run(
            [program, "-s", path, *words],
            capture_output=True,
            text=True,
            timeout=20,
            check=True,
            **{"stdin": subprocess.DEVNULL, **more},
        ).stdout
    )


def test_a_line_goes_in_and_its_text_comes_out(cli, fake):
    assert cli.run("show version") == "ran show version"
    assert fake.lines == ["show version"]


def test_text_comes_out_as_it_is(cli):
    assert cli.ask("say one\ttwo  é ✓") == "one\ttwo  é ✓\n"


def test_a_command_may_have_nothing_to_say(cli):
    assert cli.ask("nothing") == ""
    assert cli.run("show version") == "ran show version"


def test_a_statement_of_several_lines_arrives_as_one(cli, fake):
    cli.run("packet-generator new {\n  name x\n  data { hex 0x00 }\n}")
    assert fake.lines == ["packet-generator new { name x data { hex 0x00 } }"]


def test_a_long_answer_arrives_whole(cli):
    assert cli.run("big") == BIG


def test_a_long_line_arrives_whole(cli, fake):
    cli.run("say " + "x" * 32_000)
    assert fake.lines == ["say " + "x" * 32_000]


def test_refusals_and_faults_are_told_and_the_door_stays_open(cli):
    assert cli.ask("refuse") == "There is no such thing.\ntry another.\n"
    assert "a bug" in cli.ask("break")
    assert cli.run("show version") == "ran show version"


def test_many_clients_at_once_get_each_their_own(path):
    answers = {}

    def ask(name):
        client = Cli(path)
        answers[name] = [client.run(f"say {name} {turn}") for turn in range(10)]
        client.close()

    threads = [threading.Thread(target=ask, args=(name,)) for name in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == {name: [f"{name} {turn}" for turn in range(10)] for name in range(20)}


def test_lines_come_while_the_command_goes_on(cli, fake):
    lines = cli.stream("count")
    assert list(itertools.islice(lines, 3)) == ["number 1", "number 2", "number 3"]
    assert not fake.running[0].has_ended
    lines.close()


def test_a_command_that_goes_on_ends_by_itself(cli, fake):
    assert list(cli.stream("count 3")) == ["number 1", "number 2", "number 3"]
    assert fake.running[0].aborts == 0
    assert cli.run("show version") == "ran show version"


def test_a_keypress_stops_a_command_and_is_for_nothing_else(place, fake):
    with CliDoor(place / "s", fake) as door:
        client = enter(place / "s")
        client.sendall(NON_INTERACTIVE + b"count\n")
        pump(door)
        assert door.is_busy
        client.sendall(b"x")
        pump(door)
        assert client.recv(4096).endswith(b"\n\nAborted due to a keypress.\n\0")
        assert not door.is_busy
        client.sendall(b"show\n")
        pump(door)
        assert client.recv(4096) == b"ran show\n\0"
        client.close()
    assert fake.lines == ["count", "show"]


def test_closing_a_stream_stops_the_command(cli, fake, eventually):
    lines = cli.stream("count")
    next(lines)
    lines.close()
    eventually(lambda: fake.running[0].has_ended)


def test_a_command_whose_client_vanishes_is_stopped(path, fake, eventually):
    client = enter(path)
    client.sendall(NON_INTERACTIVE + b"count\n")
    eventually(lambda: fake.running)
    client.close()
    eventually(lambda: fake.running[0].aborts)


def test_other_clients_are_served_while_a_command_goes_on(path, cli):
    lines = cli.stream("count")
    next(lines)
    assert Cli(path).run("show version") == "ran show version"
    assert next(lines)
    lines.close()


def test_a_client_that_leaves_in_the_middle_of_an_answer_is_forgotten(place, fake):
    with CliDoor(place / "s", fake) as door:
        client = enter(place / "s")
        client.sendall(NON_INTERACTIVE + b"big\nbig\nbig\n")
        pump(door)
        client.recv(100)
        client.close()
        pump(door)
        assert not door._connections


def test_a_client_that_does_not_read_holds_nobody_up(place, fake):
    with CliDoor(place / "s", fake) as door:
        lazy, keen = enter(place / "s"), enter(place / "s")
        lazy.sendall(NON_INTERACTIVE + b"big\n" * 5)
        pump(door)
        keen.sendall(NON_INTERACTIVE + b"show\n")
        pump(door)
        assert keen.recv(4096).endswith(b"ran show\n\0")
        ends = 0
        lines = lazy.recv(1 << 20).count(b"\n")
        door.ready()
        assert fake.lines.count("big") == 1  # the rest is not even begun
        while ends < 5:
            received = lazy.recv(1 << 20)
            ends, lines = ends + received.count(b"\0"), lines + received.count(b"\n")
            pump(door)
        assert lines == 5 * 100_000
        lazy.close()
        keen.close()


def test_a_running_command_is_not_asked_for_lines_that_nobody_reads(place, fake):
    with CliDoor(place / "s", fake) as door:
        client = enter(place / "s")
        client.sendall(NON_INTERACTIVE + b"big\ncount\n")
        pump(door)
        assert fake.lines == ["big"]
        received = 0
        while received < len(BIG):
            received += len(client.recv(1 << 20))
            pump(door)
        pump(door)
        assert fake.running[0].said
        client.close()


def test_a_running_command_with_much_to_say_waits_for_its_reader(place):
    class Talker(Count):
        def poll(self):
            return [line * 10_000 for line in super().poll()]

    talker = Talker()
    with CliDoor(place / "s", lambda _: talker) as door:
        client = enter(place / "s")
        client.sendall(NON_INTERACTIVE + b"talk\n")
        for _ in range(200):
            pump(door)
        said = talker.said
        assert said < 100
        client.recv(1 << 20)
        while talker.said == said:
            pump(door)
            client.recv(1 << 20)
        client.close()


def test_a_command_may_close_the_door(place):
    door = CliDoor(place / "s", lambda _: door.close() or "closed")
    client = enter(place / "s")
    client.sendall(NON_INTERACTIVE + b"shutdown\n")
    for _ in range(3):
        door.ready()
        door.tick()
    while client.recv(4096):
        pass
    client.close()


@pytest.mark.parametrize("word", ["quit", "q", "exit"])
def test_quit_closes_the_connection_after_the_answers(place, fake, word):
    with CliDoor(place / "s", fake) as door:
        client = enter(place / "s")
        client.sendall(NON_INTERACTIVE + f"show\n{word}\nnever\n".encode())
        pump(door)
        assert client.recv(4096).endswith(b"ran show\n\0")
        assert client.recv(4096) == b""
        assert fake.lines == ["show"]
        client.close()


def test_a_client_that_sends_all_and_then_listens_gets_all_answers(place, fake):
    with CliDoor(place / "s", fake) as door:
        client = enter(place / "s")
        client.sendall(NON_INTERACTIVE + b"one\ntwo\nthree\n")
        client.shutdown(1)
        pump(door)
        assert client.recv(4096).endswith(b"ran one\n\0ran two\n\0ran three\n\0")
        assert client.recv(4096) == b""
        assert not door._connections
        client.close()


def test_a_person_whose_terminal_says_nothing_is_greeted_after_a_while(place, fake):
    with CliDoor(place / "s", fake, banner="glass-box (not VPP)", prompt="> ") as door:
        client = enter(place / "s")
        pump(door)
        client.recv(4096)
        next(iter(door._connections.values()))._heard -= 2
        pump(door)
        assert client.recv(4096) == b"glass-box (not VPP)\n> "
        client.close()


def test_a_line_without_end_is_not_kept_for_ever(place, fake):
    with CliDoor(place / "s", fake) as door:
        for endless in (b"x" * 4096, b"\xff\xfa" + b"x" * 4096):
            client = enter(place / "s")
            client.sendall(NON_INTERACTIVE)
            for _ in range(16):
                client.sendall(endless)
                pump(door)
            assert not door._connections
            client.close()
    assert not fake.lines


def test_a_line_may_lack_its_end(place, fake):
    with CliDoor(place / "s", fake) as door:
        client = enter(place / "s")
        client.sendall(NON_INTERACTIVE + b"show version")
        pump(door)
        client.recv(4096)
        next(iter(door._connections.values()))._heard -= 1
        pump(door)
        assert client.recv(4096) == b"ran show version\n\0"
        client.close()


@pytest.fixture(scope="module")
def patient_door():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(cli_session, "_PAUSE", 60)  # this machine may pause in the middle of a line
        yield


@pytest.mark.usefixtures("patient_door")
@settings(deadline=None)
@given(st.lists(st.integers(0, 200), max_size=8))
def test_it_does_not_matter_in_what_pieces_bytes_come(places):
    data = NON_INTERACTIVE + b"say \xc3\xa9\xe2\x9c\x93\r\n\0nothing\nshow \xff\xff version\n"
    fake = Fake()
    with short_directory() as place, CliDoor(place / "s", fake) as door:
        client = enter(place / "s")
        edges = [0, *sorted({place % (len(data) + 1) for place in places}), len(data)]
        for start, end in itertools.pairwise(edges):
            client.sendall(data[start:end])
            pump(door)
        answers = client.recv(4096)
        client.close()
    assert answers.endswith("é✓\n\0\0ran show � version\n\0".encode())
    assert fake.lines == ["say é✓", "nothing", "show � version"]


@settings(deadline=None)
@given(st.lists(st.binary(max_size=300), max_size=6), st.booleans())
def test_garbage_harms_nobody_else(pieces, is_program):
    fake = Fake()
    with short_directory() as place, CliDoor(place / "s", fake) as door:
        good, bad = enter(place / "s"), enter(place / "s")
        good.sendall(NON_INTERACTIVE)
        bad.sendall(NON_INTERACTIVE if is_program else b"")
        for piece in pieces:
            try:
                bad.sendall(piece)
            except OSError:
                break
            pump(door)
        good.sendall(b"show\n")
        pump(door)
        assert good.recv(4096).endswith(b"ran show\n\0")
        bad.close()
        good.close()
        pump(door)
        assert not door._connections


def test_what_a_command_returns_fits_the_protocol():
    assert isinstance(Count(), Running)


# A person's keys


@pytest.mark.parametrize(
    ("keys", "lines"),
    [
        (b"show\r", b"show\n"),
        (b"show\r\n\r\n", b"show\n\n"),
        (b"shaw\x7f\x7fow\n", b"show\n"),
        (b"\x7f\x7fok\n", b"ok\n"),
        (b"caf\xc3\xa9\x7fe\n", b"cafe\n"),
        (b"wrong\x15right\n", b"right\n"),
        (b"one\ntwo\n\x1b[A\x1b[A\n", b"one\ntwo\none\n"),
        (b"one\n\x1b[A\x1b[Btwo\n", b"one\ntwo\n"),
        (b"\x1b[A\x1b[B\x1b[Cok\n", b"ok\n"),
        (b"\x04", b"quit\n"),
        (b"ab\x04\n", b"ab\n"),
    ],
)
def test_keys_make_lines(keys, lines):
    assert Editor("> ").feed(keys)[0] == lines
    editor = Editor("> ")
    if b"\x1b" not in keys:
        assert b"".join(editor.feed(bytes([key]))[0] for key in keys) == lines


def test_what_is_shown_is_what_is_typed():
    editor = Editor("> ")
    assert editor.feed(b"ab\x7fc\r") == (b"ac\n", b"ab\b \bc\r\n")
    assert editor.feed(b"xyz\x1b[A") == (b"", b"xyz" + b"\b \b" * 3 + b"ac")


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_no_keys_confuse_the_editor(keys):
    lines, _ = Editor("> ").feed(keys)
    assert lines.count(b"\n") <= keys.count(b"\n") + keys.count(b"\r") + keys.count(b"\x04")


# VPP's own client


def test_vppctl_shows_the_answer(vppctl):
    assert vppctl("show", "version") == "ran show version\n"


def test_vppctl_ends_after_a_command_that_says_nothing(vppctl):
    assert vppctl("nothing") == ""


def test_vppctl_shows_a_long_answer(vppctl):
    assert vppctl("big") == BIG + "\n"


def test_vppctl_shows_a_command_that_goes_on(vppctl):
    assert vppctl("count", "3") == "number 1\nnumber 2\nnumber 3\n"


def test_vppctl_at_a_terminal(path, fake):
    program = program_of_vpp("vppctl")
    if program is None:
        pytest.skip("no vppctl found: install VPP, or set LABS_VPP")
    ours, theirs = pty.openpty()
    shown = ""

    def read_until(text):
        nonlocal shown
        start = len(shown)
        while text not in shown[start:]:
            shown += os.read(ours, 4096).decode()

    with subprocess.Popen(
        [program, "-s", path], stdin=theirs, stdout=theirs, env={**os.environ, "TERM": "xterm"}
    ) as client:
        os.close(theirs)
        read_until("glass-box# ")
        os.write(ours, b"show verr\x7fsion\r")
        read_until("glass-box# ")
        os.write(ours, b"count\r")
        read_until("number 2")
        os.write(ours, b" ")
        read_until("glass-box# ")
        os.write(ours, b"quit\r")
        assert client.wait(10) == 0
    os.close(ours)
    assert "glass-box (not VPP)" in shown
    assert re.search(r"\nran show version\r?\n", shown)
    assert "Aborted due to a keypress." in shown
    assert fake.lines == ["show version", "count"]
