from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.course import records
from labs.course.progress_file import MAX_BYTES, BadProgress, NewerProgress, parse, render
from labs.course.records import join, nothing

TIME = "2026-11-30T18:00:00.000000000Z"


def _file(**more):
    return json.dumps({**nothing(), **more}).encode()


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", "is not JSON"),
        (b"{", "is not JSON"),
        (b"\xff\xfe", "is not JSON"),
        (b'{"course": "vpp-labs", "version": NaN}', "is not JSON"),
        (b'{"course": "vpp-labs", "version": 1, "x": 1e999}', "is not JSON"),
        (b'{"course": "vpp-labs", "version": 1, "x": ' + b"9" * 5000 + b"}", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "is not a progress file of this course"),
        (b"null", "is not a progress file of this course"),
        (b'{"cells": [], "nbformat": 4}', "is not a progress file of this course"),
        (b'{"course": "another", "version": 1}', "is not a progress file of this course"),
        (b'{"course": "vpp-labs"}', "has no version"),
        (b'{"course": "vpp-labs", "version": true}', "has no version"),
        (b'{"course": "vpp-labs", "version": 0}', "has no version"),
        (_file(x=json.loads("[" * 60 + "]" * 60)), "is nested too deeply"),
        (b" " * (MAX_BYTES + 1), "is larger than 4 MB"),
        (_file(exercises=[]), "has a wrong entry: exercises"),
        (_file(exercises={"02-a": 3}), "has a wrong entry: exercises, 02-a"),
        (_file(exercises={"02-a": {"attempts": 3}}), "has a wrong entry: exercises, 02-a, attempts"),
        (
            _file(exercises={"02-a": {"attempts": ["yesterday"]}}),
            "has a wrong entry: exercises, 02-a, attempts",
        ),
        (_file(exercises={"02-a": {"hints": True}}), "has a wrong entry: exercises, 02-a, hints"),
        (_file(exercises={"02-a": {"hints": -1}}), "has a wrong entry: exercises, 02-a, hints"),
        (_file(exercises={"02-a": {"passed": None}}), "has a wrong entry: exercises, 02-a, passed"),
        (_file(notebooks={"02": {"visited": TIME + "\n"}}), "has a wrong entry: notebooks, 02, visited"),
        (
            _file(questions={"02-a": {"answers": [{"at": TIME}]}}),
            "has a wrong entry: questions, 02-a, answers",
        ),
        (
            _file(questions={"02-a": {"answers": [{"at": TIME, "right": 1}]}}),
            "has a wrong entry: questions, 02-a",
        ),
    ],
)
def test_what_is_no_progress_file_is_refused_in_words(content, why):
    with pytest.raises(BadProgress) as refused:
        parse(content)
    assert refused.value.message.startswith(why)


@given(st.binary() | st.text().map(str.encode))
def test_no_bytes_break_the_parser(content):
    with pytest.raises(BadProgress):
        parse(content)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text() | st.just(TIME),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(["exercises", "attempts", "02-a", "answers", "at", "right", "hints"]),
                inner,
                max_size=3,
            )
        ),
    )
)
def test_no_shape_breaks_the_parser_or_what_reads_it(shape):
    try:
        data = parse(_file(**(shape if isinstance(shape, dict) else {"exercises": shape})))
    except BadProgress:
        return
    kept = records.Records(data)
    assert kept.attempts("02-a") >= 0
    assert kept.tries("02-a") >= 0
    assert join(data, data) == data


def test_a_later_version_is_not_broken_but_left_alone():
    with pytest.raises(NewerProgress, match="has version 2") as refused:
        parse(b'{"course": "vpp-labs", "version": 2, "exercises": "of a new kind"}')
    assert "LABS_PROGRESS" in refused.value.hint


def test_unknown_keys_of_any_kind_stay():
    data = parse(_file(theme="dark", exercises={"09-new": {"stars": [1, 2]}}, later={"a": {"b": None}}))
    assert data["theme"] == "dark"
    assert data["exercises"]["09-new"]["stars"] == [1, 2]
    assert data["later"] == {"a": {"b": None}}


def test_a_file_is_readable_text_with_one_entry_a_line():
    text = render(join(nothing(), records.visited("02")))
    assert text.endswith("}\n")
    assert '"visited": "' in text
    assert len(text.splitlines()) > 5
