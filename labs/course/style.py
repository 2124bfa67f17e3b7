"""The one stylesheet of the teaching parts, and the marks that say right or wrong without colour."""

from __future__ import annotations

from labs.course.prose import inline

RIGHT, WRONG, BUSY, NOTE = "right", "wrong", "busy", "note"
_MARKS = {RIGHT: "✓", WRONG: "✗", BUSY: "…", NOTE: "ℹ"}  # noqa: RUF001 - the information sign is meant

# JupyterLab's variables follow its themes; what stands after the comma serves other front ends.
CSS = """
.labs-card {
  --labs-text: var(--jp-ui-font-color1, CanvasText);
  --labs-line: var(--jp-border-color1, GrayText);
  --labs-focus: var(--jp-brand-color1, Highlight);
  box-sizing: border-box; width: 100%; max-width: 780px; margin: 4px 0; padding: 12px 16px;
  border: 1px solid var(--labs-line); border-left: 4px solid var(--labs-focus); border-radius: 4px;
  background: var(--jp-layout-color1, Canvas); color: var(--labs-text);
  font-family: var(--jp-ui-font-family, system-ui, sans-serif); font-size: 14px; line-height: 1.5;
  overflow: hidden;
}
.labs-card .widget-html, .labs-card .widget-html-content {
  margin: 0; height: auto; line-height: 1.5; font-size: 14px; color: inherit; white-space: normal;
}
.labs-card h3 { margin: 0 0 8px; font-size: 16px; line-height: 1.4; font-weight: 600; }
.labs-card h3 small { margin-left: 8px; font-size: 13px; font-weight: 400; opacity: 0.85; }
.labs-card h5 { margin: 12px 0 4px; font-size: 14px; font-weight: 600; }
.labs-card p { margin: 0 0 8px; }
.labs-card ul, .labs-card ol { margin: 0 0 8px; padding-left: 24px; }
.labs-card code, .labs-card pre { font-family: var(--jp-code-font-family, monospace); font-size: 13px; }
.labs-card code { padding: 1px 4px; border-radius: 3px; background: var(--jp-layout-color2, Field); }
.labs-card pre {
  margin: 0 0 8px; padding: 8px 12px; overflow-x: auto; line-height: 1.45; color: inherit;
  background: var(--jp-layout-color2, Field); border-radius: 3px;
}
.labs-card pre code { padding: 0; background: none; }
.labs-row { gap: 8px; align-items: center; flex-wrap: wrap; margin: 4px 0; overflow: visible; }
.labs-card .jupyter-button {
  min-width: 96px; width: auto; height: 32px; margin: 0; padding: 0 14px; line-height: 30px;
  font-size: 14px; color: var(--labs-text); background: var(--jp-layout-color2, ButtonFace);
  border: 1px solid var(--labs-line); border-radius: 4px; box-shadow: none;
}
.labs-card .jupyter-button:hover:enabled {
  background: var(--jp-layout-color1, ButtonFace); border-color: var(--labs-focus); box-shadow: none;
}
.labs-card .jupyter-button.labs-wide { min-width: 136px; }
.labs-card .jupyter-button.mod-primary {
  border: 2px solid var(--labs-focus); font-weight: 600; line-height: 28px;
}
.labs-card .widget-vbox { overflow: visible; }
.labs-card .jupyter-button:focus-visible, .labs-card :is(button, input, a, pre):focus-visible,
.labs-file:focus-within {
  outline: 2px solid var(--labs-focus); outline-offset: 2px;
}
.labs-answer { min-height: 44px; margin: 4px 0 0; overflow: visible; }
.labs-answer .labs-live { padding: 0; }
.labs-said { display: flex; gap: 8px; padding: 8px 12px; border-left: 3px solid var(--labs-line);
  background: var(--jp-layout-color2, Field); }
.labs-said.labs-right { border-left-color: var(--jp-success-color1, green); }
.labs-said.labs-wrong { border-left-color: var(--jp-error-color1, firebrick); }
.labs-said.labs-busy, .labs-said.labs-note { border-left-color: var(--jp-info-color1, gray); }
.labs-said code { background: var(--jp-layout-color1, Canvas); }
.labs-mark { flex: 0 0 1em; font-weight: 700; text-align: center; }
.labs-code { position: relative; }
.labs-code button {
  position: absolute; top: 4px; right: 4px; padding: 2px 10px; cursor: pointer;
  font: inherit; font-size: 12px;
  color: var(--labs-text); background: var(--jp-layout-color1, ButtonFace);
  border: 1px solid var(--labs-line); border-radius: 3px;
}
.labs-choice { margin: 12px 0 4px; padding: 0; border: 0; min-width: 0; }
.labs-choice legend { padding: 0; margin-bottom: 4px; font-weight: 600; }
.labs-choice label { display: flex; gap: 8px; align-items: baseline; padding: 4px; cursor: pointer; }
.labs-choice label:hover { background: var(--jp-layout-color2, Field); }
.labs-choice input { flex: none; width: 16px; height: 16px; margin: 0; transform: translateY(2px);
  accent-color: var(--labs-focus); }
.labs-file { display: inline-flex; align-items: center; position: relative; cursor: pointer; }
.labs-file input { position: absolute; inset: 0; opacity: 0; cursor: pointer; }
.labs-card table {
  border-collapse: collapse; width: 100%; margin: 0 0 8px; font-variant-numeric: tabular-nums;
}
.labs-card caption { text-align: left; padding-bottom: 4px; }
.labs-card th, .labs-card td {
  padding: 6px 12px 6px 0; text-align: left; border-bottom: 1px solid var(--labs-line);
}
.labs-card a { color: var(--jp-content-link-color, LinkText); text-decoration: underline; }
"""


def stylesheet() -> str:
    """Return the stylesheet as an HTML element."""
    return f"<style>{CSS}</style>"


def page(body: str) -> str:
    """Return HTML in a card, with the stylesheet, for a page without widgets."""
    return f'{stylesheet()}<div class="labs-card">{body}</div>'


def said(kind: str, text: str) -> str:
    """Return a sentence as HTML with its mark.

    Parameters
    ----------
    kind : {"right", "wrong", "busy", "note"}
    text : str
        One sentence, `code` in backticks. It says what it means by itself: the mark is not read aloud.
    """
    mark = f'<span class="labs-mark" aria-hidden="true">{_MARKS[kind]}</span>'
    return f'<div class="labs-said labs-{kind}">{mark}<span>{inline(text)}</span></div>'
