"""Two runs of one experiment side by side: of one machine on two days, or of two machines."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from labs.bench.compare import FELL, ROSE
from labs.errors import LabError
from labs.experiments.figures import Figure, change, figure
from labs.experiments.groups import is_spread, short

if TYPE_CHECKING:
    from labs.experiments.run import Run

_ABOUT = ("cpu", "cores", "virtual", "kernel")


@dataclass(frozen=True, eq=False)
class Beside:
    """Two runs, A and B.

    Parameters
    ----------
    title : str
        What each was measured on.
    frame : DataFrame
        A row for each setting and figure that both have: A, B, and how B is against A.
    notes : tuple of str
        What differs between them beside the figures.
    """

    title: str
    frame: pd.DataFrame
    notes: tuple[str, ...]

    def __str__(self) -> str:
        return "\n".join([self.title, self.frame.to_string(), *self.notes])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        notes = "".join(f"<p>{each}</p>" for each in self.notes)
        return f"<p>{self.title}</p>{self.frame.to_html()}{notes}"


def beside(a: Run, b: Run) -> Beside:
    """Put two runs side by side.

    Raises
    ------
    LabError
        They are of different experiments, or have no figure in common.

    Notes
    -----
    A figure differs where the ranges of its windows lie further apart than the wider of them is wide
    (`labs.experiments.figures.change`). Between two machines nearly everything differs; compare what each
    machine's verdicts say rather than its figures.
    """
    if a.name != b.name:
        raise LabError(
            f"One run is of the experiment {a.name}, the other of {b.name}.", "choose two of one experiment."
        )
    rows: dict[tuple[str, str], tuple[str, str, str]] = {}
    for setting, group in a.summary.items():
        other = b.summary.get(setting)
        if not isinstance(group, dict) or not isinstance(other, dict):
            continue
        for name in group:
            was, now = _figure(group[name]), _figure(other.get(name))
            if was is not None and now is not None:
                rows[setting, name] = (short(group[name]), short(other[name]), _told(was, now))
    if not rows:
        raise LabError("The two runs have no figure in common.", "a run that was cut short has no summary.")
    frame = pd.DataFrame.from_dict(rows, orient="index", columns=["A", "B", "B against A"])
    frame.index = pd.MultiIndex.from_tuples(rows, names=["setting", "figure"])
    return Beside(f"A: {_of(a)}. B: {_of(b)}.", frame, tuple(_notes(a, b)))


def _figure(spread: Any) -> Figure | None:  # noqa: ANN401 - a summary holds what its experiment likes
    """Return a figure with a summary's median and range; None where it is none, or has no value.

    The windows in between are not needed: a difference is one of medians and of ranges.
    """
    if not is_spread(spread) or spread["median"] is None:
        return None
    one_window = spread["lowest"] == spread["highest"]
    return figure(
        [spread["median"]] if one_window else [spread[each] for each in ("lowest", "median", "highest")]
    )


def _told(was: Figure, now: Figure) -> str:
    """Return how B is against A: ``rose (x 1.8)``, ``within the noise``, ..."""
    said = change(was, now)
    if said not in {ROSE, FELL} or not was.median or not now.median:
        return said
    return f"{said} (x {now.median / was.median:.3g})"


def _of(run: Run) -> str:
    """Return what a run was measured on, in a line."""
    machine = run.machine
    cores = machine.get("cores", ())
    return (
        f"{run.versions.get('data plane', run.engine)} on engine {run.engine}, "
        f"{machine.get('cpu', 'an unknown processor')}, {len(cores)} core{'s' if len(cores) != 1 else ''}, "
        f"{run.started}, quality {run.quality.badge}"
    )


def _notes(a: Run, b: Run) -> list[str]:
    notes = [f"The runs are of different engines: {a.engine} and {b.engine}."] if a.engine != b.engine else []
    differ = [name for name in _ABOUT if _plain(a.machine.get(name)) != _plain(b.machine.get(name))]
    if differ:
        notes.append(f"The machines differ ({', '.join(differ)}): compare relations, not figures.")
    said = {verdict.claim: verdict.passed for verdict in a.verdicts}
    for verdict in b.verdicts:
        if verdict.claim in said and said[verdict.claim] != verdict.passed:
            only = "A" if said[verdict.claim] else "B"
            notes.append(f"Only {only} shows: {verdict.claim}.")
    return notes


def _plain(value: Any) -> Any:  # noqa: ANN401 - likewise
    """Return a list for a tuple: a run that was read from a file has lists."""
    return list(value) if isinstance(value, tuple) else value
