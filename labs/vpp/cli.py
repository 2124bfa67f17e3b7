"""VPP's CLI from Python: statements in, VPP's own text out, refusals as errors."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from labs.errors import CliError, LabError
from labs.vpp.cli_failures import CliFailure, classify
from labs.vpp.cli_hints import hint_for
from labs.vpp.session import Session, UnreadError
from labs.vpp.sockets import DoorError
from labs.vpp.statements import split_statements

if TYPE_CHECKING:
    from collections.abc import Iterator

TIMEOUT = 10.0
"""Seconds for an answer, unless said."""
_ABORT_TIMEOUT = 2.0
_LEAST = 0.001  # a socket takes no timeout below zero


class Cli:
    """A client of VPP's CLI socket (``unix { cli-listen PATH }``).

    One command runs at a time, whatever threads ask; a stream has a connection of its own. The
    connection is opened at the first use and again whenever VPP has closed it.

    Parameters
    ----------
    path : str or Path
        The socket.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self._session: Session | None = None

    def run(self, text: str, timeout: float = TIMEOUT) -> str:
        """Run one statement and return VPP's own text, without the last line's end.

        Parameters
        ----------
        text : str
            One statement; it may stretch over several lines as `split_statements` describes.
        timeout : float
            Seconds for the whole answer.

        Raises
        ------
        CliError
            VPP refused the statement.
        LabError
            `text` is not one statement.
        DoorError
            VPP cannot be reached, is silent too long, or closed the connection.
        """
        statement = _one(text)
        output = self.ask(statement, timeout)
        failure = classify(statement, output)
        if failure:
            raise refusal(statement, failure)
        return output.rstrip("\n")

    def run_script(self, text: str, timeout: float = TIMEOUT) -> Iterator[tuple[str, str]]:
        """Run the statements in `text` one by one, and stop at the first that VPP refuses.

        Parameters
        ----------
        text : str
            Statements, as `split_statements` describes them.
        timeout : float
            Seconds for each statement's answer.

        Yields
        ------
        (str, str)
            Each statement and VPP's text, as soon as it is there.

        Raises
        ------
        CliError
            VPP refused a statement; `CliError.output` holds what was printed before.
        LabError, DoorError
            As for `run`.
        """
        printed: list[str] = []
        for statement in split_statements(text):
            try:
                output = self.run(statement, timeout)
            except CliError as error:
                error.output = "\n".join(part for part in (*printed, error.output) if part)
                raise
            printed.append(output)
            yield statement, output

    def stream(self, text: str, timeout: float = TIMEOUT) -> Iterator[str]:
        """Run one statement and yield the lines of its answer as they arrive.

        Closing the iterator early stops the command, as a keypress would. Refusals are not
        recognised here: give the lines to `classify` where that matters.

        Parameters
        ----------
        text : str
            One statement.
        timeout : float
            Seconds from one piece of the answer to the next.

        Yields
        ------
        str
            A line, without its end.

        Raises
        ------
        LabError, DoorError
            As for `run`.
        """
        statement = _one(text)
        session = Session(self.path, timeout)
        is_done = False
        try:
            session.send(statement)
            line = ""
            for piece in session.answer(timeout, silence=True):
                *lines, line = (line + piece).split("\n")
                yield from lines
            is_done = True
            if line:
                yield line
        except DoorError:
            is_done = True
            raise
        finally:
            if not is_done:
                _abort(session)
            session.close()

    def ask(self, statement: str, timeout: float = TIMEOUT) -> str:
        """Send one statement as it is and return VPP's answer as it is, refused or not.

        Raises
        ------
        DoorError
            As for `run`.
        """
        if not self._lock.acquire(timeout=timeout):
            raise DoorError(
                "Another command is still running on this CLI connection.",
                "wait for it to end, or give the command more time.",
                fault="busy",
            )
        try:
            deadline = time.monotonic() + timeout
            try:
                return self._exchange(statement, deadline)
            except UnreadError:
                return self._exchange(statement, deadline)
        finally:
            self._lock.release()

    def close(self) -> None:
        """Close the connection; the next command opens it again."""
        with self._lock:
            self._drop()

    def _exchange(self, statement: str, deadline: float) -> str:
        session = self._deliver(statement, max(deadline - time.monotonic(), _LEAST))
        try:
            return "".join(session.answer(deadline - time.monotonic()))
        except BaseException:
            # What is still to come would be taken for the next command's answer.
            self._drop()
            raise

    def _deliver(self, statement: str, timeout: float) -> Session:
        """Send `statement` on a connection that stands, and return that connection."""
        if self._session is not None and self._session.is_fresh():
            try:
                self._session.send(statement)
            except DoorError:
                pass  # VPP closed it between the look and the sending: nothing was delivered
            else:
                return self._session
        self._drop()
        self._session = Session(self.path, timeout)
        self._session.send(statement)
        return self._session

    def _drop(self) -> None:
        if self._session is not None:
            self._session.close()
            self._session = None


def refusal(statement: str, failure: CliFailure) -> CliError:
    """Return the error that tells a learner of `failure`."""
    return CliError(
        f"VPP refused this line: {failure.text}",
        hint_for(failure.text),
        statement=statement,
        at=failure.at,
        output=failure.before,
    )


def _one(text: str) -> str:
    statements = split_statements(text)
    if len(statements) != 1:
        raise LabError(
            f"One command was expected here, but there are {len(statements)}.",
            "give one command at a time, or use run_script for several lines.",
        )
    return statements[0]


def _abort(session: Session) -> None:
    """Stop the running command with a keypress and read its answer to the end."""
    try:
        session.send("")
        for _ in session.answer(_ABORT_TIMEOUT):
            pass
    except DoorError:
        pass  # the connection is closed next, whatever state it is in
