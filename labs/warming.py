"""Compile all kernels of the course once, and say how far it is: ``python -m labs.warming``."""

from __future__ import annotations

import sys
import time

_WIDTH = 72


def warm_up() -> float:
    """Compile, or load from the cache, every kernel; print a line that moves. Return the seconds it took."""
    began = time.monotonic()
    from labs import glassbox, memif, traffic  # noqa: F401, PLC0415 - loading numba is part of the wait
    from labs.glassbox import warm as glassbox_warm  # noqa: PLC0415
    from labs.memif import warm as memif_warm  # noqa: PLC0415
    from labs.traffic import warm as traffic_warm  # noqa: PLC0415

    for name, warm in (("memif", memif_warm), ("traffic", traffic_warm), ("glass box", glassbox_warm)):
        warm.warm_up(lambda done, total, what, name=name: _tell(name, done, total, what))
    _tell("", 0, 0, "")
    return time.monotonic() - began


def _tell(part: str, done: int, total: int, what: str) -> None:
    """Write over the line before where there is a terminal; a line for each part elsewhere."""
    if sys.stdout.isatty():
        line = f"Compiling, once: {part}, {done} of {total} {what}" if part else ""
        sys.stdout.write(f"\r{line[:_WIDTH]:{_WIDTH}}" + ("" if part else "\r"))
    elif part and done == 0:
        sys.stdout.write(f"Compiling, once: {part}, {total} kernels\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        warm_up()
    except KeyboardInterrupt:
        sys.exit("\nStopped.")
