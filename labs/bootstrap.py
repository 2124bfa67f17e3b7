"""Set up what the course needs, then hand over: the script behind the make targets.

It runs under whatever ``python3`` the system has, before anything is
installed. So it uses the standard library only, imports nothing of `labs`,
and keeps to a syntax that a Python too old for the course still reads.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin/python"
STAMP = VENV / "labs-stamp.json"
PINNED = ("pyproject.toml", "constraints.txt", "labs/house/overrides.json")
OLDEST, NEWEST = (3, 11), (3, 13)
PYTHONS = ("python3", "python3.13", "python3.12", "python3.11")
# Debian's package, and the programs of which the tests need one.
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
TEST_PACKAGES = {"chromium": BROWSERS, "dpdk-dev": ("dpdk-testpmd",)}
# Make's target, the extras it needs, and what the environment's Python then runs.
TARGETS = {
    "lab": (("lab",), ("-I", "labs/house/open_lab.py")),
    "test": (("lab", "test"), ("-I", "labs/house/run_tests.py")),
    "bench": (("lab", "test"), ("-m", "pytest", "-s", "-o", "python_files=bench_*.py", "tests/benchmarks")),
}
TAIL_LINES = 12


class SetupError(Exception):
    """A step of the set-up cannot be done; the text says what is wrong and what to do."""


def say(text: str) -> None:
    """Print a line at once, also when the output is a file."""
    print(text, flush=True)  # noqa: T201 - talking to the person at the terminal is the job


def quiet(*command: str, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run a command that asks nothing and shows nothing; its output is in the result."""
    return subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        env=env,
    )


def probe(program: str) -> tuple[str, tuple[int, int], bool] | None:
    """Return `program`'s path, its version and whether its venvs get a pip; None where it does not run."""
    code = (
        "import sys, json\ntry: import ensurepip, venv; ok = True\nexcept ImportError: ok = False\n"
        "print(json.dumps([sys.executable, sys.version_info[:2], ok]))"
    )
    try:
        done = subprocess.run([program, "-I", "-c", code], capture_output=True, text=True, check=True)
        path, version, has_pip = json.loads(done.stdout)
    except (OSError, subprocess.CalledProcessError, ValueError):  # a shim may exist and fail
        return None
    return path, tuple(version), has_pip


def find_python(programs: tuple[str, ...] = PYTHONS) -> tuple[str, tuple[int, int], bool]:
    """Return the first suitable Python as `probe` does, preferring one whose venvs get a pip.

    Raises
    ------
    SetupError
        No Python of a suitable version is on PATH.
    """
    found = [seen for seen in map(probe, programs) if seen]
    suitable = [seen for seen in found if OLDEST <= seen[1] <= NEWEST]
    if not suitable:
        have = ", ".join(sorted({f"{seen[1][0]}.{seen[1][1]}" for seen in found})) or "none"
        raise SetupError(
            f"The course needs Python 3.11, 3.12 or 3.13; found on PATH: {have}.\n"
            "On Debian 12 or Ubuntu 24.04: sudo apt install python3 python3-venv\n"
            "Elsewhere: put python3.13, python3.12 or python3.11 on PATH. Then run the same command again."
        )
    return next((seen for seen in suitable if seen[2]), suitable[0])


def may_use_apt() -> bool:
    """Tell whether system packages may be installed: we are root, apt is here, and APT=no is not set."""
    return os.geteuid() == 0 and os.environ.get("APT") != "no" and shutil.which("apt-get") is not None


def apt_install(package: str) -> bool:
    """Install one Debian package, and tell whether that worked."""
    say(f"Installing the system package {package} (APT=no leaves it out) ...")
    env = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    install_it = ("apt-get", "-q", "-y", "install", "--no-install-recommends", package)
    done = quiet(*install_it, env=env)
    if done.returncode:  # most often the package lists are missing or old
        quiet("apt-get", "-q", "update", env=env)
        done = quiet(*install_it, env=env)
    if done.returncode:
        say("\n".join(done.stdout.splitlines()[-3:]))
    return done.returncode == 0


def install_test_packages() -> None:
    """Install the programs that some tests drive; tests that miss one are skipped and say so."""
    for package, programs in TEST_PACKAGES.items():
        if any(map(shutil.which, programs)) or not may_use_apt():
            continue
        if not apt_install(package):
            say(f"{package} could not be installed; the tests that need it will be skipped.")


def wanted(extras: set[str]) -> dict[str, Any]:
    """Return the note that a finished set-up for `extras` leaves: it changes with all that matters."""
    digest = hashlib.sha256(b"\0".join((ROOT / name).read_bytes() for name in PINNED)).hexdigest()
    return {"root": str(ROOT), "digest": digest, "extras": sorted(extras)}


