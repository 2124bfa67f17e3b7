from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.errors import LabError
from labs.vpp.statements import MAX_LENGTH, split_statements

words = st.text("abcxyz0189-/.:", min_size=1, max_size=8).filter(lambda word: not word.startswith("//"))
lines = st.lists(words, min_size=1, max_size=5).map(" ".join)


@given(st.lists(lines))
def test_plain_lines_are_statements_as_they_are(given_lines):
    assert split_statements("\n".join(given_lines)) == given_lines


@given(st.lists(st.one_of(lines, st.just(""), st.just("  # said by the way {"), st.just("// and this"))))
def test_comments_and_blank_lines_are_left_out(given_lines):
    wanted = [line for line in given_lines if line and not line.startswith(("  #", "//"))]
    assert split_statements("\n".join(given_lines)) == wanted


@given(st.lists(lines, min_size=1), st.lists(lines, min_size=1))
def test_an_open_brace_joins_lines_with_a_space(outside, inside):
    text = "\n".join([*outside, "packet-generator new {", *inside, "}", *outside])
    joined = "packet-generator new { " + " ".join(inside) + " }"
    assert split_statements(text) == [*outside, joined, *outside]


@given(st.text())
def test_statements_split_no_further(text):
    try:
        statements = split_statements(text)
    except LabError:
        return
    for statement in statements:
        assert statement == statement.strip() != ""
        assert "\n" not in statement


def test_nested_braces_are_counted():
    text = "packet-generator new {\n data {\n IP4: x\n }\n # why\n limit 5\n}\nshow version"
    assert split_statements(text) == ["packet-generator new { data { IP4: x } limit 5 }", "show version"]


def test_a_backslash_joins_the_next_line():
    assert split_statements("create interface \\\n  memif id 0 \\\nmaster\nx") == [
        "create interface memif id 0 master",
        "x",
    ]


def test_a_backslash_at_the_very_end_joins_nothing():
    assert split_statements("show version \\") == ["show version"]


def test_a_brace_left_open_is_an_error():
    with pytest.raises(LabError, match="not closed"):
        split_statements("packet-generator new {\n limit 5")


def test_a_line_that_vpp_would_cut_in_two_is_an_error():
    split_statements("x" * MAX_LENGTH)
    with pytest.raises(LabError, match="too long"):
        split_statements("x" * (MAX_LENGTH + 1))


def test_a_nul_is_an_error():
    with pytest.raises(LabError, match="NUL"):
        split_statements("show\0version")
