from __future__ import annotations

import socket
import stat

import pytest
from doors_loop import DoorLoop, enter, open_descriptors, pump, short_directory

from labs.errors import LabError
from labs.glassbox.doors import CliDoor, StatsDoor, StatsSegment
from labs.glassbox.doors import door as door_module
from labs.glassbox.doors.listening import MAX_PATH, Listening

KINDS = (socket.SOCK_STREAM, socket.SOCK_SEQPACKET)


@pytest.fixture
def place():
    with short_directory() as path:
        yield path


@pytest.mark.parametrize("kind", KINDS)
def test_the_socket_of_one_who_has_died_is_replaced(place, kind):
    path = place / "s"
    dead = Listening(path, kind)
    dead.socket.close()
    fresh = Listening(path, kind)
    enter(path, kind).close()
    fresh.close()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("other", KINDS)
def test_a_living_listener_is_left_alone(place, kind, other):
    path = place / "s"
    living = Listening(path, kind)
    with pytest.raises(LabError, match="Another program listens"):
        Listening(path, other)
    enter(path, kind).close()
    sock, _ = living.socket.accept()
    sock.close()
    with pytest.raises(BlockingIOError):
        living.socket.accept()  # the one who looked did not come in
    living.close()


def test_a_file_that_is_no_socket_is_left_alone(place):
    path = place / "s"
    path.write_text("dear", encoding="utf-8")
    with pytest.raises(LabError, match="no socket"):
        Listening(path, socket.SOCK_STREAM)
    assert path.read_text(encoding="utf-8") == "dear"


def test_a_link_to_a_file_is_left_alone(place):
    (place / "file").write_text("dear", encoding="utf-8")
    (place / "s").symlink_to(place / "file")
    with pytest.raises(LabError, match="no socket"):
        Listening(place / "s", socket.SOCK_STREAM)
    assert (place / "file").read_text(encoding="utf-8") == "dear"


def test_only_the_owner_may_come_in(place):
    listening = Listening(place / "s", socket.SOCK_STREAM)
    assert stat.S_IMODE((place / "s").stat().st_mode) == 0o600
    listening.close()


def test_a_path_too_long_is_said_to_be(place):
    with pytest.raises(LabError, match=f"{MAX_PATH} bytes"):
        Listening(place / ("x" * MAX_PATH), socket.SOCK_STREAM)


def test_a_directory_that_is_not_there_is_told(place):
    with pytest.raises(LabError, match="Nothing can listen"):
        Listening(place / "no" / "s", socket.SOCK_STREAM)


def test_closing_removes_the_socket_once_and_no_other(place):
    path = place / "s"
    first = Listening(path, socket.SOCK_STREAM)
    first.close()
    assert not path.exists()
    second = Listening(path, socket.SOCK_STREAM)
    first.close()
    assert path.exists()
    second.close()


def test_a_failed_door_leaves_no_descriptor_open(place):
    path = place / "s"
    path.write_text("", encoding="utf-8")
    before = open_descriptors()
    with pytest.raises(LabError):
        CliDoor(path, str)
    assert open_descriptors() == before


def test_a_closed_door_leaves_no_descriptor_open_and_no_client_waiting(place):
    before = open_descriptors()
    door = CliDoor(place / "s", str)
    client = enter(place / "s")
    pump(door)
    door.close()
    door.close()
    door.ready()
    door.tick()
    while client.recv(4096):
        pass
    client.close()
    assert open_descriptors() == before
    assert not (place / "s").exists()


def test_more_clients_than_there_are_seats_wait_for_one(place, monkeypatch):
    monkeypatch.setattr(door_module, "_MOST_CLIENTS", 2)
    with CliDoor(place / "s", str) as door:
        first, second, third = (enter(place / "s") for _ in range(3))
        pump(door)
        assert first.recv(100)
        assert second.recv(100)
        third.settimeout(0)
        with pytest.raises(BlockingIOError):
            third.recv(100)
        first.close()
        pump(door)
        assert third.recv(100)
        second.close()
        third.close()


def test_a_door_without_descriptors_to_give_waits_and_does_not_spin(place, monkeypatch):
    with CliDoor(place / "s", str) as door:
        client = enter(place / "s")

        class Full:
            fileno = door._listening.socket.fileno
            close = door._listening.socket.close

            @staticmethod
            def accept():
                raise OSError(24, "Too many open files")

        whole = door._listening.socket
        door._listening.socket = Full
        door.ready()
        assert not door._epoll.poll(0)  # nothing that would wake the loop at once
        door._listening.socket = whole
        pump(door)
        assert client.recv(100)
        client.close()


def test_doors_of_all_kinds_share_a_loop(place):
    segment = StatsSegment(1 << 20, 16)
    with DoorLoop(CliDoor(place / "c", str), StatsDoor(place / "s", segment)):
        assert enter(place / "c").recv(10)
        assert enter(place / "s", socket.SOCK_SEQPACKET).recv(10)
    segment.close()
