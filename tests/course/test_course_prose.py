from __future__ import annotations

from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from labs.course.prose import Prose, inline, to_html
from labs.course.style import BUSY, NOTE, RIGHT, WRONG, said


class _Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags = set()
        self.text = ""

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.tags.add(tag)

    def handle_data(self, data):
        self.text += data


def _parsed(html):
    parser = _Tags()
    parser.feed(html)
    parser.close()
    return parser


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"])))
def test_a_line_loses_nothing_but_its_backticks_and_makes_no_tag_but_code(text):
    parsed = _parsed(inline(text))
    assert parsed.tags <= {"code"}
    assert parsed.text.replace("`", "") == text.replace("`", "")


def test_vpp_words_are_no_markdown():
    assert inline("memif0/0 *up* <down> `show memif`") == (
        "memif0/0 *up* &lt;down&gt; <code>show memif</code>"
    )


def test_markdown_is_rendered_and_html_in_it_is_not():
    html = to_html("**bold** `code`\n\n<script>alert(1)</script>")
    assert "<strong>bold</strong> <code>code</code>" in html
    assert "<script>" not in html


def test_every_mark_is_a_shape_and_is_not_read_aloud():
    marks = {said(kind, "text").split('aria-hidden="true">')[1][0] for kind in (RIGHT, WRONG, BUSY, NOTE)}
    assert len(marks) == 4


def test_prose_shows_as_itself():
    assert repr(Prose("a line")) == "a line"
    assert Prose("a line")._repr_markdown_() == "a line"
    assert Prose("x = 1", "```python\nx = 1\n```")._repr_markdown_() == "```python\nx = 1\n```"
