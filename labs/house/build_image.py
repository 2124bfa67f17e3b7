"""Build the image in which the docker engine runs VPP: the script behind ``make image``."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

CONTEXT = Path(__file__).resolve().parents[2] / "docker" / "vpp"
NAME = "vpp-labs/vpp"
VERSION = "26.06"


def trouble() -> str:
    """Return why no image can be built here, with what to do; empty if one can."""
    if shutil.which("docker") is None:
        return "Docker was not found.\nInstall it (on Debian and Ubuntu: sudo apt install docker.io)."
    asked = subprocess.run(["docker", "version"], capture_output=True, text=True, check=False)
    if asked.returncode == 0:
        return ""
    if "permission denied" in asked.stderr.lower():
        return (
            "Docker is here, but you may not use it.\n"
            'Run: sudo usermod -aG docker "$USER"; then log in again.'
        )
    said = asked.stderr.strip()
    return f"{said}\nDocker is here, but its daemon does not answer.\nStart it: sudo systemctl start docker"


def main() -> int:
    """Build the image and return the exit status."""
    if reason := trouble():
        sys.stderr.write(f"{reason}\n")
        return 1
    version = os.environ.get("VPP_VERSION") or VERSION
    command = [
        "docker",
        "build",
        "--build-arg",
        f"VPP_VERSION={version}",
        "--tag",
        f"{NAME}:{version}",
        str(CONTEXT),
    ]
    status = subprocess.run(command, check=False).returncode
    if status:
        sys.stderr.write("The image was not built; Docker's lines above say why.\n")
    return status


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("\nStopped.")
