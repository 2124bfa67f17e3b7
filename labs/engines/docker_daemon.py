"""The way to a Docker daemon: where it listens, and why it does not answer."""

from __future__ import annotations

import contextlib
import os
import re
import stat
from pathlib import Path

import docker
from docker.context import ContextAPI
from docker.errors import DockerException

from labs.errors import NotAvailable

FAILURES = (DockerException, OSError)
"""What the SDK raises: its own errors, and those of the connection."""


def address() -> str | None:
    """Return where the daemon listens: DOCKER_HOST, else the current docker context; None for the default."""
    if chosen := os.environ.get("DOCKER_HOST"):
        return chosen
    with contextlib.suppress(DockerException, OSError, ValueError, KeyError):
        context = ContextAPI.get_current_context()
        return str(context.Host) if context and context.Host else None
    return None


def connect() -> docker.DockerClient:
    """Return a client of the daemon.

    Raises
    ------
    NotAvailable
        There is no daemon, or this user may not use it; the hint says which.
    """
    where = address()
    try:
        client = docker.DockerClient(base_url=where, timeout=20)
        client.ping()
    except FAILURES as error:
        raise _unreachable(where or "unix:///var/run/docker.sock", error) from None
    return client


def _unreachable(where: str, error: Exception) -> NotAvailable:
    """Say why a daemon cannot be reached: no Docker, no permission, or not running."""
    path = Path(re.sub(r"^unix://", "", where))
    if "Permission denied" in str(error) or "PermissionError" in str(error):
        group = ""
        with contextlib.suppress(OSError, KeyError):
            group = f" (mode {stat.filemode(path.stat().st_mode)}, owner {path.owner()}:{path.group()})"
        return NotAvailable(
            f"Docker is here, but you may not use it: {path}{group}.",
            'run: sudo usermod -aG docker "$USER"; then log in again.',
        )
    if not path.exists() and where.startswith("unix://"):
        return NotAvailable(
            f"Docker was not found: there is no {path}.", "install Docker (package docker.io) or start it."
        )
    return NotAvailable(
        f"Docker does not answer at {where}.", "start it: sudo systemctl start docker; or check DOCKER_HOST."
    )
