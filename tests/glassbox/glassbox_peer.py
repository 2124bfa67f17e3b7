"""A neighbour in a process of its own, to be killed while it sends."""

from __future__ import annotations

from labs import memif


def send_for_ever(role, path, number, frames, ready):
    """Send frames without end, and take what comes."""
    ends = {"client": memif.Client, "server": memif.Server}
    link = ends[role](path, number, **({"retry": 0.01} if role == "client" else {}))
    link.start()
    link.wait_up(30)
    burst = memif.Burst.of(frames)
    link.send_burst(burst)
    ready.set()
    while True:
        link.send_burst(burst)
        link.receive(timeout=0)
