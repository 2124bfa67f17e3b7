"""The system's Chromium, started without a window and without questions to its makers' servers."""

from __future__ import annotations

import contextlib
import shutil

import pytest

_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
# Without these, Chromium asks its makers' servers for this and that, and one run by root does not start.
_QUIET = (
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
)


@contextlib.contextmanager
def chromium(driver):
    """Give a browser of a Playwright driver; the test is skipped where the system has none."""
    program = next(filter(None, map(shutil.which, _BROWSERS)), None)
    if program is None:
        pytest.skip("browser: no Chromium; on Debian, apt install chromium")
    browser = driver.chromium.launch(executable_path=program, args=_QUIET)
    try:
        yield browser
    finally:
        browser.close()
