"""Run every check and test, all of them even after one fails, and say how each ended."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTHING_RAN = 5  # pytest's exit status when it collected no test

STEPS: dict[str, list[str]] = {
    "ruff check": ["-m", "ruff", "check", "."],
    "ruff format": ["-m", "ruff", "format", "--check", "."],
    "mypy": ["-m", "mypy"],
    "labs check": ["-m", "labs.main", "check"],
    "pytest": ["-m", "pytest"],
}


def run(name: str, arguments: list[str]) -> tuple[int, float]:
    """Run one step with this Python and return its exit status and its seconds."""
    print(f"\n== {name}", flush=True)  # noqa: T201 - the report is the job
    began = time.monotonic()
    status = subprocess.run([sys.executable, *arguments], cwd=ROOT, check=False).returncode
    if name == "pytest" and status == NOTHING_RAN:
        print("No test ran; that counts as a failure.", flush=True)  # noqa: T201
    return status, time.monotonic() - began


def main() -> int:
    """Run the steps and return the first failure's exit status, or 0."""
    results = {name: run(name, arguments) for name, arguments in STEPS.items()}
    print("\n== in all")  # noqa: T201
    for name, (status, seconds) in results.items():
        print(f"{name:12} {'ok' if status == 0 else f'FAILED ({status})':14} {seconds:6.1f} s")  # noqa: T201
    return next((status for status, _ in results.values() if status), 0)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("\nStopped.")
