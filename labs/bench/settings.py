"""What was set differently in two recordings, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from labs.placement import STATES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from labs.bench.recording import Recording

# What is no setting, or follows from one.
_ASIDE = {"machine", "labs", "data plane", "nodes", "cores asked", "cores read back"}
_UNITS = {
    "frame size": "bytes",
    "offered rate": "Mpps",
    "ring size": "descriptors",
    "probe interval": "ms",
}
_MANY = 3


def differences(a: Recording, b: Recording) -> str:
    """Return what B was set to instead of A, as the beginning of a sentence; empty if it is not known.

    Where the facts tell nothing, the last mark in B that A has not does.
    """
    keys = [key for key in b.facts if key not in _ASIDE and key in a.facts and a.facts[key] != b.facts[key]]
    told = [
        f"{key} {setting(key, b.facts[key])} instead of {setting(key, a.facts[key])}" for key in keys[:_MANY]
    ]
    if more := len(keys) - _MANY:
        told += [f"{more} more settings changed" if more > 1 else "one more setting changed"] * (more > 0)
    if told:
        return f"with {list_of(told)}"
    known = {mark.label for mark in a.marks}
    new = [mark.label for mark in b.marks if mark.label not in known]
    return f"after “{new[-1]}”" if new else ""


def setting(key: str, value: Any) -> str:  # noqa: ANN401 - facts are whatever JSON takes
    """Return what something is set to, in words and with its unit."""
    if key == "pinning" and isinstance(value, str):
        return STATES.get(value, value)
    if value is None:
        return "unknown"
    if isinstance(value, int | float) and not isinstance(value, bool) and key in _UNITS:
        return f"{value:g} {_UNITS[key]}"
    return list_of([str(each) for each in value]) if isinstance(value, list | tuple) else str(value)


def list_of(words: Sequence[str]) -> str:
    """Return some words as a list in a sentence."""
    return ", ".join(words[:-1]) + " and " + words[-1] if len(words) > 1 else "".join(words)