def stamped() -> dict[str, Any]:
    """Return the note of the last finished set-up; nothing where there is none or .venv no longer works."""
    check = "import importlib.util, sys; sys.exit(importlib.util.find_spec('ipykernel') is None)"
    try:
        stamp = json.loads(STAMP.read_text(encoding="utf-8"))
        works = quiet(str(PYTHON), "-I", "-c", check).returncode == 0
    except (OSError, ValueError):
        return {}
    # The scripts in a venv hold its path, so a moved clone needs a new one.
    return stamp if works and isinstance(stamp, dict) and stamp.get("root") == str(ROOT) else {}


def make_venv() -> list[str]:
    """Make .venv anew and return the command that runs pip in it.

    Raises
    ------
    SetupError
        There is no suitable Python, no pip can be had, or .venv cannot be made.
    """
    python, (major, minor), has_pip = find_python()
    say(f"Setting up .venv with Python {major}.{minor}; this takes a minute or two.")
    foreign_pip = [python, "-m", "pip", "--python", str(PYTHON)]
    if not has_pip and quiet(*foreign_pip[:3], "--version").returncode:
        package = f"python{major}.{minor}-venv"
        if not (may_use_apt() and apt_install(package)):
            raise SetupError(
                f"{python} cannot make an environment with pip in it.\n"
                f"Run this, then the same command again: sudo apt install {package}"
            )
        has_pip = True
    options = ["--clear"] if has_pip else ["--clear", "--without-pip"]
    done = quiet(python, "-m", "venv", *options, str(VENV))
    if done.returncode:
        tail = "\n".join(done.stdout.splitlines()[-TAIL_LINES:])
        raise SetupError(f"{tail}\nThe environment could not be made in {VENV}.")
    return [str(PYTHON), "-I", "-m", "pip"] if has_pip else foreign_pip


def install(pip: list[str], extras: set[str]) -> None:
    """Install the project and `extras` into .venv, showing one line of progress.

    Raises
    ------
    SetupError
        pip failed; its last lines are part of the text.
    """
    command = [*pip, "install", "--progress-bar=off", "--no-input", "--disable-pip-version-check"]
    command += ["-c", "constraints.txt", "-e", f".[{','.join(sorted(extras))}]"]
    live, tail = sys.stdout.isatty(), [""]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "PIP_USER": "0"},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        for line in process.stdout or ():
            tail = [*tail, line.rstrip()][-TAIL_LINES:]
            step = line.split(" (")[0].strip()[:70]
            if live and step.startswith(("Collecting", "Downloading", "Installing", "Building")):
                print(f"\r\033[K  {step}", end="", flush=True)  # noqa: T201
    except KeyboardInterrupt:
        process.terminate()
        raise
    finally:
        process.wait()
        print("\r\033[K" if live else "", end="", flush=True)  # noqa: T201
    if process.returncode:
        raise SetupError(
            "\n".join(tail) + "\nThe packages could not be installed; the lines above are pip's last.\n"
            "Check the network and the free disk space, then run the same command again."
        )


def set_up(extras: set[str]) -> None:
    """Bring .venv to what pyproject.toml, constraints.txt and `extras` ask for; quick where it is there."""
    with (ROOT / "pyproject.toml").open(encoding="utf-8") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            say("Another make is setting up .venv; waiting for it ...")
            fcntl.flock(lock, fcntl.LOCK_EX)
        stamp = stamped()
        extras = extras.union(stamp.get("extras", ()))
        if {**stamp, "pip": None} == {**wanted(extras), "pip": None}:
            return
        began = time.monotonic()
        STAMP.unlink() if STAMP.exists() else None
        pip = stamp.get("pip") or make_venv()
        install(pip, extras)
        # Written last: without it, .venv counts as unfinished and is made anew.
        STAMP.write_text(json.dumps({**wanted(extras), "pip": pip}), encoding="utf-8")
        say(f"Set up in {time.monotonic() - began:.0f} s.")


def main(target: str) -> None:
    """Set up for `target`, then become the program that does the work."""
    extras, arguments = TARGETS[target]
    if target == "test":
        install_test_packages()
    set_up(set(extras))
    os.chdir(ROOT)
    os.environ["PATH"] = f"{VENV / 'bin'}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    os.environ["VIRTUAL_ENV"] = str(VENV)
    os.execv(str(PYTHON), [str(PYTHON), *arguments])  # noqa: S606 - the terminal's signals go straight to it


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except SetupError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("\nStopped. Run the same command again to go on.")
    except OSError as error:
        sys.exit(f"{error}\nIf an earlier run was made as another user, remove the .venv folder first.")
