"""The bench's knobs: each turn of one is a few lines of VPP's CLI, Docker or taskset, and is read back."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, cast

from labs.bench import limits, read_back, seen
from labs.bench.knob import FLAT_OUT, LENT, Knob, Value
from labs.bench.load import MOST_FLOWS, Load
from labs.bench.read_back import MILLION
from labs.errors import LabError, LinkDown
from labs.link_lines import link_names
from labs.placement import STATES
from labs.spoken import RX_MODES

if TYPE_CHECKING:
    from collections.abc import Callable

    from labs.bench.stream_lines import Size
    from labs.lab import Lab

__all__ = ["FLAT_OUT", "MOST_MPPS", "Knobs"]

MOST_MPPS = 30.0
MADE_ANEW = ("workers", "ring", "memory")
"""Knobs whose turn makes nodes or links anew."""


class Knobs:
    """What can be turned in a lab while it runs.

    Parameters
    ----------
    lab : Lab
        Started.

    Attributes
    ----------
    all : dict of str to Knob
        ``pinning``, ``rx_mode``, ``workers``, ``size``, ``rate``, ``flows``, ``ring``, ``memory``,
        ``interval``.
    load : Load
        The traffic.
    at_start : dict
        What each knob was read back as at first.

    Notes
    -----
    Not for two threads at a time: see `labs.bench.conductor.Conductor`.
    """

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.load = Load(lab)
        self.all = {
            knob.name: knob
            for knob in (
                Knob("pinning", "pinning"),
                Knob("rx_mode", "rx-mode"),
                Knob("workers", "workers"),
                Knob("size", "frame size", "bytes"),
                Knob("rate", "offered rate", "Mpps", span=(0, MOST_MPPS)),
                Knob("flows", "flows", span=(1, MOST_FLOWS), whole=True),
                Knob("ring", "ring size", "descriptors"),
                Knob("memory", "link memory"),
                Knob("interval", "probe interval", "ms", span=(0.1, 1000), wanted=10.0),
            )
        }
        self._turns: dict[str, Callable[[Value], list[str]]] = {
            "pinning": lambda value: self.lab.place(str(value)).commands,
            "rx_mode": lambda value: self._set_mode(str(value)),
            "workers": self._set_workers,
            "size": lambda value: self.load.set(size=cast("Size", value)),
            "rate": lambda value: self.load.set(rate=_rate(value)),
            "flows": lambda value: self.load.set(flows=cast("int", value)),
            "ring": lambda value: self._relink(ring_size=value),
            "memory": lambda value: self._relink(zero_copy=value == LENT),
            "interval": lambda _: [],
        }
        self._seen: dict[str, seen.Seen | None] = {}
        for name, value in self.read_back().items():
            self.all[name].wanted = value
        self.at_start = {
            name: knob.wanted for name, knob in self.all.items() if knob.takes_value(knob.wanted)
        }

    def turn(self, name: str, value: Value) -> list[str]:
        """Set one knob; return the equal shell lines.

        Raises
        ------
        LabError
            There is no such knob, it cannot be set to that, or it did not work; a node that has ended is
            named. What is so then, `read_back` tells.
        """
        if name not in self.all:
            raise LabError(f"There is no knob {name!r}.", f"the knobs are {', '.join(self.all)}.")
        knob = self.all[name]
        self.refresh()
        if refusal := knob.refusal(value):
            raise LabError(refusal, "choose another value.")
        for node in self.lab.nodes.values():
            node.must_run()
        is_so = name in MADE_ANEW and knob.actual == value
        lines = [] if is_so else self._turns[name](value)  # nothing is started or made anew for nothing
        knob.wanted = value
        return lines

    def traffic(self, *, on: bool) -> list[str]:
        """Send packets, or send no more; return the equal shell lines."""
        return self.load.start() if on else self.load.stop()

    def restart(self, node: str) -> list[str]:
        """Start a node anew, with its cores, links, rx-mode and traffic as they were; return shell lines."""
        _ = self.lab[node]  # else traffic ends for a node that there is not
        lines = self.load.suspend()
        try:
            lines += self.lab.rebuild_node(node)
        except LinkDown:  # it runs: an end elsewhere may be missing, from a turn that was cut short
            lines += self.lab.rebuild_links()
        return lines + self._bring_back()

    def read_back(self) -> dict[str, Value]:
        """Return what each knob stands at, by the kernel and the nodes; None where they do not say.

        What a load would send that is not running, how many flows it has, and how often the probe asks,
        nobody knows but we.
        """
        self._seen = seen.look(self.lab.nodes)
        sender = next(iter(self._seen.values()))
        found: dict[str, Value] = dict.fromkeys(self.all)
        found["interval"] = self.all["interval"].wanted
        found |= read_back.load(sender.streams if sender else (), self.load) if sender else {}
        alive = {name: node for name, node in self._seen.items() if node}
        if len(alive) == len(self._seen):
            links = {name: link_names(self.lab.current, name) or list(alive[name].rings) for name in alive}
            found["pinning"] = read_back.pinning(alive, self.all["pinning"].wanted)
            found["rx_mode"] = read_back.rx_mode(alive, links)
            found["workers"] = read_back.workers(alive)
            found["ring"] = read_back.ring(alive, links)
            found["memory"] = read_back.memory(alive, links)
        for name, value in found.items():
            self.all[name].actual = value
        self.refresh()
        return found

    def follow(self) -> None:
        """Take what a cell has set for what is wanted, as far as it was read back last.

        What the traffic is to be, a cell does not set.
        """
        for name in ("pinning", "rx_mode", *MADE_ANEW):
            knob = self.all[name]
            if knob.takes_value(knob.actual):
                knob.wanted = knob.actual

    def refresh(self) -> None:
        """Say anew which knobs and which of their choices cannot be had here just now, and why.

        It asks the nodes nothing: it goes by what `read_back` saw last, and by who is alive.
        """
        for name, choices in limits.choices(self.lab).items():
            self.all[name].choices = choices
        for name, knob in self.all.items():
            knob.disabled = limits.reason(self.lab, self._seen, name)

    def _set_mode(self, mode: str) -> list[str]:
        return [line for node in self.lab.nodes.values() for line in node.in_shell(node.rx_mode(mode))]

    def _relink(self, **changes: Value) -> list[str]:
        lines = self.load.suspend()
        try:
            lines += self.lab.rebuild_links(**changes)
        finally:
            lines += self._resumed()
        return lines

    def _set_workers(self, count: Value) -> list[str]:
        pinning = self.all["pinning"].actual
        lines = self.load.suspend()
        for name in self.lab.nodes:
            lines += self.lab.rebuild_node(name, workers=cast("int", count))
        if pinning in STATES:  # there are other threads now
            with contextlib.suppress(LabError):  # too few cores for them: where they are is read back
                lines += self.lab.place(str(pinning)).commands
        return lines + self._bring_back()

    def _bring_back(self) -> list[str]:
        """Set again what nodes that were started anew, and links that connected anew, have forgotten."""
        if not all(node.alive for node in self.lab.nodes.values()):
            return []
        mode = self.all["rx_mode"].wanted
        again = self._set_mode(str(mode)) if mode in RX_MODES and mode != "polling" else []
        return again + self.load.resume()

    def _resumed(self) -> list[str]:
        """Send again as far as it can be: why links are down matters more than that nothing can be sent."""
        try:
            return self.load.resume()
        except LabError:
            return []


def _rate(value: Value) -> float | None:
    return None if value == FLAT_OUT else cast("float", value) * MILLION
