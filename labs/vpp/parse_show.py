"""What VPP's ``show`` commands on interfaces, threads, nodes and plugins print, as data."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_THREAD = re.compile(r"Thread (\d+) \((.*)\):")
_NODE = re.compile(r"\s+node (\S+):")
_QUEUE = re.compile(r"\s+(\S+) queue (\d+) \((\w+)\)")


@dataclass(frozen=True)
class RxQueue:
    """Who reads a receive queue, and how.

    Attributes
    ----------
    interface : str
    queue : int
    thread : int
        0 is the main thread.
    thread_name, node : str
        As ``vpp_main`` and ``memif-input``.
    mode : str
        ``polling``, ``interrupt`` or ``adaptive``.
    """

    interface: str
    queue: int
    thread: int
    thread_name: str
    node: str
    mode: str


def parse_rx_placement(text: str) -> list[RxQueue]:
    """Return the queues in ``show interface rx-placement``; a memif has some only while connected."""
    queues: list[RxQueue] = []
    thread, name, node = 0, "", ""
    for line in text.split("\n"):
        if row := _THREAD.fullmatch(line.rstrip()):
            thread, name = int(row[1]), row[2]
        elif row := _NODE.fullmatch(line.rstrip()):
            node = row[1]
        elif row := _QUEUE.fullmatch(line.rstrip()):
            queues.append(RxQueue(row[1], int(row[2]), thread, name, node, row[3]))
    return queues


@dataclass(frozen=True)
class InterfaceRow:
    """A row of ``show interface``.

    Attributes
    ----------
    name : str
    index : int
        sw_if_index.
    state : str
        ``up``, ``down``, with ``/punt`` if punting, or ``error``.
    mtu : tuple of int
        L3, IPv4, IPv6, MPLS, bytes; 0 means the L3 one.
    counters : dict of str to int
        VPP prints only those that are not 0: ``rx packets``, ``tx bytes``, ``drops``, ...
    """

    name: str
    index: int
    state: str
    mtu: tuple[int, ...]
    counters: dict[str, int] = field(default_factory=dict)

    @property
    def admin_up(self) -> bool:
        """Whether the interface is set up."""
        return self.state.startswith("up")


_INTERFACE = re.compile(r"(\S+)\s+(\d+)\s+(up(?:/punt)?|down(?:/punt)?|error)\s+(\d+(?:/\d+){3})(.*)")
_COUNTER = re.compile(r"\s*([a-z][a-z0-9 -]*?)\s+(\d+)\s*")


def parse_interfaces(text: str) -> list[InterfaceRow]:
    """Return the rows of ``show interface``."""
    rows: list[InterfaceRow] = []
    for line in text.split("\n"):
        rest = line
        if row := _INTERFACE.fullmatch(line.rstrip()):
            mtu = tuple(int(part) for part in row[4].split("/"))
            rows.append(InterfaceRow(row[1], int(row[2]), row[3], mtu))
            rest = row[5]
        elif not line.startswith(" "):
            continue
        if rows and (counter := _COUNTER.fullmatch(rest)):
            rows[-1].counters[counter[1]] = int(counter[2])
    return rows


_ADDRESS_HEAD = re.compile(r"(\S+) \((?:up|dn)\):.*")
_ADDRESS = re.compile(r"  L3 (\S+/\d+).*")


def parse_addresses(text: str) -> dict[str, list[str]]:
    """Return each interface in ``show interface address`` with its IPv4 and IPv6 prefixes."""
    found: dict[str, list[str]] = {}
    name = ""
    for line in text.split("\n"):
        if row := _ADDRESS_HEAD.fullmatch(line.rstrip()):
            name = row[1]
            found[name] = []
        elif name and (row := _ADDRESS.fullmatch(line.rstrip())):
            found[name].append(row[1])
    return found


@dataclass(frozen=True)
class ThreadRow:
    """A row of ``show threads``.

    Attributes
    ----------
    id : int
        0 is the main thread.
    name, type : str
        ``vpp_main`` has no type, ``vpp_wk_0`` is of type ``workers``.
    lwp : int
        The kernel's thread id, in VPP's own PID namespace.
    policy : str
        Scheduling policy and priority, as ``other (0)``.
    lcore, core, socket : int or None
        What VPP was configured with; the kernel may have been told otherwise since.
    """

    id: int
    name: str
    type: str
    lwp: int
    policy: str
    lcore: int | None
    core: int | None
    socket: int | None


_THREAD_ROW = re.compile(
    r"(\d+)\s+(\S+)\s+(?:([A-Za-z]\S*)\s+)?(\d+)\s+(\S+ \(\S+\))"
    r"\s+(\d+|n/a)\s+(\d+|n/a)\s+(\d+|n/a)(?:\s+\d+)?"
)


def parse_threads(text: str) -> list[ThreadRow]:
    """Return the rows of ``show threads``."""
    rows = (_THREAD_ROW.fullmatch(line.strip()) for line in text.split("\n"))
    return [
        ThreadRow(
            int(row[1]),
            row[2],
            row[3] or "",
            int(row[4]),
            row[5],
            *(None if part == "n/a" else int(part) for part in row.groups()[5:8]),
        )
        for row in rows
        if row
    ]


@dataclass(frozen=True)
class PluginTable:
    """``show plugins``.

    Attributes
    ----------
    path : str
        Where VPP looked for plugins.
    loaded : tuple of str
        Those it has loaded, without ``_plugin.so``.
    """

    path: str
    loaded: tuple[str, ...]


_PLUGIN_PATH = re.compile(r"^ *Plugin path is: (.+), plugins", re.MULTILINE)
_PLUGIN = re.compile(r"^ *\d+\. (\w+)_plugin\.so ", re.MULTILINE)


def parse_plugins(text: str) -> PluginTable:
    """Return what ``show plugins`` says."""
    path = _PLUGIN_PATH.search(text)
    return PluginTable(path[1] if path else "", tuple(_PLUGIN.findall(text)))


_VERSION = re.compile(r"vpp v(\d+\.\d+\S*)")
_GLASS_BOX = "glass-box (not VPP)"


def parse_version(text: str) -> str:
    """Return what ``show version`` says a node is, as ``VPP 26.06``; a release does without its suffix.

    The course's own stand-in says ``glass-box (not VPP)``, and is called so wherever a version is shown.
    """
    if text.strip().startswith(_GLASS_BOX):
        return _GLASS_BOX
    row = _VERSION.match(text.strip())
    return f"VPP {row[1].removesuffix('-release')}" if row else "VPP of unknown version"
