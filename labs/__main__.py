"""The command ``labs`` from its first moment on: who presses Ctrl-C while it loads sees no traceback."""

from __future__ import annotations

import sys


def main() -> None:
    """Load the command and run it."""
    try:
        from labs.main import main as command  # noqa: PLC0415 - half a second that may be interrupted

        command()
    except KeyboardInterrupt:
        sys.exit("Aborted.")


if __name__ == "__main__":
    main()
