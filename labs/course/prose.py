"""Course text as a learner sees it: rendered in a page, plain in a terminal."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from functools import cache

from markdown_it import MarkdownIt

_CODE = re.compile(r"`([^`\n]+)`")


@dataclass(frozen=True)
class Prose:
    """Text that shows as itself, not as a quoted string.

    Parameters
    ----------
    text : str
        For a terminal.
    markdown : str, optional
        For a page; the same as `text` if empty.
    """

    text: str
    markdown: str = ""

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _repr_markdown_(self) -> str:
        return self.markdown or self.text


@cache
def _renderer() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False})


def to_html(markdown: str) -> str:
    """Return Markdown as HTML; HTML in it is shown, not interpreted."""
    return str(_renderer().render(markdown))


def inline(text: str) -> str:
    """Return one line as HTML with `code` in backticks; all else is escaped.

    For sentences that may carry VPP's own words: ``memif0/0 *`` is no Markdown.
    """
    return _CODE.sub(r"<code>\1</code>", html.escape(text, quote=False))
