"""Links of the kernel's own, a veth and a tap, in a network namespace of their own.

The namespace lives as long as its processes do, so nothing can be left behind, and nobody else's network is
touched. In a user namespace of its own this needs no root where the kernel lets users have one.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import contextmanager
from typing import TYPE_CHECKING

from labs.engines import starter
from labs.engines.reaper import MARK
from labs.errors import NotAvailable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ENDS = ("lab-a", "lab-b")
"""The interfaces' names in that namespace."""
TAP = "lab-t"
VETH_LINES = (
    f"ip link add {ENDS[0]} type veth peer name {ENDS[1]}",
    f"ip link set {ENDS[0]} up",
    f"ip link set {ENDS[1]} up",
)
"""What makes a link of two interfaces."""
TAP_LINES = (f"ip tuntap add dev {TAP} mode tap multi_queue", f"ip link set {TAP} up")
"""What makes an interface whose other end is a program's; DPDK asks for one of several queues."""
_UNSHARE = ("unshare", "--user", "--map-root-user", "--net", "--", "sh", "-c")
_READY = "ready"
_WITHOUT_IPV6 = "echo 1 2>/dev/null >/proc/sys/net/ipv6/conf/all/disable_ipv6; :"
"""IPv6 would send packets of its own."""
_PROGRAMS = ("unshare", "nsenter", "ip")
_HINT = "it needs iproute2, and leave to make namespaces: sysctl kernel.unprivileged_userns_clone=1."


@contextmanager
def kernel_link(token: str, lines: Sequence[str] = VETH_LINES) -> Iterator[list[str]]:
    """Make interfaces; yield the command that starts a program beside them.

    Parameters
    ----------
    token : str
        A lab's, for the reaper.
    lines : sequence of str
        What makes them.

    Raises
    ------
    NotAvailable
        The kernel does not let us, or a program that asks it is missing; it says which.
    """
    for program in _PROGRAMS:
        if shutil.which(program) is None:
            raise NotAvailable(f"A link of the kernel's needs the program {program}.", _HINT)
    anchor = starter.start(lambda: _launch(token, lines), _end)
    try:
        assert anchor.stdout is not None  # noqa: S101 - it was made with one
        if (told := anchor.stdout.readline().decode(errors="replace").strip()) != _READY:
            raise NotAvailable(f"The kernel gives us no link of its own: {told or 'without a word'}.", _HINT)
        yield ["nsenter", f"--target={anchor.pid}", "--user", "--net", "--preserve-credentials", "--"]
    finally:
        _end(anchor)


def missing(lines: Sequence[str] = VETH_LINES) -> str:
    """Return why there can be no such link here; empty where there can."""
    try:
        with kernel_link("", lines):
            return ""
    except NotAvailable as error:
        return str(error)


def _launch(token: str, lines: Sequence[str]) -> subprocess.Popen[bytes]:
    """Start the process that the namespace lives by; it ends with the pipe that it reads, and so with us."""
    script = " && ".join([_WITHOUT_IPV6, *lines, f"echo {_READY} && exec cat"])
    return subprocess.Popen(
        [*_UNSHARE, script],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        env={**os.environ, MARK: token},
    )


def _end(anchor: subprocess.Popen[bytes]) -> None:
    anchor.kill()
    anchor.communicate()
