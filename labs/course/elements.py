"""Page elements that ipywidgets lacks: a region read aloud as it changes, a labelled choice, a file button.

ipywidgets' HTML replaces its element with each value, so a screen reader never sees one region change; its
RadioButtons have neither a group name nor a group label, so arrow keys and screen readers pass them by; its
FileUpload writes a count of files on its button.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import anywidget
import traitlets

from labs.course.progress_file import MAX_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable

KEYS_STAY_HERE = """
// JupyterLab takes Enter, Space, arrows and letters for its own commands unless the focused element says
// no. It listens on the document, so the window can still decide for each key: Ctrl+S is to save as ever.
function keepKeys(element) {
  element.setAttribute("data-labs-keys", "");
  if (window.labsKeepsKeys) return;
  window.labsKeepsKeys = true;
  window.addEventListener("keydown", (event) => {
    if (!event.target.matches?.("[data-labs-keys]")) return;
    const run = event.shiftKey && event.key === "Enter";
    const theirs = event.ctrlKey || event.metaKey || event.altKey || run;
    event.target.toggleAttribute("data-lm-suppress-shortcuts", !theirs);
  }, true);
}
"""

_LIVE_REGION = (
    KEYS_STAY_HERE
    + """
function render({ model, el }) {
  const region = document.createElement("div");
  region.className = "labs-live";
  region.setAttribute("role", model.get("role"));
  region.setAttribute("aria-live", "polite");
  el.append(region);
  let shown = "";
  const draw = () => {
    const value = model.get("value");
    // What is only added to is not written anew, so that only the addition is read aloud.
    if (shown && value.startsWith(shown)) region.insertAdjacentHTML("beforeend", value.slice(shown.length));
    else region.innerHTML = value;
    shown = value;
    region.querySelectorAll("button, pre").forEach(keepKeys);
    if (!navigator.clipboard) region.querySelectorAll("[data-copy]").forEach((button) => button.remove());
  };
  const copy = async (event) => {
    const button = event.target.closest("button[data-copy]");
    if (!button) return;
    const code = button.parentElement.querySelector("pre");
    try { await navigator.clipboard.writeText(code.textContent); button.textContent = "Copied"; }
    catch { button.textContent = "Select the text and copy it"; }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  };
  model.on("change:value", draw);
  region.addEventListener("click", copy);
  draw();
  return () => model.off("change:value", draw);
}
export default { render };
"""
)

_CHOICE = (
    KEYS_STAY_HERE
    + """
let choices = 0;
function render({ model, el }) {
  const name = `labs-choice-${Date.now()}-${choices++}`;
  const group = document.createElement("fieldset");
  group.className = "labs-choice";
  const legend = document.createElement("legend");
  legend.innerHTML = model.get("legend");
  group.append(legend);
  const radios = model.get("options").map((text, index) => {
    const label = document.createElement("label");
    const radio = document.createElement("input");
    radio.type = "radio";
    radio.name = name;
    keepKeys(radio);
    radio.addEventListener("change", () => { model.set("index", index); model.save_changes(); });
    const words = document.createElement("span");
    words.innerHTML = text;
    label.append(radio, words);
    group.append(label);
    return radio;
  });
  const draw = () => radios.forEach((radio, index) => { radio.checked = index === model.get("index"); });
  model.on("change:index", draw);
  draw();
  el.append(group);
  return () => model.off("change:index", draw);
}
export default { render };
"""
)

_FILE_BUTTON = (
    KEYS_STAY_HERE
    + """
function render({ model, el }) {
  const button = document.createElement("label");
  button.className = "jupyter-button labs-file";
  const input = document.createElement("input");
  input.type = "file";
  input.accept = ".json";
  keepKeys(input);
  button.append(model.get("label"), input);
  input.addEventListener("change", async () => {
    const file = input.files[0];
    if (!file) return;
    // A larger file cannot be ours, and might not pass through the connection to the kernel.
    const content = await file.slice(0, model.get("limit") + 1).arrayBuffer();
    model.send({ name: file.name }, undefined, [content]);
    input.value = "";
  });
  el.append(button);
}
export default { render };
"""
)


class LiveRegion(anywidget.AnyWidget):
    """Text that screen readers speak when it changes, without moving the focus.

    Parameters
    ----------
    value : str
        HTML. A ``button`` with ``data-copy`` copies the ``pre`` beside it.
    role : {"status", "log"}
        Read whole at each change, or only what is added.
    """

    _esm = _LIVE_REGION
    value = traitlets.Unicode("").tag(sync=True)
    role = traitlets.Unicode("status").tag(sync=True)


class Choice(anywidget.AnyWidget):
    """One of several answers, as a group of radio buttons with its question as label.

    Parameters
    ----------
    legend : str
        The question, as HTML.
    options : list of str
        The answers, as HTML.
    index : int
        Which is chosen; -1 for none.
    """

    _esm = _CHOICE
    legend = traitlets.Unicode("").tag(sync=True)
    options = traitlets.List(traitlets.Unicode()).tag(sync=True)
    index = traitlets.Int(-1).tag(sync=True)


class FileButton(anywidget.AnyWidget):
    """A button that reads one file of the learner's and sends it to the kernel.

    Parameters
    ----------
    label : str
    limit : int
        How many bytes of the file to read at most, and one more.
    """

    _esm = _FILE_BUTTON
    label = traitlets.Unicode("").tag(sync=True)
    limit = traitlets.Int(MAX_BYTES).tag(sync=True)

    def on_file(self, use: Callable[[str, bytes], None]) -> None:
        """Call `use` with the name and the content of each file that is chosen."""
        self.on_msg(lambda _, message, buffers: use(str(message["name"]), bytes(buffers[0])))
