from __future__ import annotations

import pytest

from labs import engines
from labs.engines.base import Availability
from labs.errors import LabError, NotAvailable


class Fake:
    def __init__(self, name, availability):
        self.name = name
        self.availability = lambda: availability


@pytest.fixture
def here(monkeypatch):
    """Return a function that says which engines are here, in a world where all others are missing."""
    monkeypatch.delenv("LABS_ENGINE", raising=False)

    def are(*names):
        found = {
            name: Availability(ok=True, reason=f"{name} is here.")
            if name in names
            else Availability(ok=False, reason=f"No {name}.", hint=f"get {name}.")
            for name in engines.NAMES
        }
        real = engines.find
        monkeypatch.setattr(
            engines, "find", lambda name: Fake(name, found[name]) if name in found else real(name)
        )

    return are


@pytest.mark.parametrize(
    ("names", "chosen"),
    [
        (("docker", "process", "glassbox"), "docker"),
        (("process", "glassbox"), "process"),
        (("docker",), "docker"),
        (("glassbox",), "glassbox"),
    ],
)
def test_the_first_that_is_here_is_chosen_and_the_reason_given(here, names, chosen):
    here(*names)
    engine, why = engines.choose()
    assert (engine.name, why) == (chosen, "the first of docker, process, glassbox that is here")


def test_the_one_asked_for_is_chosen(here):
    here("docker", "process")
    engine, why = engines.choose("process")
    assert (engine.name, why) == ("process", "asked for")


def test_the_environment_chooses_where_nobody_asks(here, monkeypatch):
    here("docker", "process")
    monkeypatch.setenv("LABS_ENGINE", "process")
    assert engines.choose()[1] == "LABS_ENGINE asks for it"
    assert engines.choose("docker")[0].name == "docker"


def test_the_one_asked_for_is_not_replaced_by_another(here):
    here("process")
    with pytest.raises(NotAvailable, match=r"The engine docker cannot be used: No docker\.") as refused:
        engines.choose("docker")
    assert refused.value.hint == "get docker."


def test_without_any_all_reasons_and_hints_are_given(here):
    here()
    with pytest.raises(NotAvailable) as refused:
        engines.choose()
    assert "No docker. No process. No glassbox." in refused.value.message
    assert "get glassbox." in refused.value.hint
    assert "get docker." in refused.value.hint


@pytest.mark.parametrize("ask", ["Docker", "kubernetes", "glass"])
def test_an_unknown_engine_names_the_known_ones(here, monkeypatch, ask):
    here("docker", "process")
    with pytest.raises(LabError, match=f"There is no engine '{ask}'") as refused:
        engines.choose(ask)
    assert refused.value.hint == "the engines are docker, process, glassbox."
    monkeypatch.setenv("LABS_ENGINE", ask)
    with pytest.raises(LabError, match=f"There is no engine '{ask}'"):
        engines.choose()
