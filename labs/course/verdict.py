"""Verdicts: a claim about a measurement, and whether it holds here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from labs.errors import LabError


@dataclass(frozen=True)
class Verdict:
    """A claim that was checked on a run.

    Parameters
    ----------
    claim : str
        A relation in words, on one line and without digits, so that its text is the same on every machine.
    passed : bool
        Whether it holds here.
    because : str, optional
        The figures behind it; shown only where the claim does not hold.
    printed : bool
        Whether the line has been printed, so that a cell that ends in the verdict does not print it twice.

    Raises
    ------
    LabError
        The claim is empty, has more than one line, or holds digits.
    """

    claim: str
    passed: bool
    because: str = ""
    printed: bool = field(default=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.claim.strip() or len(self.claim.splitlines()) > 1:
            raise LabError("A claim is one line of text.", "say in a few words what should hold.")
        if any(character.isdigit() for character in self.claim):
            raise LabError(
                f"The claim {self.claim!r} holds digits.",
                "write 'twenty times', not '20 times': the text is compared from machine to machine.",
            )

    def __str__(self) -> str:
        if self.passed:
            return f"✓ holds: {self.claim}"
        reason = " ".join(self.because.split())
        return f"✗ does not hold here: {self.claim}" + (f" ({reason})" if reason else "")

    def to_dict(self) -> dict[str, str | bool]:
        """Return the claim and whether it passed, for JSON."""
        return {"claim": self.claim, "passed": self.passed}

    def _ipython_display_(self) -> None:
        if not self.printed:
            print(self)  # noqa: T201 - this is how a cell shows it


def verdict(claim: str, holds: bool | np.bool_, *, because: str = "") -> Verdict:  # noqa: FBT001 - see below
    """Print whether a claim holds here, and return it.

    `holds` is given by position so that a cell reads ``verdict("…", same > twenty * apart)``.

    Parameters
    ----------
    claim : str
        A relation in words, without digits.
    holds : bool
        The comparison. A comparison with a missing value (NaN, None, pandas' NA) does not hold.
    because : str, optional
        The figures behind it, printed only where the claim does not hold.

    Raises
    ------
    LabError
        The claim holds digits or is no line of text, or `holds` is no answer to a yes-or-no question.
    """
    said = Verdict(claim, _yes(holds), because, printed=True)
    print(said)  # noqa: T201 - the printed line is what nbval compares
    return said


def _yes(holds: Any) -> bool:  # noqa: ANN401 - learners pass whatever their comparison gave
    """Return a plain bool; a missing value is no yes, and a number is refused: NaN would count as one."""
    if isinstance(holds, np.ndarray) and holds.ndim == 0:
        holds = holds.item()
    if isinstance(holds, bool | np.bool_):
        return bool(holds)
    if holds is None or type(holds).__name__ == "NAType" or (isinstance(holds, float) and np.isnan(holds)):
        return False
    raise LabError(
        f"A verdict needs True or False, and was given a {type(holds).__name__}.",
        "pass a comparison, such as same.p50 > apart.p50.",
    )
