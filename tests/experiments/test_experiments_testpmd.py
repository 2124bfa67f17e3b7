from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from labs.errors import LabError, NodeDied, NotAvailable
from labs.experiments import testpmd
from labs.experiments import testpmd_devices as devices
from labs.experiments.testpmd import Testpmd

SAYS = """\
#!/bin/sh
echo "EAL: starting $*"
echo "$VPP_LABS" > "$XDG_RUNTIME_DIR/token"
case "$*" in
  *taken.sock*)
    echo "memif_socket_create(): Failed to setup socket taken.sock: Address already in use"
    echo "testpmd: No probed ethernet devices" ;;
esac
printf 'testpmd> '
while read line; do
  case "$line" in
    quit) exit 0 ;;
    die) echo "Segmentation fault"; exit 1 ;;
    hang) read never ;;
    late) printf 'testpmd> '; sleep 0.3; echo "did late" ;;
    "show port stats 0") printf '  RX-packets: 12  RX-missed: 0\\n  TX-packets: 34\\n' ;;
    *) echo "did $line" ;;
  esac
  printf 'testpmd> '
done
"""


@pytest.fixture
def fake(tmp_path, monkeypatch):
    """Put a stand-in for testpmd on the path, and return a function that starts it."""
    program = tmp_path / "bin" / "dpdk-testpmd"
    program.parent.mkdir()
    program.write_text(SAYS)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    made = []

    def start(**changes):
        made.append(
            Testpmd(
                **{
                    "place": tmp_path,
                    "token": "abc",
                    "devices": ["net_null0"],
                    "forward": "rxonly",
                    "cores": (0, 0),
                    **changes,
                }
            )
        )
        return made[-1]

    yield start
    for each in made:
        each.stop()


def test_it_answers_and_counts(fake):
    peer = fake()
    assert "did start" in peer.do("start")
    assert (peer.packets("RX"), peer.packets("TX")) == (12, 34)


def test_a_prompt_that_comes_late_is_not_taken_for_the_answer(fake):
    peer = fake()
    peer.do("late")  # testpmd prints some answers after the prompt, and then the prompt again
    assert peer.packets("TX") == 34


def test_one_without_a_port_is_refused_with_the_reason(fake):
    with pytest.raises(LabError, match=r"has no port: .*Address already in use") as news:
        fake(devices=["net_memif0,socket=taken.sock"])
    assert "--vdev=net_memif0,socket=taken.sock" in news.value.hint


def test_it_bears_the_labs_token_for_the_reaper(fake, tmp_path):
    fake()
    assert (tmp_path / "token").read_text().strip() == "abc"


def test_it_is_ended_and_may_be_ended_twice(fake):
    peer = fake()
    peer.stop()
    peer.stop()
    assert peer.child.poll() is not None


def test_one_that_ends_is_told_of_with_its_last_line(fake):
    peer = fake()
    with pytest.raises(NodeDied, match=r"testpmd has ended\.") as news:
        peer.do("die")
    assert news.value.hint == "its last line: Segmentation fault"
    with pytest.raises(NodeDied):
        peer.do("start")


def test_one_that_does_not_answer_is_told_of(fake, monkeypatch):
    monkeypatch.setattr(testpmd, "_ANSWERS_WITHIN", 0.2)
    monkeypatch.setattr(testpmd, "_ENDS_WITHIN", 0.2)
    with pytest.raises(LabError, match=r"did not answer within 0\.2 s"):
        fake().do("hang")


def test_a_port_that_it_does_not_count_is_named(fake):
    with pytest.raises(LabError, match="does not count the packets of port 3"):
        fake().packets(port=3)


def test_where_there_is_none_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(NotAvailable, match="testpmd is not here") as told:
        Testpmd(tmp_path, "abc", [], "rxonly", (0, 0))
    assert "apt-get install" in told.value.hint


def test_devices_have_rings_of_one_size():
    socket = Path("/run/x.sock")
    assert "rsize=10" in devices.memif(socket, "client")
    assert "queue_size=1024" in devices.virtio_user(socket)
    assert "rsize=8" in devices.memif(socket, "client", 256)
    assert "queue_size=256" in devices.virtio_user(socket, 256)


def test_zero_copy_is_said_where_it_is_wanted():
    assert "zero-copy=yes" in devices.memif(Path("/s"), "client", zero_copy=True)
    assert "zero-copy" not in devices.memif(Path("/s"), "client")


@pytest.mark.parametrize("ring", [0, 1, 3, 1000, 32768, -2, True, 1024.0])
def test_a_ring_that_a_link_refuses_is_refused_here(ring):
    for device in (
        lambda: devices.memif(Path("/s"), "server", ring),
        lambda: devices.virtio_user(Path("/s"), ring),
    ):
        with pytest.raises(LabError, match="A ring cannot have"):
            device()
