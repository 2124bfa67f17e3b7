"""The quality badge: how far the numbers can be trusted, and why, on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import anywidget
import traitlets

from labs.course.elements import KEYS_STAY_HERE

if TYPE_CHECKING:
    from labs.quality import Quality

MARKS = {"good": "●", "fair": "◐", "poor": "○"}
"""The badges by shape."""
_NO_REASON = "Nothing was found that speaks against these numbers."

_SCRIPT = (
    KEYS_STAY_HERE
    + """
function render({ model, el }) {
  const add = (parent, tag, name = "") => {
    const element = document.createElement(tag);
    if (name) element.className = name;
    parent.append(element);
    return element;
  };
  const badge = add(add(el, "div", "labs-part"), "details", "labs-badge");
  const head = add(badge, "summary");
  keepKeys(head);
  badge.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || !badge.open) return;
    event.stopPropagation();
    badge.open = false;
  });
  const mark = add(head, "span");
  mark.setAttribute("aria-hidden", "true");
  const words = add(head, "span");
  const body = add(badge, "div", "labs-badge-reasons");
  const draw = () => {
    const { mark: shape, badge: word, note, reasons } = model.get("state");
    mark.textContent = shape;
    words.textContent = "Quality: ";
    add(words, "strong").textContent = word;
    body.replaceChildren();
    if (note) add(body, "p").textContent = note;
    if (!reasons.length) return;
    const list = add(body, "dl");
    for (const { what, effect } of reasons) {
      add(list, "dt").textContent = what;
      add(list, "dd").textContent = effect;
    }
  };
  model.on("change:state", draw);
  draw();
  return () => model.off("change:state", draw);
}
export default { render };
"""
)


class BadgeWidget(anywidget.AnyWidget):
    """The badge in a page; what it holds may change while it is open."""

    _esm = _SCRIPT
    state = traitlets.Dict().tag(sync=True)


class Badge:
    """A badge that opens at a click or by keyboard, and then tells its reasons."""

    def __init__(self) -> None:
        self.widget = BadgeWidget(
            state={"mark": "◌", "badge": "not known yet", "note": "Nothing was measured yet.", "reasons": []}
        )

    def show(self, quality: Quality) -> None:
        """Show a quality and its reasons."""
        self.widget.state = {
            "mark": MARKS[quality.badge],
            "note": "" if quality.reasons else _NO_REASON,
            **quality.to_dict(),
        }
