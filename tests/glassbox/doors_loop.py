"""What tests of the doors need: a loop, a place for sockets, VPP's own clients."""

from __future__ import annotations

import contextlib
import os
import select
import selectors
import shutil
import socket
import tempfile
import threading
from pathlib import Path

TICK = 0.005


class DoorLoop:
    """Runs doors in a thread, as the glass box's main loop does; `faults` holds what escaped from them."""

    def __init__(self, *doors):
        self.doors = doors
        self.faults = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        self._thread.join(10)
        for door in self.doors:
            door.close()
        assert not self.faults, self.faults

    def _run(self):
        with selectors.DefaultSelector() as selector:
            for door in self.doors:
                selector.register(door, selectors.EVENT_READ, door)
            while not self._stop.is_set():
                try:
                    for key, _ in selector.select(TICK):
                        key.data.ready()
                    for door in self.doors:
                        door.tick()
                except Exception as error:  # noqa: BLE001 - a test looks at it
                    self.faults.append(error)
                    return


def pump(door, turns=1000):
    """Let a door do by hand whatever it has to do at once; it must come to rest."""
    for _ in range(turns):
        door.tick()
        if not select.select([door], [], [], 0)[0]:
            return
        door.ready()
    raise AssertionError("the door never comes to rest")


@contextlib.contextmanager
def short_directory():
    """Make a directory with a path short enough for sockets."""
    path = Path(tempfile.mkdtemp(prefix="lg", dir="/tmp"))
    try:
        yield path
    finally:
        shutil.rmtree(path)


def enter(path, kind=socket.SOCK_STREAM):
    """Return a socket connected to a door, which must not wait for an answer that is late."""
    sock = socket.socket(socket.AF_UNIX, kind)
    sock.settimeout(10)
    sock.connect(str(path))
    return sock


def open_descriptors():
    """Return how many descriptors this process has open."""
    return len(list(Path("/proc/self/fd").iterdir()))


def program_of_vpp(name):
    """Return a program of VPP's, or None: $LABS_VPP (a file, or its installation), PATH, /opt/vpp."""
    named = os.environ.get("LABS_VPP")
    places = [Path(named).parent / name, Path(named) / "bin" / name] if named else []
    on_path = shutil.which(name)
    places += [Path(on_path)] if on_path else []
    places.append(Path("/opt/vpp/bin") / name)
    return next((place for place in places if place.is_file() and os.access(place, os.X_OK)), None)


def definitions_of_vpp():
    """Return the directory with the API definitions of an installed VPP, or None."""
    program = program_of_vpp("vpp")
    places = [Path("/usr/share/vpp/api")]
    if program:
        places.insert(0, program.resolve().parent.parent / "share" / "vpp" / "api")
    return next((place for place in places if place.is_dir()), None)
