"""Run an exercise's cells as a notebook would, and then its check."""

from __future__ import annotations

import contextlib
import tempfile
from typing import TYPE_CHECKING, Any

from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

from labs.course.checks import run_check
from labs.course.model import cells
from labs.memif.link import Link

if TYPE_CHECKING:
    from collections.abc import Iterator

    from labs.course.model import Exercise, Result


@contextlib.contextmanager
def notebook_shell() -> Iterator[InteractiveShell]:
    """Yield a fresh IPython, the one that get_ipython() finds, without history, with %%vpp."""
    InteractiveShell.clear_instance()
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    with tempfile.TemporaryDirectory() as home:
        shell = InteractiveShell.instance(config=config, ipython_dir=home)
        try:
            run_cell(shell, "%load_ext labs.magics")
            yield shell
        finally:
            InteractiveShell.clear_instance()


def run_cell(shell: InteractiveShell, source: str) -> None:
    """Run one cell; what it raises is raised here."""
    shell.run_cell(source).raise_error()


def run_exercise(exercise: Exercise, which: str, *, keep_lab: bool = False) -> tuple[dict[str, Any], Result]:
    """Run the setup cells, then the cells named by `which`, then the check.

    Parameters
    ----------
    exercise : Exercise
    which : {"stub", "solution"}
    keep_lab : bool
        Leave the lab running for the caller to look at; without it, it is stopped in any case.

    Returns
    -------
    namespace : dict
        The cells' variables, with the lab as ``lab``.
    result : Result
        What the check says.
    """
    with notebook_shell() as shell:
        done = False
        try:
            for source in (*cells(exercise.setup), *cells(getattr(exercise, which))):
                run_cell(shell, source)
            result = run_check(exercise, shell.user_ns.get("lab"))
            done = True
        finally:
            if not (keep_lab and done):
                _end(shell.user_ns)
        return dict(shell.user_ns), result


def _end(names: dict[str, Any]) -> None:
    """Stop the lab, and hang up: a memif client that is left would call the next lab of that name."""
    for each in list(names.values()):
        if isinstance(each, Link):
            each.close()
    if (lab := names.get("lab")) is not None:
        lab.stop()
