"""A notebook with a bench in it, open in JupyterLab and Chromium, and the messages that come to the page."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import time

import nbformat

_CELLS = ("from labs import two_vpps\nlab = two_vpps()\nlab.start()", "bench = lab.bench()\nbench")


@contextlib.contextmanager
def bench_in_a_page(browser, folder, engine="process"):
    """Open a bench in a page; give the page, and a list to which (time, message) are added as they come."""
    cells = [nbformat.v4.new_code_cell(each) for each in _CELLS]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}}
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=kernel), folder / "bench.ipynb")
    names = ("CONFIG_DIR", "DATA_DIR", "RUNTIME_DIR")
    env = {**os.environ, "LABS_ENGINE": engine, **{f"JUPYTER_{name}": str(folder / name) for name in names}}
    env |= {"JUPYTERLAB_WORKSPACES_DIR": str(folder / "ws"), "JUPYTERLAB_SETTINGS_DIR": str(folder / "set")}
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", "--port=0"]
    server = subprocess.Popen(
        [*command, f"--ServerApp.root_dir={folder}"], env=env, stderr=subprocess.PIPE, text=True, cwd=folder
    )
    try:
        line = next(line for line in server.stderr if "127.0.0.1" in line and "token=" in line)
        base, token = re.search(r"(http://127\.0\.0\.1:\d+/)\S*\?token=(\w+)", line).groups()
        page = browser.new_page(viewport={"width": 1280, "height": 1400})
        frames = []
        page.on(
            "websocket",
            lambda socket: socket.on("framereceived", lambda frame: frames.append((time.monotonic(), frame))),
        )
        page.goto(f"{base}lab/tree/bench.ipynb?token={token}")
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=60_000)
        page.wait_for_timeout(2000)
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        page.locator(".labs-controls button").first.wait_for(timeout=60_000)
        page.locator(".labs-plots").scroll_into_view_if_needed()
        page.wait_for_timeout(4000)
        yield page, frames
    finally:
        server.terminate()
        server.wait(30)
