"""What a knob can be set to on this engine and machine, and why not to more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs.bench.knob import COPIED, FLAT_OUT, LENT, Choice
from labs.bench.load import IMIX, SIZES
from labs.errors import LabError
from labs.kernel import allowed_cores, format_cores
from labs.placement import STATES, by_state
from labs.spoken import RX_MODES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from labs.bench.seen import Seen
    from labs.lab import Lab

RINGS = tuple(1 << power for power in range(6, 15))
_MOST_WORKERS = 4


def choices(lab: Lab) -> dict[str, tuple[Choice, ...]]:
    """Return what each knob may be set to; where a choice cannot be had, the reason is in it."""
    return {
        "pinning": tuple(Choice(state, words, _placement(lab, state)) for state, words in STATES.items()),
        "rx_mode": tuple(Choice(mode, mode) for mode in RX_MODES),
        "workers": tuple(
            Choice(count, str(count), _workers(lab, count)) for count in range(_MOST_WORKERS + 1)
        ),
        "size": tuple(Choice(size, "IMIX" if size == IMIX else f"{size} bytes") for size in SIZES),
        "rate": (Choice(FLAT_OUT, FLAT_OUT),),
        "ring": tuple(Choice(size, str(size), _ring(lab, size)) for size in RINGS),
        "memory": (Choice(LENT, "lent (zero-copy)"), Choice(COPIED, COPIED)),
    }


def reason(lab: Lab, seen: Mapping[str, Seen | None], name: str) -> str:
    """Return why a knob cannot be turned at all just now; empty if it can.

    Parameters
    ----------
    lab : Lab
    seen : mapping of str to Seen
        What was seen of its nodes last.
    name : str
        The knob's.
    """
    if name == "interval":
        return ""
    ended = [node.name for node in lab.nodes.values() if not node.alive]
    if ended:
        are, them = ("is", "it") if len(ended) == 1 else ("are", "them")
        return f"{' and '.join(ended)} {are} not running: restart {them} first."
    if name in ("size", "rate", "flows") and len(lab.nodes) < 2:  # noqa: PLR2004
        return "This lab has one node, and traffic needs a link between two."
    if name in ("ring", "memory") and not lab.current.links:
        return "This lab has no link of its own; a link made by hand is deleted and made by hand."
    if name == "rx_mode" and not any(node.rings for node in seen.values() if node):
        return "No memif is connected, so there is no queue whose mode could be set."
    return ""


def _placement(lab: Lab, state: str) -> str:
    try:
        by_state(state, [node.spec for node in lab.nodes.values()])
    except LabError as error:
        return error.message
    return ""


def _workers(lab: Lab, count: int) -> str:
    wanted, allowed = len(lab.nodes) * (1 + count), allowed_cores()
    if count == 0 or wanted <= len(allowed):
        return ""
    each = f"{count} worker{'s' * (count > 1)}" + (
        f" in each of {len(lab.nodes)} nodes" if len(lab.nodes) > 1 else ""
    )
    return (
        f"With {each} a core for each thread needs {wanted} cores, and this session may use {len(allowed)} "
        f"({format_cores(allowed)})."
    )


def _ring(lab: Lab, size: int) -> str:
    least = min((node.spec.buffers for node in lab.nodes.values()), default=0)
    if lab.engine == "glassbox" or size <= least // 2 or not lab.current.links:
        return ""
    return f"A ring of {size} takes more than half of the {least} packet buffers that a node has."
