"""Traffic over memif links: packets, a generator, a sink, and a probe.

>>> from labs.traffic import Generator, Sink, udp  # doctest: +SKIP
>>> sink = Sink(there, flows=100).start()
>>> print(Generator(here, udp(flows=100), rate=1e6).run(seconds=2))
>>> print(sink.stop())

What is where: `stamp` is what the payload says, `packets` (on `headers`) and `templates` what is sent,
`generator` and `sink` (on `worker`) the two ends, `generate` (on `build`) and `absorb` their compiled loops,
`blocks` what loop and Python share, `hints` what is said to the caches, `reports` what is told afterwards.
`probe` measures latency: `probe_request` is what it sends, `probe_plan` when, `probe_kernels` its loop,
`probe_measurement` a run under way, `probe_run` (with `probe_summary`, `probe_quality` and `histogram`) what
came of it; `floor` measures the probe itself, on a `probe_pair`, by the echo in `probe_echo`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labs.traffic.floor import Floor
    from labs.traffic.generator import Generator
    from labs.traffic.histogram import Histogram
    from labs.traffic.packets import IMIX, Packets, imix, udp
    from labs.traffic.probe import Probe
    from labs.traffic.probe_echo import Echo
    from labs.traffic.probe_run import ProbeRun
    from labs.traffic.reports import GeneratorReport, SinkReport
    from labs.traffic.sink import Sink
    from labs.traffic.stamp import Stamp
    from labs.traffic.warm import warm_up

_HOMES = {
    "IMIX": "packets",
    "Echo": "probe_echo",
    "Floor": "floor",
    "Generator": "generator",
    "GeneratorReport": "reports",
    "Histogram": "histogram",
    "Packets": "packets",
    "Probe": "probe",
    "ProbeRun": "probe_run",
    "Sink": "sink",
    "SinkReport": "reports",
    "Stamp": "stamp",
    "imix": "packets",
    "udp": "packets",
    "warm_up": "warm",
}

__all__ = [
    "IMIX",
    "Echo",
    "Floor",
    "Generator",
    "GeneratorReport",
    "Histogram",
    "Packets",
    "Probe",
    "ProbeRun",
    "Sink",
    "SinkReport",
    "Stamp",
    "imix",
    "udp",
    "warm_up",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever is asked for
    """Import what is asked for when it is: numba takes a while to load."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
