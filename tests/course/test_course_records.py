from __future__ import annotations

import json
import threading

from hypothesis import given
from hypothesis import strategies as st

from labs.course import records
from labs.course.progress_file import parse, render
from labs.course.records import Records, join, nothing

TIMES = st.integers(0, 5).map(lambda n: f"2026-11-30T18:00:0{n}.000000000Z")
NAMES = st.sampled_from(["02-a", "02-b"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)
UNKNOWN = st.dictionaries(st.sampled_from(["note", "extra"]), JSON, max_size=2)


def _entry(**fields):
    known = st.fixed_dictionaries({}, optional=fields)
    return st.builds(lambda a, b: {**a, **b}, UNKNOWN, known)


ANSWERS = st.lists(st.builds(lambda at, right: {"at": at, "right": right}, TIMES, st.booleans()), max_size=3)
FILES = st.builds(
    lambda unknown, known: {**unknown, **known, **nothing()},
    UNKNOWN,
    st.fixed_dictionaries(
        {},
        optional={
            "notebooks": st.dictionaries(NAMES, _entry(visited=TIMES), max_size=2),
            "exercises": st.dictionaries(
                NAMES,
                _entry(
                    attempts=st.lists(TIMES, max_size=3),
                    hints=st.integers(0, 3),
                    passed=TIMES,
                    solution=TIMES,
                ),
                max_size=2,
            ),
            "questions": st.dictionaries(NAMES, _entry(answers=ANSWERS), max_size=2),
        },
    ),
).map(lambda data: join(data, data))


@given(FILES, FILES)
def test_joining_is_commutative(left, right):
    assert render(join(left, right)) == render(join(right, left))


@given(FILES, FILES)
def test_joining_is_idempotent(left, right):
    both = join(left, right)
    assert render(join(both, both)) == render(both)
    assert render(join(both, right)) == render(both)


@given(FILES, FILES, FILES)
def test_joining_is_associative(first, second, third):
    assert render(join(join(first, second), third)) == render(join(first, join(second, third)))


@given(FILES)
def test_nothing_changes_nothing(data):
    assert render(join(data, nothing())) == render(data)
    assert render(join(data, {})) == render(data)


@given(FILES, FILES)
def test_no_attempt_pass_answer_or_visit_is_lost(left, right):
    both = join(left, right)
    for data in (left, right):
        for name, entry in data.get("notebooks", {}).items():
            assert ("visited" in entry) <= Records(both).was_visited(name)
        for name, entry in data.get("exercises", {}).items():
            kept = both["exercises"][name]
            assert set(entry.get("attempts", [])) <= set(kept.get("attempts", []))
            assert bool(entry.get("passed")) <= bool(Records(both).passed(name))
            assert kept.get("passed", "") <= entry.get("passed", "9")
            assert entry.get("hints", 0) <= Records(both).hints(name)
            assert ("solution" in entry) <= Records(both).saw_solution(name)
        for name, entry in data.get("questions", {}).items():
            assert all(answer in both["questions"][name]["answers"] for answer in entry.get("answers", []))


def _key_paths(value, at=()):
    if isinstance(value, dict):
        for key, inner in value.items():
            yield (*at, key)
            yield from _key_paths(inner, (*at, key))


@given(FILES, FILES)
def test_no_key_is_lost_known_or_not(left, right):
    assert {*_key_paths(left), *_key_paths(right)} == set(_key_paths(join(left, right)))


@given(FILES)
def test_a_file_comes_back_as_it_was_written(data):
    assert render(parse(render(data).encode())) == render(data)


@given(FILES)
def test_what_is_kept_is_json(data):
    assert json.loads(render(data)) == data


def test_the_first_answer_decides():
    first, second = records.answered("02-a", right=False), records.answered("02-a", right=True)
    kept = Records(join(second, first))
    assert not kept.first_right("02-a")
    assert kept.tries("02-a") == 2


def test_the_first_pass_is_kept():
    first, second = records.attempted("02-a", passed=True), records.attempted("02-a", passed=True)
    kept = Records(join(second, first))
    assert kept.passed("02-a") == first["exercises"]["02-a"]["passed"]
    assert kept.attempts("02-a") == 2


def test_a_failed_attempt_is_no_pass():
    kept = Records(records.attempted("02-a", passed=False))
    assert kept.attempts("02-a") == 1
    assert kept.passed("02-a") == ""


def test_fewer_hints_in_a_later_session_take_none_away():
    assert Records(join(records.hinted("02-a", 3), records.hinted("02-a", 1))).hints("02-a") == 3


def test_nothing_is_known_of_what_is_not_there():
    kept = Records(nothing())
    assert (kept.attempts("x"), kept.hints("x"), kept.passed("x"), kept.tries("x")) == (0, 0, "", 0)
    assert [kept.saw_solution("x"), kept.first_right("x"), kept.was_visited("x")] == [False] * 3


def test_no_two_times_of_a_process_are_the_same():
    times = []
    threads = [
        threading.Thread(target=lambda: times.extend(records.now() for _ in range(500))) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(times)) == len(times) == 2000


def test_times_never_go_back_though_the_clock_does(monkeypatch):
    before = records.now()
    monkeypatch.setattr(records.time, "time_ns", lambda: 0)
    assert records.now() > before
