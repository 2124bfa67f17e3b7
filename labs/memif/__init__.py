"""memif 2.0, both ends of it: shared-memory packet links, spoken from Python.

>>> from labs import memif
>>> with memif.Client("/run/vpp/memif.sock") as link:  # doctest: +SKIP
...     link.send([packet])
...     answers = link.receive()

What is where: `messages` and `wire` are the control socket, `handshake` the two sides' conversation on it,
`regions`, `ring` and `layout` the shared memory, `control`, `steps`, `hints` and `kernels` the compiled data
path, `queue` and `burst` what it looks like from Python, `endpoint` (on `link` and `link_state`) the two
ends, `microscope`, `pace`, `peek` and `open_files` the view from outside. Nothing here knows of labs,
notebooks or VPP's CLI.
"""

from __future__ import annotations

from labs.memif.burst import Burst
from labs.memif.endpoint import Client, Server
from labs.memif.errors import BadMemory, BadMessage, Down, MemifError, Refused
from labs.memif.queue import Counters
from labs.memif.warm import warm_up

__all__ = [
    "BadMemory",
    "BadMessage",
    "Burst",
    "Client",
    "Counters",
    "Down",
    "MemifError",
    "Refused",
    "Server",
    "warm_up",
]
