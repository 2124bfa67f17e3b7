"""Experiments: each is a module with a function of its name that measures a lab and returns a `Run`."""

from __future__ import annotations

from labs.experiments.run import Run, load_run

__all__ = ["Run", "load_run"]
