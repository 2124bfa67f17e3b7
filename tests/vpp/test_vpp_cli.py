from __future__ import annotations

import itertools
import select
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from fake_cli import GREETING, FakeCli, Hangup, cut
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from labs.errors import CliError, LabError
from labs.vpp.cli import Cli
from labs.vpp.sockets import DoorError, connect

numbers = itertools.count()
fixture_is_fine = settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None, max_examples=60
)
places = st.lists(st.integers(0, 4000), max_size=12)
# A NUL inside a line, as some commands print it; never where it would end an answer.
printed_lines = st.lists(
    st.text(
        st.characters(blacklist_characters="\r\n\0\xff", blacklist_categories=["Cs"]), min_size=1, max_size=20
    )
    .filter(lambda line: line.strip())
    .flatmap(lambda line: st.sampled_from([line, line + "\0", "x\0" + line])),
    max_size=5,
)


def as_sent(lines):
    return "".join(f"{line}\r\n" for line in lines).encode() + b"\0"


@pytest.fixture
def fake(short_dir):
    with FakeCli(
        short_dir / "cli.sock", {"show version": [b"vpp v26.06\r\n\0"], "set it": [b"\0"]}
    ) as server:
        yield server


@pytest.fixture
def cli(fake):
    client = Cli(fake.path)
    yield client
    client.close()


@fixture_is_fine
@given(printed_lines, places, places)
def test_an_answer_arrives_whole_however_it_is_cut(short_dir, lines, cuts, greeting_cuts):
    path = short_dir / f"{next(numbers)}.sock"
    answer = {"show it": cut(as_sent(lines), cuts)}
    with FakeCli(path, answer, cut(GREETING, greeting_cuts)) as server:
        client = Cli(path)
        expected = "".join(f"{line}\n" for line in lines).replace("\0", "")
        assert client.ask("show it", 20) == expected
        assert client.ask("show it", 20) == expected
        client.close()
        assert server.faults == []
        assert server.connections == 1


@fixture_is_fine
@given(st.text(st.characters(blacklist_characters="\r\n\0", blacklist_categories=["Cs"]), min_size=1), places)
def test_characters_cut_in_the_middle_are_put_together(short_dir, text, cuts):
    path = short_dir / f"{next(numbers)}.sock"
    with FakeCli(path, {"show it": cut(as_sent([text]), cuts)}):
        client = Cli(path)
        assert client.ask("show it", 20).rstrip("\n") == text.rstrip("\n")
        client.close()


def test_the_text_comes_without_its_last_line_end(cli):
    assert cli.run("show version") == "vpp v26.06"


def test_a_silent_command_answers_nothing(cli):
    assert cli.run("set it") == ""


def test_one_connection_serves_many_commands(cli, fake):
    for _ in range(20):
        cli.run("show version")
    assert fake.connections == 1


def test_a_refusal_is_an_error_with_its_column(cli, fake):
    fake.answers["show memiff"] = [b"show: unknown input `memiff'\r\n\0"]
    with pytest.raises(CliError, match="unknown input") as caught:
        cli.run("show memiff")
    assert (caught.value.statement, caught.value.at) == ("show memiff", 5)


def test_run_takes_one_statement_only(cli, fake):
    with pytest.raises(LabError, match="there are 2"):
        cli.run("show version\nshow version")
    assert fake.lines == []


def test_a_script_yields_each_answer_and_stops_at_the_first_refusal(cli, fake):
    done = []
    with pytest.raises(CliError) as caught:
        done.extend(cli.run_script("show version\nset it\nnonsense\nshow version"))
    assert done == [("show version", "vpp v26.06"), ("set it", "")]
    assert caught.value.output == "vpp v26.06"
    assert caught.value.statement == "nonsense"
    assert fake.lines == ["show version", "set it", "nonsense"]


def test_a_script_yields_as_it_goes(cli, fake):
    steps = cli.run_script("show version\nset it")
    assert next(steps) == ("show version", "vpp v26.06")
    assert fake.lines == ["show version"]
    assert next(steps) == ("set it", "")


def test_it_connects_again_when_vpp_has_closed(cli, fake):
    fake.answers["quit"] = [b"\0", Hangup]
    cli.run("quit")
    assert cli.run("show version") == "vpp v26.06"
    assert fake.connections == 2


def test_it_connects_again_to_a_vpp_started_anew(short_dir):
    path = short_dir / "cli.sock"
    client = Cli(path)
    for version in (b"one", b"two"):
        with FakeCli(path, {"show version": [version + b"\r\n\0"]}):
            assert client.run("show version") == version.decode()


def test_death_in_the_middle_of_an_answer_is_told(cli, fake):
    fake.answers["show long"] = [b"the first line\r\n", Hangup]
    with pytest.raises(DoorError, match="before its answer was complete") as caught:
        cli.run("show long")
    assert caught.value.fault == "vanished"


def test_a_command_whose_answer_was_lost_is_not_sent_again(cli, fake):
    fake.answers["create it"] = [Hangup]
    with pytest.raises(DoorError):
        cli.run("create it")
    assert fake.lines == ["create it"]


def test_silence_is_a_timeout(cli, fake):
    fake.answers["show nothing"] = []
    with pytest.raises(DoorError, match="did not answer in time") as caught:
        cli.run("show nothing", timeout=0.1)
    assert caught.value.fault == "timeout"


