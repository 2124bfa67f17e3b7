"""VPP Labs: what a notebook imports, and nothing else."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from labs.bench.replay import replay
    from labs.checkup import doctor
    from labs.course.exercise import exercise
    from labs.course.progress import progress
    from labs.course.quiz import quiz
    from labs.course.verdict import verdict
    from labs.errors import LabError
    from labs.experiments import load_run
    from labs.experiments.leak import spy, whisper
    from labs.experiments.links import links
    from labs.experiments.ping_on_the_loop import ping_on_the_loop
    from labs.experiments.pinning import pinning
    from labs.experiments.reconnect import reconnect
    from labs.experiments.rx_mode import rx_mode
    from labs.experiments.throughput import throughput
    from labs.lab import Lab
    from labs.microscope_view import microscope
    from labs.stock import one_vpp, one_with_vhost, two_vpps
    from labs.topology import LinkSpec, NodeSpec, Topology
    from labs.widgets import widget_test

__all__ = [
    "Lab",
    "LabError",
    "LinkSpec",
    "NodeSpec",
    "Topology",
    "doctor",
    "exercise",
    "links",
    "load_run",
    "microscope",
    "one_vpp",
    "one_with_vhost",
    "ping_on_the_loop",
    "pinning",
    "progress",
    "quiz",
    "reconnect",
    "replay",
    "rx_mode",
    "spy",
    "throughput",
    "two_vpps",
    "verdict",
    "whisper",
    "widget_test",
]

_HOME = {
    "Lab": "labs.lab",
    "LabError": "labs.errors",
    "LinkSpec": "labs.topology",
    "NodeSpec": "labs.topology",
    "Topology": "labs.topology",
    "doctor": "labs.checkup",
    "exercise": "labs.course",
    "links": "labs.experiments.links",
    "load_run": "labs.experiments",
    "microscope": "labs.microscope_view",
    "one_vpp": "labs.stock",
    "one_with_vhost": "labs.stock",
    "ping_on_the_loop": "labs.experiments.ping_on_the_loop",
    "pinning": "labs.experiments.pinning",
    "progress": "labs.course",
    "quiz": "labs.course",
    "reconnect": "labs.experiments.reconnect",
    "replay": "labs.bench.replay",
    "rx_mode": "labs.experiments.rx_mode",
    "spy": "labs.experiments.leak",
    "throughput": "labs.experiments.throughput",
    "two_vpps": "labs.stock",
    "verdict": "labs.course",
    "whisper": "labs.experiments.leak",
    "widget_test": "labs.widgets",
}


def __getattr__(name: str) -> object:
    """Import a name's module when it is first used: the reaper and the command start in an instant."""
    if name not in _HOME:
        raise AttributeError(name)
    return getattr(import_module(_HOME[name]), name)


def _load_magics() -> None:
    if "IPython" in sys.modules:
        from IPython import get_ipython  # noqa: PLC0415

        if shell := get_ipython():
            from labs.magics import load_ipython_extension  # noqa: PLC0415

            load_ipython_extension(shell)


_load_magics()
