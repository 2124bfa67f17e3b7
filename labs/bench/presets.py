"""Presets of the bench: where its knobs stand at first, for one question of the course."""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from labs.bench.knob import COPIED, FLAT_OUT, Value
from labs.errors import LabError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.bench.bench import Bench


@dataclass(frozen=True)
class Preset:
    """Where the knobs stand at first, and whether packets are sent."""

    knobs: Mapping[str, Value] = field(default_factory=dict)
    traffic: bool = False


PRESETS = {
    "pinning": Preset({"pinning": "same", "rx_mode": "polling"}),
    "rx_mode": Preset({"pinning": "apart", "rx_mode": "polling", "rate": 0.01, "interval": 2.0}),
    "throughput": Preset(
        {"pinning": "apart", "rx_mode": "polling", "size": 64, "rate": FLAT_OUT}, traffic=True
    ),
    "links": Preset(
        {"pinning": "apart", "rx_mode": "polling", "memory": COPIED, "size": 1500, "rate": FLAT_OUT},
        traffic=True,
    ),
    "reconnect": Preset({"pinning": "apart", "rx_mode": "polling", "size": 64, "rate": 0.1}, traffic=True),
}


def find_preset(name: str) -> Preset:
    """Return a preset by its name.

    Raises
    ------
    LabError
        There is none; the hint names the nearest.
    """
    if name not in PRESETS:
        near = difflib.get_close_matches(str(name), PRESETS, n=1) or list(PRESETS)
        raise LabError(f"The bench has no preset {name!r}.", f"did you mean {' or '.join(near)}?")
    return PRESETS[name]


def apply(bench: Bench, preset: Preset) -> None:
    """Turn a bench's knobs to a preset; a knob that cannot be turned here stays where it is.

    The panel then says why: a machine with one core has no core for each node, and the rest still holds.
    """
    for name, value in preset.knobs.items():
        try:
            bench.set(**{name: value})
        except LabError as error:
            bench.recorder.mark(f"{name} stays as it was: {error.message}")
    if preset.traffic:
        bench.start()
