from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from labs.errors import CliError, LabError
from labs.stock import one_vpp


@pytest.fixture(scope="module")
def shell():
    made = InteractiveShell()
    made.extension_manager.load_extension("labs.magics")
    yield made
    InteractiveShell.clear_instance()


@pytest.fixture(scope="module")
def lab(engine):
    made = one_vpp("magics", engine=engine)
    made.start()
    yield made
    made.stop()


def run(shell, cell):
    with capture_output() as captured:
        result = shell.run_cell(cell)
    return result, captured.stdout


@pytest.mark.vpp
def test_a_cell_shows_each_line_and_its_answer(shell, lab):
    result, shown = run(shell, "%%vpp vpp1\nshow version\n\n# a comment\nshow interface\n")
    assert result.success
    assert shown.startswith("vpp1# show version\nvpp v")
    assert "vpp1# show interface\n" in shown
    assert "local0" in shown
    assert "comment" not in shown


def test_a_line_goes_to_the_node_it_names(shell, lab):
    result, shown = run(shell, "%vpp vpp1 show version")
    assert result.success
    assert "vpp1# show version" in shown


def test_lines_behind_the_first_refused_one_are_not_sent(shell, lab):
    result, shown = run(
        shell, "%%vpp vpp1\ncreate loopback interface\nshow interfce\ncreate loopback interface\n"
    )
    assert isinstance(result.error_in_exec, CliError)
    assert "loop0" in shown
    assert [name for name in lab["vpp1"].counters() if name.startswith("loop")] == ["loop0"]


def test_the_refused_part_is_underlined_and_no_traceback_is_shown(shell, lab):
    result, shown = run(shell, "%%vpp vpp1\nshow interfce")
    lines = result.error_in_exec._render_traceback_()
    assert lines[0] == "show interfce"
    assert lines[1] == "     ^^^^^^^^"
    assert any(line.startswith("Hint: ") for line in lines)
    assert "Traceback" not in shown
    assert "labs/" not in shown


@pytest.mark.vpp
def test_a_statement_may_stretch_over_lines(shell, lab):
    stream = "packet-generator new {\n  name s\n  size 64-64\n  node ip4-input\n  data { hex 0x4500 }\n}"
    result, shown = run(shell, f"%%vpp vpp1\n{stream}\nshow version")
    assert result.success, shown
    assert "vpp v" in shown


@pytest.mark.parametrize(
    ("cell", "words"),
    [
        ("%%vpp\nshow version", "Which node is meant?"),
        ("%%vpp vpp1 vpp2\nshow version", "takes one node"),
        ("%%vpp vpp9\nshow version", "vpp9"),
    ],
)
def test_a_cell_for_no_node_says_what_is_wrong(shell, lab, cell, words):
    result, _ = run(shell, cell)
    assert isinstance(result.error_in_exec, LabError)
    assert words in result.error_in_exec.message
    assert result.error_in_exec.hint


def test_an_empty_cell_does_nothing(shell, lab):
    result, shown = run(shell, "%%vpp vpp1\n\n")
    assert result.success
    assert shown == ""


def test_without_a_lab_the_hint_says_to_start_one(shell):
    result, _ = run(shell, "%vpp vpp77 show version")
    assert isinstance(result.error_in_exec, LabError)
