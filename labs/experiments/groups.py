"""A run's summary as a table: its groups of figures, each as it is read."""

from __future__ import annotations

from typing import Any

import pandas as pd

_MANY = 4  # groups; more do not stand side by side
_SPREAD = {"median", "lowest", "highest"}
_LONG = 1000  # from here on three digits would need a power of ten


def table(summary: dict[str, Any]) -> pd.DataFrame:
    """Return a summary's groups, a column each; where they are many, a row each."""
    groups = {key: value for key, value in summary.items() if _is_group(value)}
    frame = pd.DataFrame(
        {name: {what: short(value) for what, value in group.items()} for name, group in groups.items()}
    )
    return frame.T if len(groups) > _MANY else frame


def short(value: float | dict[str, float | None] | None) -> str:
    """Return a figure as it is read: ``84.1``, or ``84.1 (79.6 to 90.2)`` of several windows."""
    if isinstance(value, dict):
        low, middle, high = (short(value[name]) for name in ("lowest", "median", "highest"))
        return middle if low == high else f"{middle} ({low} to {high})"
    if value is None:
        return "n/a"
    return f"{value:.3g}" if abs(value) < _LONG else f"{value:.0f}"


def is_spread(value: Any) -> bool:  # noqa: ANN401 - a summary holds what its experiment likes
    """Return whether a part of a summary is a figure with its lowest and highest window."""
    return isinstance(value, dict) and set(value) == _SPREAD


def _is_group(value: Any) -> bool:  # noqa: ANN401 - likewise
    """Return whether a part of a summary is a group of figures."""
    return isinstance(value, dict) and all(
        each is None or isinstance(each, int | float) or is_spread(each) for each in value.values()
    )
