"""show errors and clear errors: why packets were dropped, and what else nodes count."""

from __future__ import annotations

from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from labs.glassbox import drops
from labs.glassbox.commands.columns import centred, thread_name
from labs.glassbox.commands.command import command

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from labs.glassbox.box import Box
    from labs.glassbox.commands.words import Words

_GOOD = {
    drops.ECHO_REPLIES_SENT,
    drops.ECHO_REPLIES_RECEIVED,
    drops.ARP_REQUESTS_SENT,
    drops.ARP_REPLIES_SENT,
    drops.ARP_REPLIES_RECEIVED,
}
"""What is counted but is no fault."""

_CLEARED: WeakKeyDictionary[Box, NDArray[np.uint64]] = WeakKeyDictionary()


@command("show errors", "show node counters", help="show errors [verbose]")
def show_errors(box: Box, words: Words) -> str:
    """Print what was counted since the last ``clear errors``; `verbose`: by each thread, too."""
    is_verbose = words.take("verbose")
    words.end()
    counts = box.counters.errors()
    if box in _CLEARED:
        counts = counts - _CLEARED[box]
    lines = [
        centred("Count", 10)
        + centred("Node", 35)
        + centred("Reason", 35)
        + centred("Severity", 10)
        + (centred("Index", 6) if is_verbose else "")
    ]
    if is_verbose:
        for thread, mine in enumerate(counts):
            lines += [f"Thread {thread} ({thread_name(thread)}):", *_rows(mine, is_verbose=True)]
        lines.append("Total:")
    lines += _rows(counts.sum(axis=0), is_verbose=is_verbose)
    return "\n".join(lines)


@command("clear errors", "clear node counters", help="Clear error counters")
def clear_errors(box: Box, words: Words) -> str:
    """Count from here."""
    words.end()
    _CLEARED[box] = box.counters.errors()
    return ""


def _rows(counts: NDArray[np.uint64], *, is_verbose: bool) -> list[str]:
    rows = []
    for number, ((node, reason), count) in enumerate(zip(drops.COUNTED, counts.tolist(), strict=True)):
        if count:
            severity = "info" if number in _GOOD else "error"
            row = f"{count:10}{centred(node, 35)}{centred(reason, 35)}{centred(severity, 10)}"
            rows.append(row + (f"{number:6}" if is_verbose else ""))
    return rows
