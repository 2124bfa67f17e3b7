"""What a lab's knobs stand at, by what was seen of its nodes; None where they do not say."""

from __future__ import annotations

from typing import TYPE_CHECKING

from labs import placement
from labs.bench.knob import COPIED, FLAT_OUT, LENT, Value
from labs.bench.stream_lines import IMIX, parts
from labs.errors import LabError
from labs.kernel import allowed_cores

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from labs.bench.load import Load
    from labs.bench.seen import Seen, Stream

MILLION = 1e6


def pinning(seen: Mapping[str, Seen], wanted: Value) -> Value:
    """Return which placement the nodes are in, or in words where each is.

    Where two placements look the same, as on one core, it is the one that is wanted.
    """
    found = [state for state in placement.STATES if _fits(seen, state)]
    if found:
        return wanted if wanted in found else found[0]
    return _each((name, placement.describe(node.cores)) for name, node in seen.items())


def _fits(seen: Mapping[str, Seen], state: str) -> bool:
    try:
        asked = placement.by_state(state, [node.spec for node in seen.values()])
    except LabError:
        return False
    return all(set(seen[name].cores) == set(cores or allowed_cores()) for name, cores in asked.items())


def rx_mode(seen: Mapping[str, Seen], links: Mapping[str, list[str]]) -> Value:
    """Return the rx-mode that all ends of links are in, or in words the mode of each.

    Parameters
    ----------
    links : mapping of str to list of str
        Each node's ends of the lab's links; what else is connected, as a probe, does not count.
    """
    return _one(
        (f"{name} {end}", mode)
        for name, node in seen.items()
        for end, mode in node.modes.items()
        if end in links[name]
    )


def workers(seen: Mapping[str, Seen]) -> Value:
    """Return how many worker threads each node has, or in words how many which has."""
    return _one((name, node.workers) for name, node in seen.items())


def ring(seen: Mapping[str, Seen], links: Mapping[str, list[str]]) -> Value:
    """Return how many descriptors the rings of the links have, or in words which has how many."""
    return _one(
        (f"{name} {end}", size)
        for name, node in seen.items()
        for end, size in node.rings.items()
        if end in links[name]
    )


def memory(seen: Mapping[str, Seen], links: Mapping[str, list[str]]) -> Value:
    """Return whether the links' clients lend their packets or copy them, or in words which does what."""
    return _one(
        (f"{name} {end}", LENT if is_lent else COPIED)
        for name, node in seen.items()
        for end, is_lent in node.lends.items()
        if end in links[name]
    )


def load(streams: tuple[Stream, ...], ours: Load) -> dict[str, Value]:
    """Return size, rate and flows of the streams that the sender shows; ours, where it is to send nothing.

    The generator shows a rate in three digits, and no ranges.
    """
    rate: Value = FLAT_OUT if ours.rate is None else ours.rate / MILLION
    if not any(stream.enabled for stream in streams):
        return {"size": ours.size, "flows": ours.flows, "rate": 0.0 if ours.running else rate}
    shown = sum(stream.rate for stream in streams)
    if ours.rate is None or abs(shown - ours.rate) > max(0.01 * ours.rate, len(streams)):
        rate = FLAT_OUT if shown == 0 else shown / MILLION
    sizes = sorted(stream.size for stream in streams)
    size: Value = ours.size
    if sizes != [part.size for part in parts(ours.size)]:
        size = IMIX if len(sizes) > 1 else sizes[0]
    return {"size": size, "flows": ours.flows, "rate": rate}


def _one(found: Iterable[tuple[str, str | int]]) -> Value:
    """Return what all have in common, or in words what each has; None where there is none."""
    pairs = list(found)
    values = {value for _, value in pairs}
    return values.pop() if len(values) == 1 else _each(pairs) or None


def _each(pairs: Iterable[tuple[str, object]]) -> str:
    return ", ".join(f"{name} {value}" for name, value in pairs)
