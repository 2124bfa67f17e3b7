"""Processes that own a lab, as a notebook's kernel does, for tests to end in every way."""

from __future__ import annotations

import contextlib
import signal
import subprocess
import sys
import textwrap


@contextlib.contextmanager
def python(code, *arguments, **options):
    """Run Python code in a process group of its own; yield it, and end it."""
    child = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", textwrap.dedent(code), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        **options,
    )
    with child:
        try:
            yield child
        finally:
            if child.poll() is None:
                child.send_signal(signal.SIGCONT)
                child.kill()


def unprivileged(code, *arguments, **options):
    """Run Python code as `python` does, but without the rights of root.

    Labs is imported before, since nobody may be unable to read it.
    """
    drop = """
        import os
        import labs.lab
        import labs.engines.docker
        import labs.engines.process
        import labs.engines.reaper
        if os.geteuid() == 0:
            os.setgroups([])
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
    """
    return python(textwrap.dedent(drop) + textwrap.dedent(code), *arguments, **options)


def read_until(child, word):
    """Return the lines a child prints up to one that begins with `word`."""
    lines = []
    for line in child.stdout:
        lines.append(line.rstrip())
        if line.startswith(word):
            return lines
    raise AssertionError("it ended first:\n" + "\n".join(lines))


# Starts a lab, says so, and then does what it is told, a line at a time.
OWNER = """
    import sys, time
    from labs import two_vpps
    lab = two_vpps(sys.argv[1], engine=sys.argv[2])
    lab.start()
    print("started", flush=True)
    while line := sys.stdin.readline():
        try:
            print("said", eval(line), flush=True)
        except KeyboardInterrupt:
            print("interrupted", flush=True)
"""


def ask(child, expression):
    """Let an OWNER evaluate an expression, and return the text of its value."""
    child.stdin.write(f"{expression}\n")
    child.stdin.flush()
    return read_until(child, "said")[-1].removeprefix("said ")
