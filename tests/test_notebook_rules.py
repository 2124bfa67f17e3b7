from __future__ import annotations

import copy
import itertools
import json

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from labs.course import catalogue
from labs.course.model import Chapter, cells
from labs.notebook_file import METADATA
from labs.notebook_rules import check, fix

CHAPTER = catalogue.find_chapter("03")


NUMBERS = itertools.count()


def markdown(source):
    return {"cell_type": "markdown", "id": f"m{next(NUMBERS)}", "metadata": {}, "source": source}


def code(source, outputs=(), **metadata):
    return {
        "cell_type": "code",
        "id": f"c{next(NUMBERS)}",
        "metadata": metadata,
        "source": source,
        "outputs": list(outputs),
        "execution_count": 1 if outputs else None,
    }


def stream(text):
    return {"output_type": "stream", "name": "stdout", "text": text}


def good():
    stubs = [
        code(source, labs={"exercise": each.id}) for each in CHAPTER.exercises for source in cells(each.stub)
    ]
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": copy.deepcopy(METADATA),
        "cells": [
            markdown(
                f"# Twenty milliseconds\nYou will be able to explain.\n{CHAPTER.minutes} minutes. Needs VPP."
            ),
            code("from labs import two_vpps\nlab = two_vpps()"),
            markdown("## Skills\n```\n#### not a heading\n```\n![a ring](ring.svg) and `![](x)`"),
            code("# NBVAL_CHECK_OUTPUT\nverdict('...', True)", [stream("✓ holds: twenty times, on vpp\n")]),
            *stubs,
            code('quiz("03")'),
            markdown("## What to take away\nCores."),
            code("lab.stop()"),
        ],
    }


@pytest.fixture
def sentences(tmp_path):
    """Return a function that writes a notebook and returns what the rules say of it, as text."""

    def run(content, name="03_twenty_milliseconds.ipynb"):
        path = tmp_path / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return [str(finding).removeprefix(str(path)) for finding in check([path])]

    return run


def test_a_good_notebook_has_no_findings(sentences):
    assert sentences(good()) == []


def spoil_title(book):
    book["cells"][0]["source"] = "Hello\n# Twenty"


def spoil_first_kind(book):
    book["cells"].insert(0, code("x = 1"))


def spoil_skills(book):
    book["cells"][0]["source"] = book["cells"][0]["source"].replace("able", "ready")


def spoil_needs(book):
    book["cells"][0]["source"] = book["cells"][0]["source"].replace("Needs", "Wants")


def spoil_minutes(book):
    book["cells"][0]["source"] = book["cells"][0]["source"].replace(f"{CHAPTER.minutes} min", "a few min")


def spoil_other_minutes(book):
    book["cells"][0]["source"] = book["cells"][0]["source"].replace(f"{CHAPTER.minutes} min", "7 min")


def spoil_stop(book):
    book["cells"][-1]["source"] = "print('lab.stop() comes later')"


def spoil_after_stop(book):
    book["cells"].append(code("x = 1"))


def spoil_output(book):
    book["cells"][1]["outputs"] = [stream("hello")]


def spoil_count(book):
    book["cells"][1]["execution_count"] = 3


def spoil_verdict_count(book):
    book["cells"][3]["execution_count"] = None


def spoil_missing_verdict(book):
    book["cells"][3] |= {"outputs": [], "execution_count": None}


def spoil_verdict_digits(book):
    book["cells"][3]["outputs"] = [stream("✓ holds: 20 times\n")]


def spoil_verdict_fails(book):
    book["cells"][3]["outputs"] = [stream("✗ does not hold here: twenty times\n")]


def spoil_untagged_error(book):
    book["cells"][3]["outputs"] = [
        {"output_type": "error", "ename": "LabError", "evalue": "no", "traceback": []}
    ]


def spoil_length(book):
    book["cells"][1]["source"] += "\nx = 1" * 19


def spoil_alt(book):
    book["cells"][2]["source"] += "\n![ ](ring.svg)"


def spoil_img(book):
    book["cells"][2]["source"] += '\n<img src="ring.svg" alt="">'


def spoil_kernel(book):
    book["metadata"]["kernelspec"]["name"] = "venv-kernel"


def spoil_metadata(book):
    book["metadata"]["language_info"]["version"] = "3.11.2"


def spoil_stub(book):
    stub = next(each for each in book["cells"] if "labs" in each["metadata"])
    stub["source"] += "\n# my answer"


def spoil_stub_missing(book):
    book["cells"] = [each for each in book["cells"] if "labs" not in each["metadata"]]


def spoil_stub_unknown(book):
    book["cells"][1]["metadata"] = {"labs": {"exercise": "03-no-such-thing"}}


def spoil_quiz(book):
    quiz = next(each for each in book["cells"] if each["source"].startswith("quiz"))
    quiz["source"] = 'quiz("02")'


def spoil_level(book):
    book["cells"][2]["source"] += "\n#### Deep"