def test_a_late_answer_is_not_taken_for_the_next_one(cli, fake):
    released = threading.Event()

    def late(_connection):
        released.wait(10)
        yield b"too late\r\n\0"

    fake.answers["show late"] = late
    with pytest.raises(DoorError):
        cli.run("show late", timeout=0.1)
    released.set()
    assert cli.run("show version") == "vpp v26.06"


def test_a_server_that_does_not_greet_is_a_timeout(short_dir):
    path = short_dir / "cli.sock"
    with FakeCli(path, {}, greeting=()), pytest.raises(DoorError) as caught:
        Cli(path).run("show version", timeout=0.1)
    assert caught.value.fault == "timeout"


def test_each_thread_gets_its_own_answer(cli, fake):
    for number in range(40):
        fake.answers[f"show {number}"] = [f"it is {number}\r\n".encode(), b"\0"]
    with ThreadPoolExecutor(8) as pool:
        texts = list(pool.map(lambda number: cli.run(f"show {number}"), range(40)))
    assert texts == [f"it is {number}" for number in range(40)]
    assert fake.connections == 1


def test_an_absent_socket(short_dir):
    with pytest.raises(DoorError, match="There is no CLI socket") as caught:
        Cli(short_dir / "no.sock").run("show version")
    assert caught.value.fault == "absent"


def test_a_dead_vpps_socket(short_dir):
    path = short_dir / "cli.sock"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    listener.close()
    with pytest.raises(DoorError, match="no VPP listens") as caught:
        Cli(path).run("show version")
    assert caught.value.fault == "dead"


def test_a_file_that_is_no_socket(short_dir):
    (short_dir / "cli.sock").write_text("")
    with pytest.raises(DoorError, match="is not a CLI socket") as caught:
        Cli(short_dir / "cli.sock").run("show version")
    assert caught.value.fault == "not-a-socket"


def test_a_crowded_socket_is_waited_for(short_dir):
    """VPP's listeners let few connections wait; one more is refused for the moment."""
    path = short_dir / "cli.sock"
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen(0)
    waiting = [connect(path, "CLI", 1)]
    with pytest.raises(DoorError, match="no further connection") as caught:
        connect(path, "CLI", 0.05)
    assert caught.value.fault == "busy"
    timer = threading.Timer(0.05, lambda: waiting.append(listener.accept()[0]))
    timer.start()
    connect(path, "CLI", 10).close()
    timer.join()
    for each in (listener, *waiting):
        each.close()


def test_a_path_too_long(short_dir):
    with pytest.raises(DoorError, match="characters") as caught:
        Cli(short_dir / ("x" * 120)).run("show version")
    assert caught.value.fault == "too-long"


def test_a_forbidden_socket_names_owner_group_and_mode(fake, as_another_user):
    fake.path.parent.chmod(0o755)
    fake.path.chmod(0o400)
    with (
        as_another_user(),
        pytest.raises(DoorError, match=r"cli\.sock belongs to \w+:\w+, mode 0400") as caught,
    ):
        Cli(fake.path).run("show version")
    assert caught.value.fault == "forbidden"


def test_a_forbidden_directory_is_named(fake, as_another_user):
    fake.path.parent.chmod(0o600)
    with as_another_user(), pytest.raises(DoorError, match=rf"{fake.path.parent} belongs to") as caught:
        Cli(fake.path).run("show version")
    assert caught.value.fault == "forbidden"


keypresses = []


def ping_answer(connection):
    """Yield replies for ever; a keypress ends it, as VPP's ping does."""
    for number in range(10_000):
        if select.select([connection], [], [], 0.005)[0]:
            keypresses.append(connection.recv(4096))
            yield b"Aborted due to a keypress.\r\n\r\nStatistics\r\n\0"
            return
        yield f"reply {number}\r\n".encode()


def test_a_stream_yields_lines_as_they_come(cli, fake):
    go_on = threading.Event()

    def slowly(_connection):
        yield b"one\r\ntw"
        go_on.wait(10)
        yield b"o\r\nthree\r\n\0"

    fake.answers["ping it"] = slowly
    lines = cli.stream("ping it")
    assert next(lines) == "one"
    go_on.set()
    assert list(lines) == ["two", "three"]


def test_a_stream_closed_early_stops_the_command(cli, fake, eventually):
    fake.answers["ping it"] = ping_answer
    keypresses.clear()
    lines = cli.stream("ping it")
    assert next(lines) == "reply 0"
    lines.close()
    assert keypresses == [b"\n"]
    count = fake.connections
    assert cli.run("show version") == "vpp v26.06"
    eventually(lambda: "show version" in fake.lines)
    assert fake.connections == count + 1  # the stream had a connection of its own


def test_a_stream_leaves_the_other_commands_alone(cli, fake):
    fake.answers["ping it"] = ping_answer
    lines = cli.stream("ping it")
    next(lines)
    assert cli.run("show version") == "vpp v26.06"
    lines.close()


def test_a_stream_may_last_longer_than_its_timeout(cli, fake):
    def steadily(_connection):
        for number in range(5):
            time.sleep(0.1)
            yield f"{number}\r\n".encode()
        yield b"\0"

    fake.answers["ping it"] = steadily
    assert list(cli.stream("ping it", timeout=0.4)) == ["0", "1", "2", "3", "4"]


def test_a_stream_that_falls_silent_is_a_timeout(cli, fake):
    fake.answers["ping it"] = [b"one\r\n"]
    lines = cli.stream("ping it", timeout=0.1)
    assert next(lines) == "one"
    with pytest.raises(DoorError, match="did not answer"):
        next(lines)
