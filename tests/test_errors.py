from __future__ import annotations

import pytest

from labs.errors import CliError, LabError, LinkDown, NodeDied, NotAvailable


@pytest.mark.parametrize("kind", [LabError, NotAvailable, NodeDied, LinkDown])
def test_the_text_is_the_sentence_and_the_hint(kind):
    assert str(kind("It broke.", "mend it.")) == "It broke.\nHint: mend it."


def test_without_a_hint_none_is_promised():
    assert str(LabError("It broke.")) == "It broke."


def test_every_error_of_ours_is_a_lab_error():
    assert all(issubclass(kind, LabError) for kind in (NotAvailable, NodeDied, LinkDown, CliError))


def test_ipython_gets_lines_instead_of_a_traceback():
    assert LabError("It broke.", "mend it.")._render_traceback_() == ["It broke.", "Hint: mend it."]


def test_a_cli_error_underlines_what_vpp_could_not_take():
    error = CliError("VPP refused this line: unknown input", "ask.", statement="show nonsense\n", at=5)
    assert str(error).splitlines() == [
        "show nonsense",
        "     ^^^^^^^^",
        "VPP refused this line: unknown input",
        "Hint: ask.",
    ]


def test_an_underline_at_the_very_end_still_shows():
    assert "\n    ^\n" in str(CliError("No.", statement="show", at=4))
