"""Both ends of one ring in one process, and patience."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from labs.memif.doorbell import make_doorbell
from labs.memif.layout import Layout
from labs.memif.queue import Queue
from labs.memif.regions import Region, make_region

if TYPE_CHECKING:
    from labs.memif.ring import Ring

SETTLES_WITHIN = 5.0


@dataclass
class Loop:
    """A ring, who sends on it, who receives from it, and the memory they share."""

    sender: Queue
    receiver: Queue
    ring: Ring
    region: Region

    def close(self):
        self.sender.close()
        self.receiver.close()

    @property
    def client(self):
        return self.sender if self.ring.place.is_s2m else self.receiver

    @property
    def server(self):
        return self.receiver if self.ring.place.is_s2m else self.sender


def loop(direction="s2m", log2_size=3, buffer_size=64, line=64):
    """Make the two ends of a ring: the client sends on ``s2m``, the server on ``m2s``."""
    layout = Layout(1, 1, log2_size, buffer_size, line)
    region, descriptor = make_region(0, layout.region_size, "memif test")
    os.close(descriptor)
    number = 0 if direction == "s2m" else 1
    ring = layout.write(region)[number]
    bell = make_doorbell()
    client = Queue(ring, [region], bell, is_client=True, table=layout.descriptors(number))
    server = Queue(ring, [region], os.dup(bell), is_client=False)
    if direction == "s2m":
        return Loop(client, server, ring, region)
    client.offer_all()
    return Loop(server, client, ring, region)


def eventually(condition, within=SETTLES_WITHIN):
    deadline = time.monotonic() + within
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.01)
    return True