def spoil_second_title(book):
    book["cells"][2]["source"] += "\n# Again"


def spoil_take_away(book):
    book["cells"][-2]["source"] = "## The end"


def spoil_path(book):
    book["cells"][1]["source"] += "\nopen('/home/me/vpp.conf')"


SPOILT = {
    spoil_title: "must begin with a Markdown cell",
    spoil_first_kind: "must begin with a Markdown cell",
    spoil_skills: "will be able to",
    spoil_needs: "what the notebook needs",
    spoil_minutes: "how many minutes",
    spoil_other_minutes: "says 7 minutes",
    spoil_stop: "must stop the lab",
    spoil_after_stop: "must stop the lab",
    spoil_output: "keeps its output",
    spoil_count: "has the execution count 3",
    spoil_verdict_count: "has the execution count None",
    spoil_missing_verdict: "must keep its output",
    spoil_verdict_digits: "must have no digits",
    spoil_verdict_fails: "does not hold",
    spoil_untagged_error: "raises-exception",
    spoil_length: "21 lines",
    spoil_alt: "no alternative text",
    spoil_img: "no alternative text",
    spoil_kernel: "kernel must be python3",
    spoil_metadata: "metadata of a session",
    spoil_stub: "differ from its stub",
    spoil_stub_missing: "no cell carries the stub",
    spoil_stub_unknown: "no exercise '03-no-such-thing'",
    spoil_quiz: "must ask the quiz",
    spoil_level: "skips a level",
    spoil_second_title: "more than one title",
    spoil_take_away: "What to take away",
    spoil_path: "'/home/me' is a path",
}


@pytest.mark.parametrize(("spoil", "sentence"), SPOILT.items())
def test_each_broken_rule_is_named_and_no_other(sentences, spoil, sentence):
    book = good()
    spoil(book)
    found = sentences(book)
    assert found
    assert all(sentence in each for each in found), found


def test_every_rule_has_a_test():
    assert SPOILT.keys() == {each for name, each in globals().items() if name.startswith("spoil_")}


def test_an_error_may_be_kept_in_a_tagged_cell(sentences):
    book = good()
    spoil_untagged_error(book)
    book["cells"][3]["metadata"] = {"tags": ["raises-exception"]}
    assert sentences(book) == []


def test_a_notebook_without_a_lab_need_not_stop_one(sentences):
    book = good()
    book["cells"][1]["source"] = "from labs import doctor"
    book["cells"][-1]["source"] = "doctor()"
    assert sentences(book) == []


def test_a_chapter_that_the_catalogue_lacks_is_named(sentences):
    assert any("has no chapter" in each for each in sentences(good(), "99_later.ipynb"))


def test_a_cell_is_counted_from_one(sentences):
    book = good()
    spoil_count(book)
    assert sentences(book)[0].startswith(", cell 2: ")


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"nbformat": 4}', "\ufeff{", '{"nbformat": "4"}'])
def test_what_is_no_notebook_is_one_finding(sentences, text):
    assert len(sentences(text)) == 1


def test_a_missing_file_is_one_finding(tmp_path):
    assert "cannot be read" in str(check([tmp_path / "03_none.ipynb"])[0])


def test_cells_without_ids_are_refused(sentences):
    book = good()
    del book["cells"][1]["id"]
    assert "without an id" in sentences(book)[0]


@given(st.text())
def test_no_text_makes_the_check_fail(tmp_path_factory, text):
    path = tmp_path_factory.mktemp("any") / "03_any.ipynb"
    book = good()
    book["cells"][0]["source"] = text
    book["cells"][1]["source"] = text
    path.write_text(json.dumps(book), encoding="utf-8")
    assert isinstance(check([path]), list)


def test_fix_strips_what_the_rules_forbid_and_keeps_verdicts(tmp_path):
    path = tmp_path / "03_x.ipynb"
    book = good()
    verdict = book["cells"][3]["outputs"]
    for spoil in (spoil_output, spoil_count, spoil_verdict_count, spoil_kernel, spoil_metadata):
        spoil(book)
    path.write_text(json.dumps(book), encoding="utf-8")
    assert fix([path]) == [path]
    assert check([path]) == []
    assert json.loads(path.read_text(encoding="utf-8"))["cells"][3]["outputs"][0]["text"] == [
        verdict[0]["text"]
    ]


def test_fix_leaves_a_good_notebook_as_it_is(tmp_path):
    path = tmp_path / "03_x.ipynb"
    nbformat.write(nbformat.from_dict(good()), path)
    before = path.read_bytes()
    assert fix([path]) == []
    assert path.read_bytes() == before


def test_fix_leaves_what_is_no_notebook(tmp_path):
    path = tmp_path / "03_x.ipynb"
    path.write_text("hello", encoding="utf-8")
    assert fix([path]) == []
    assert path.read_text(encoding="utf-8") == "hello"


def test_a_chapter_with_exercises_is_what_these_tests_use():
    assert isinstance(CHAPTER, Chapter)
    assert CHAPTER.exercises
