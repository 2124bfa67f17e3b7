"""Each test has a progress file of its own and no memory of hints."""

from __future__ import annotations

import pytest

from labs.course import hints
from labs.course.store import store


@pytest.fixture(autouse=True)
def progress_file(tmp_path, monkeypatch):
    path = tmp_path / "my-progress.json"
    monkeypatch.setenv("LABS_PROGRESS", str(path))
    monkeypatch.setattr(hints, "_ladders", {})
    return path


@pytest.fixture
def kept_in(progress_file):
    return store()
