"""Whether a node is as it should be, and the words for it when it is not."""

from __future__ import annotations

import contextlib
import re
import time
from typing import TYPE_CHECKING, Any

from labs.errors import LabError, NodeDied, NotAvailable
from labs.vpp.api import Api

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from labs.engines.base import NodeHandle
    from labs.vpp.parse import PluginTable

_LAST_LINES = 8
_BACKTRACE = re.compile(
    r"#\d+ +0x.*| +from \S+|Code: .*"  # VPP's
    r'| +File ".*|(Current t|T)hread 0x.*|Extension modules: .*'  # Python's
)
_DEVTOOLS = {"dispatch_trace", "oddbuf", "perfmon", "tracedump", "tracenode", "tracepath"}
"""Plugins in FD.io's package vpp-plugin-devtools (COMPONENT in src/plugins/*/CMakeLists.txt)."""

AT_START = "correct its NodeSpec (memory, buffers, cores, plugins), then run the cell again."
"""What to do about a node that ended before it answered for the first time."""


def obituary(handle: NodeHandle, hint: str = "") -> NodeDied:
    """Return the news that a node has ended: how, and what it said last.

    Parameters
    ----------
    handle : NodeHandle
        The node.
    hint : str
        What to do; by default, to start it again.
    """
    name = handle.name
    text = f"{name} is not running: {handle.ending() or 'its process is gone'}."
    if last := last_words(handle.log()):
        text += "\nIts last lines were:" + "".join(f"\n    {line}" for line in last)
    again = f"start it again: lab.restart({name!r}); or all of them: lab.reset()."
    return NodeDied(text, hint or again)


def must_run(handle: NodeHandle, hint: str = "") -> bool:
    """Return True while a node runs.

    Raises
    ------
    NodeDied
        It has ended; see `obituary`.
    """
    if not handle.alive():
        raise obituary(handle, hint)
    return True


def last_words(log: str) -> list[str]:
    """Return the last lines of a log, without the backtrace that VPP prints when it crashes."""
    lines = (line.rstrip() for line in log.splitlines())
    return [line for line in lines if line and not _BACKTRACE.fullmatch(line)][-_LAST_LINES:]


def check_plugins(node: str, wanted: Iterable[str], there: PluginTable) -> None:
    """Refuse a VPP that lacks a plugin; it starts all the same, and says nothing of it.

    Raises
    ------
    NotAvailable
        It says which, where VPP looked, and which package holds them.
    """
    missing = [plugin for plugin in wanted if plugin not in there.loaded]
    if missing:
        package = "vpp-plugin-devtools" if _DEVTOOLS.issuperset(missing) else "vpp-plugin-core"
        files = ", ".join(f"{plugin}_plugin.so" for plugin in missing)
        raise NotAvailable(
            f"{node}'s VPP has not loaded {files}; it looked in {there.path}.",
            f"install FD.io's package {package} where this VPP is: on this machine, or in the image.",
        )


@contextlib.contextmanager
def blame(handle: NodeHandle) -> Iterator[None]:
    """Turn a failure of a node that has ended into the news that it has ended.

    Raises
    ------
    NodeDied
        In place of an error in the block.
    """
    try:
        yield
    except NodeDied:
        raise
    except LabError:
        time.sleep(0.05)  # a closed socket can be seen before the process has ended
        if not handle.alive():
            raise obituary(handle) from None
        raise
    except ProcessLookupError:
        raise obituary(handle) from None


class NodeApi(Api):
    """A node's binary API, which says so when the node has ended.

    Parameters
    ----------
    path : Path
        The socket.
    handle : NodeHandle
        The node.
    """

    def __init__(self, path: Path, handle: NodeHandle) -> None:
        super().__init__(path, handle.name)
        self._handle = handle

    def reply_to(self, name: str, /, **kwargs: Any) -> Any:  # noqa: ANN401 - as VPP defines the message
        """Send one message and return what papi returns; see `labs.vpp.api.Api.reply_to`."""
        with blame(self._handle):
            return super().reply_to(name, **kwargs)
