"""papi at the door of a glass box's API, for tests of what is behind it."""

from __future__ import annotations

import contextlib

from doors_loop import DoorLoop, short_directory
from vpp_papi import VPPApiClient

from labs.glassbox.doors import ApiDoor
from labs.glassbox.handlers import handlers

ALL = 0xFFFFFFFF
PATIENCE = 30  # seconds that an answer may take on a busy machine


class Api:
    """papi at the door of box a: each message as a function, whose details come as a list."""

    def __init__(self, client):
        self._client = client

    def __getattr__(self, name):
        return getattr(self._client.api, name)

    def must(self, name, **fields):
        reply = getattr(self, name)(**fields)
        assert reply.retval == 0, reply
        return reply

    def refused(self, name, **fields):
        return getattr(self, name)(**fields).retval


@contextlib.contextmanager
def door_of(pair):
    """Serve box a's API in a thread, and let papi in."""
    with short_directory() as folder:
        door = ApiDoor(folder / "api.sock", handlers(pair.boxes["a"], pair.clis["a"]))
        with DoorLoop(door):
            client = VPPApiClient(
                apifiles=[], server_address=str(folder / "api.sock"), bootstrapapi=True, read_timeout=PATIENCE
            )
            client.connect("test")
            try:
                yield Api(client)
            finally:
                client.disconnect()
