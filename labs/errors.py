"""What goes wrong, in a sentence a learner can act on."""

from __future__ import annotations


class LabError(Exception):
    """Something a learner can cause or meet, with what to do about it.

    IPython shows it without a traceback: the learner's code is rarely long
    enough to need one, and ours is not what they are here to read.

    Parameters
    ----------
    message : str
        One sentence that says what is wrong.
    hint : str, optional
        One sentence that says what to do.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\nHint: {self.hint}" if self.hint else self.message

    def _render_traceback_(self) -> list[str]:
        """Return the lines IPython prints instead of a traceback."""
        return str(self).splitlines()


class NotAvailable(LabError):  # noqa: N818 - reads as what it says in a learner's cell
    """What is asked for is not installed, not permitted or not supported here."""


class NodeDied(LabError):  # noqa: N818
    """A node's process or container has ended on its own."""


class CliError(LabError):
    """VPP refused a command line.

    Parameters
    ----------
    message, hint : str
        As for `LabError`.
    statement : str
        The line VPP refused.
    at : int
        Where in `statement` the part begins that VPP could not take.
    output : str
        What the lines before it printed.
    """

    def __init__(
        self, message: str, hint: str = "", *, statement: str = "", at: int = 0, output: str = ""
    ) -> None:
        super().__init__(message, hint)
        self.statement = statement
        self.at = at
        self.output = output

    def __str__(self) -> str:
        underline = " " * self.at + "^" * max(len(self.statement.rstrip()) - self.at, 1)
        return f"{self.statement.rstrip()}\n{underline}\n{super().__str__()}"


class LinkDown(LabError):  # noqa: N818
    """A memif that should be connected is not."""
