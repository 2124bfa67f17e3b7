"""JupyterLab as `make lab` starts it, on a copy of the notebooks, and the system's Chromium."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import pytest
from chromium import chromium
from jupyter_page import JupyterPage
from playwright.sync_api import sync_playwright

from labs.engines import rundir

ROOT = Path(__file__).resolve().parents[2]
SWEPT_WITHIN = 10.0  # seconds; a lab's reaper needs up to 3 after its kernel was ended


class Jupyter:
    """A running JupyterLab.

    Parameters
    ----------
    root : str
        Its address, with a slash at the end.
    token : str
    """

    def __init__(self, root, token):
        self.root = root
        self.token = token

    def address(self, name):
        """Return a notebook's address.

        Each has a workspace of its own: JupyterLab opens what was open in the last one, and Run All runs what
        is in front.
        """
        return f"{self.root}lab/workspaces/{Path(name).stem}/tree/{name}?token={self.token}"

    def ask(self, method, path):
        """Send one request to the server's REST interface, and return its answer."""
        headers = {"Authorization": f"token {self.token}"}
        request = urllib.request.Request(f"{self.root}api/{path}", method=method, headers=headers)  # noqa: S310 - our own server
        with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
            return json.loads(answer.read() or "null")

    def end_kernels(self):
        """End all kernels, and wait until their labs are swept: other notebooks use the same names."""
        for session in self.ask("GET", "sessions"):
            self.ask("DELETE", f"sessions/{session['id']}")
        deadline = time.monotonic() + SWEPT_WITHIN
        while left := rundir.every():
            assert time.monotonic() < deadline, f"these labs outlived their kernel: {left}"
            time.sleep(0.1)


@pytest.fixture(scope="session")
def notebooks(tmp_path_factory):
    """Copy the course's notebooks, since a browser saves what it opens."""
    return Path(shutil.copytree(ROOT / "notebooks", tmp_path_factory.mktemp("course") / "notebooks"))


@pytest.fixture(scope="session")
def jupyter(notebooks):
    """Start JupyterLab as `make lab` does."""
    home = notebooks.parent
    tracker = home / "settings/@jupyterlab/notebook-extension/tracker.jupyterlab-settings"
    tracker.parent.mkdir(parents=True)
    # Otherwise a cell that is scrolled out of sight is no part of the page.
    tracker.write_text(json.dumps({"windowingMode": "none"}), encoding="utf-8")
    env = {
        **os.environ,
        "JUPYTER_CONFIG_DIR": str(home / "config"),
        "JUPYTER_DATA_DIR": str(home / "data"),
        "JUPYTER_RUNTIME_DIR": str(home / "runtime"),
        "JUPYTERLAB_SETTINGS_DIR": str(home / "settings"),
        "JUPYTERLAB_WORKSPACES_DIR": str(home / "workspaces"),
        "IPYTHONDIR": str(home / "ipython"),
        "LABS_PROGRESS": str(home / "progress.json"),
        "LABS_PROFILE": "ci",
    }
    for name in ("DISPLAY", "WAYLAND_DISPLAY"):
        env.pop(name, None)
    server = subprocess.Popen(
        [sys.executable, "-I", ROOT / "labs/house/open_lab.py", notebooks],
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    told = ""
    for line in server.stdout:
        told += line
        if found := re.search(r"(http://127\.0\.0\.1:\d+/)lab/tree/\S+\?token=(\S+)", line):
            break
    else:
        pytest.fail(f"JupyterLab did not start:\n{told}")
    yield Jupyter(*found.groups())
    server.send_signal(signal.SIGINT)
    rest, _ = server.communicate(timeout=60)
    assert server.returncode == 0, rest
    assert "has stopped" in rest


@pytest.fixture(scope="session")
def browser():
    """Start the system's Chromium without a window."""
    with sync_playwright() as driver, chromium(driver) as started:
        yield started


@pytest.fixture(scope="module")
def open_notebook(browser, jupyter, notebooks):
    """Return a function that opens a notebook in a fresh browser profile; its kernel ends with the module."""
    contexts = []

    def open_it(name):
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        contexts.append(context)
        return JupyterPage(context.new_page(), jupyter.address(name), notebooks / name)

    yield open_it
    for context in contexts:
        context.close()
    jupyter.end_kernels()
