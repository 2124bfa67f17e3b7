from __future__ import annotations

import contextlib
import http.server
import os
import socket
import socketserver
import tempfile
import threading
from pathlib import Path

import pytest
from docker.errors import APIError, ImageNotFound
from owners import read_until, unprivileged

from labs import two_vpps
from labs.engines import docker
from labs.engines.docker import DockerEngine, DockerNode
from labs.errors import LabError
from labs.topology import NodeSpec

# Says what the engine says of itself, to a user without rights.
AVAILABILITY = """
    found = labs.engines.docker.DockerEngine().availability()
    print("reason", found.reason, flush=True)
    print("hint", found.hint, flush=True)
"""


@pytest.fixture
def short():
    with tempfile.TemporaryDirectory(prefix="ld", dir="/tmp") as place:
        yield Path(place)


def availability():
    found = DockerEngine().availability()
    assert not found.ok
    return found.reason, found.hint


def test_without_a_daemon_it_says_so(monkeypatch, short):
    monkeypatch.setenv("DOCKER_HOST", f"unix://{short}/docker.sock")
    reason, hint = availability()
    assert reason == f"Docker was not found: there is no {short}/docker.sock."
    assert "install Docker" in hint


def test_a_socket_behind_which_nobody_listens(monkeypatch, short):
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(f"{short}/docker.sock")
    monkeypatch.setenv("DOCKER_HOST", f"unix://{short}/docker.sock")
    reason, hint = availability()
    assert reason == f"Docker does not answer at unix://{short}/docker.sock."
    assert "start it" in hint


@pytest.mark.parametrize("where", ["tcp://127.0.0.1:1", "nonsense", "http://", "ssh://nobody@127.0.0.1:1"])
def test_an_address_that_leads_nowhere(monkeypatch, where):
    monkeypatch.setenv("DOCKER_HOST", where)
    reason, hint = availability()
    assert where in reason
    assert "DOCKER_HOST" in hint


def test_a_daemon_that_this_user_may_not_use(monkeypatch, short):
    short.chmod(0o755)
    path = short / "docker.sock"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        path.chmod(0o000)
        monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
        with unprivileged(AVAILABILITY) as nobody:
            *_, reason, hint = read_until(nobody, "hint")
    assert reason.startswith(
        f"reason Docker is here, but you may not use it: {path} (mode s---------, owner "
    )
    assert "usermod -aG docker" in hint


@contextlib.contextmanager
def daemon(path, answers):
    """Serve canned answers as a Docker daemon would; any other request gets a 500."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            body = answers.get(self.path.removeprefix("/v1.41").split("?")[0])
            self.send_response(200 if body is not None else 500)
            self.send_header("Content-Type", "application/json")
            self.end_headers()
            self.wfile.write((body or '{"message": "it is broken"}').encode())

        def address_string(self):
            return ""

        def log_message(self, *_):
            pass

    class Server(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True

    with Server(str(path), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield
        server.shutdown()


VERSION = '{"ApiVersion": "1.41", "MinAPIVersion": "1.12"}'


def test_a_daemon_in_a_virtual_machine_is_told_from_a_local_one(monkeypatch, short):
    path = short / "docker.sock"
    monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
    answers = {"/version": VERSION, "/_ping": "OK", "/info": '{"Name": "docker-desktop"}'}
    with daemon(path, answers):
        reason, hint = availability()
    assert "another machine or in a virtual one (docker-desktop)" in reason
    assert "in Linux" in hint


def test_a_daemon_that_breaks_is_reported_in_a_sentence(monkeypatch, short):
    path = short / "docker.sock"
    monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
    with daemon(path, {"/version": VERSION, "/_ping": "OK"}):
        reason, hint = availability()
    assert reason.startswith("Docker does not answer as it should: ")
    assert "docker info" in hint


@pytest.mark.engine("docker")
def test_an_image_that_is_missing(monkeypatch):
    monkeypatch.setenv("LABS_VPP_IMAGE", "vpp-labs/none-of-ours:1")
    reason, hint = availability()
    assert reason == "Docker is here, but it does not have the image vpp-labs/none-of-ours:1."
    assert "make image" in hint


@pytest.mark.engine("docker")
def test_a_start_that_docker_refuses_is_told_in_a_sentence_and_leaves_nothing(monkeypatch):
    monkeypatch.setattr(DockerEngine, "availability", lambda _: docker.Availability(ok=True, reason=""))
    monkeypatch.setenv("LABS_VPP_IMAGE", "vpp-labs/none-of-ours:1")
    with pytest.raises(LabError, match="Docker did not start vpp1: "):
        two_vpps("refused", engine="docker").start()


class Container:
    """A container whose every operation fails as given."""

    id = "abc"
    name = "lab-vpp1-abc"

    def __init__(self, error):
        self.error = error

    def __getattr__(self, name):
        def fail(*_, **__):
            raise self.error

        return fail


@pytest.mark.parametrize(
    "error", [APIError("removal is already in progress"), ImageNotFound("gone"), ConnectionError("no daemon")]
)
def test_a_node_that_docker_no_longer_knows_is_ended(error):
    node = DockerNode("vpp1", Container(error), pid=2**22 + 1, shell="")
    node.stop()
    node.kill()
    assert not node.alive()
    assert node.ending()
    assert node.log() == ""


def test_cores_that_docker_cannot_give_are_told_in_a_sentence():
    error = APIError("Requested CPUs are not available", explanation="Requested CPUs are not available")
    with pytest.raises(LabError, match="vpp1 could not be moved to core 1: Requested CPUs are not available"):
        DockerNode("vpp1", Container(error), pid=os.getpid(), shell="").pin({os.getpid(): (1,)})


@pytest.mark.engine("docker")
def test_a_container_has_no_privileges_no_network_and_its_limits():
    lab = two_vpps("limits", engine="docker")
    lab.start()
    try:
        container = lab["vpp1"].handle.container
        host = container.attrs["HostConfig"]
        assert host["NetworkMode"] == "none"
        assert host["CapDrop"] == ["ALL"]
        assert host["ReadonlyRootfs"]
        assert "no-new-privileges" in host["SecurityOpt"]
        assert not host["Privileged"]
        assert host["Memory"] > NodeSpec("vpp1").heap_mb << 20
        assert container.attrs["Config"]["User"] == f"{os.getuid()}:{os.getgid()}"
        status = Path(f"/proc/{lab['vpp1'].handle.pid}/status").read_text()
        assert "CapEff:\t0000000000000000" in status
        assert "NoNewPrivs:\t1" in status
    finally:
        lab.stop()
