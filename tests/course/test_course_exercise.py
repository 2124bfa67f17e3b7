from __future__ import annotations

import pytest
from course_fakes import FakeLab

from labs.course import exercise
from labs.course.store import store
from labs.errors import LabError

ID = "02-swap-roles"


def test_without_widgets_the_task_can_be_read():
    text = repr(exercise(ID))
    assert text.startswith(f"Exercise {ID}: Swap the roles (5 min)")
    assert "Make `vpp1` the client" in text
    assert f'exercise("{ID}", lab).check()' in text


def test_a_front_end_without_widgets_gets_text_and_html():
    bundle = exercise(ID)._repr_mimebundle_()
    assert bundle["text/plain"] == repr(exercise(ID))
    assert "<code>vpp1</code>" in bundle["text/html"]
    assert "<button" not in bundle["text/html"]
    assert "application/vnd.jupyter.widget-view+json" in bundle


def test_a_check_reads_as_a_sentence():
    assert repr(exercise(ID, FakeLab()).check()).startswith("not yet: vpp1's memif0/0 is the server.")
    assert repr(exercise(ID, FakeLab().swap()).check()).startswith("✓ vpp1 is the client")


def test_attempts_and_the_first_pass_are_recorded():
    exercise(ID, FakeLab()).check()
    assert (store().read().attempts(ID), store().read().passed(ID)) == (1, "")
    exercise(ID, FakeLab().swap()).check()
    assert store().read().attempts(ID) == 2
    assert store().read().passed(ID)


def test_a_check_without_a_lab_is_no_attempt():
    assert not exercise(ID).check().passed
    assert store().read().attempts(ID) == 0


def test_hints_come_one_by_one_though_each_cell_asks_anew():
    hints = [str(exercise(ID).hint()) for _ in range(4)]
    assert [hint[:11] for hint in hints] == ["Hint 1 of 3", "Hint 2 of 3", "Hint 3 of 3", "No more hin"]
    assert store().read().hints(ID) == 3


def test_the_solution_opens_after_an_attempt():
    with pytest.raises(LabError, match="opens after your first check"):
        exercise(ID, FakeLab()).solution()
    assert not store().read().saw_solution(ID)
    exercise(ID, FakeLab()).check()
    solution = exercise(ID).solution()
    assert "create interface memif id 0 slave" in str(solution)
    assert "# %%" not in str(solution)
    assert solution._repr_markdown_().count("```python\n%%vpp") == 2
    assert store().read().saw_solution(ID)


def test_starting_again_gives_the_stub_and_forgets_the_hints():
    practice = exercise(ID)
    practice.hint()
    assert str(practice.start_again()).startswith("%%vpp vpp1\nshow memif")
    assert str(practice.hint()).startswith("Hint 1 of 3")


def test_showing_an_exercise_marks_its_notebook_as_opened():
    exercise(ID)
    assert store().read().was_visited("02")


def test_an_unknown_exercise_marks_nothing(progress_file):
    with pytest.raises(LabError, match="no exercise"):
        exercise("02-swap")
    assert not progress_file.exists()


@pytest.mark.parametrize("given", ["two_vpps", 3, FakeLab().nodes["vpp1"]])
def test_what_is_no_lab_is_refused_at_once(given):
    with pytest.raises(LabError, match="needs the lab, and was given a"):
        exercise(ID, given)


def test_a_file_that_cannot_be_written_stops_nobody(progress_file):
    progress_file.mkdir()
    assert exercise(ID, FakeLab().swap()).check().passed
    assert exercise(ID, FakeLab()).solution()
