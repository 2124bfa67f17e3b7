"""Open JupyterLab at the first notebook, and print one plain address.

JupyterLab's own log goes to a file: a learner needs the address, and the log
only when something fails.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
import webbrowser
from json import JSONDecodeError, loads
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = ROOT / "notebooks"
FIRST = "00_start_here.ipynb"
LOG = ROOT / "build" / "jupyterlab.log"
POLL_SECONDS = 0.1
STOP_SECONDS = 15.0


def say(text: str) -> None:
    """Print a line at once, also when the output is a file."""
    print(text, flush=True)  # noqa: T201 - talking to the person at the terminal is the job


def command(notebooks: Path) -> list[str]:
    """Return the command line of a JupyterLab that serves `notebooks` to this machine only."""
    return [
        sys.executable,
        "-m",
        "jupyterlab",
        "--no-browser",
        "--allow-root",
        "--ServerApp.ip=127.0.0.1",
        "--ServerApp.port_retries=200",  # a classroom server may hold many of these
        "--ServerApp.answer_yes=True",  # Ctrl-C stops, and asks nothing
        f"--ServerApp.root_dir={notebooks}",
    ]


def environment(token: str) -> dict[str, str]:
    """Return the variables for JupyterLab: the token, and this environment's kernel before the user's own."""
    # In a variable, since other users of the machine can read a command line.
    return {**os.environ, "JUPYTER_TOKEN": token, "JUPYTER_PREFER_ENV_PATH": "1"}


def wait_for_port(server: subprocess.Popen[bytes]) -> int | None:
    """Return the port that JupyterLab took, as its info file says; None if it ended instead."""
    from jupyter_core.paths import jupyter_runtime_dir  # noqa: PLC0415 - only the environment has it

    info = Path(jupyter_runtime_dir()) / f"jpserver-{server.pid}.json"
    while server.poll() is None:
        try:
            return int(loads(info.read_text(encoding="utf-8"))["port"])
        except (OSError, JSONDecodeError, KeyError):  # not there yet, or half written
            time.sleep(POLL_SECONDS)
    return None


def announce(address: str, port: int) -> None:
    """Print the address and how to stop, and open a browser where there is a screen."""
    say(f"\nThe course is open at\n\n    {address}\n")
    if "SSH_CONNECTION" in os.environ:
        say(f"From your own machine, first: ssh -N -L {port}:127.0.0.1:{port} THIS-MACHINE")
    say("Press Ctrl-C here to stop it.")
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
        webbrowser.open(address)


def stop(server: subprocess.Popen[bytes]) -> None:
    """Let JupyterLab end its kernels and itself; insist when it does not."""
    server.terminate()
    try:
        server.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


def main(notebooks: Path = NOTEBOOKS) -> int:
    """Run JupyterLab on a folder of notebooks until it ends or Ctrl-C comes; return the exit status."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    token = secrets.token_urlsafe(24)
    LOG.parent.mkdir(exist_ok=True)
    if subprocess.run([sys.executable, "-m", "labs.warming"], check=False).returncode:
        say("The kernels could not be compiled ahead; the first lab that needs them will try again.")
    say("Starting JupyterLab ...")
    with LOG.open("wb") as log:
        server = subprocess.Popen(
            command(notebooks), env=environment(token), stdin=subprocess.DEVNULL, stdout=log, stderr=log
        )
        try:
            port = wait_for_port(server)
            if port is not None:
                announce(f"http://127.0.0.1:{port}/lab/tree/{FIRST}?token={token}", port)
                server.wait()
        except KeyboardInterrupt:
            stop(server)
            say("\nJupyterLab has stopped.")
            return 0
    if server.returncode:
        tail = LOG.read_text(encoding="utf-8", errors="replace").splitlines()[-12:]
        say(
            "\n".join(tail)
            + f"\nJupyterLab ended on its own; the lines above are its last, the rest is in {LOG}."
        )
    return server.returncode


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:])))
