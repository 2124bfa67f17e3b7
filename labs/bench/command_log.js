
// The command log: entries come on top and stay as they are; each can be copied, and so can all.

function add(parent, tag, name = "", words = "") {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.textContent = words;
  parent.append(element);
  return element;
}

// A page that was not loaded over https, nor from this machine, has no clipboard: then the old way is left.
async function toClipboard(words) {
  try {
    await navigator.clipboard.writeText(words);
    return true;
  } catch {
    const had = document.activeElement, area = add(document.body, "textarea", "labs-unseen-copy");
    area.value = words;
    area.setAttribute("aria-hidden", "true");
    area.style.cssText = "position: fixed; top: 0; left: 0; opacity: 0";
    area.select();
    const done = document.execCommand("copy");
    area.remove();
    had?.focus({ preventScroll: true });
    return done;
  }
}

function render({ model, el }) {
  const root = add(add(el, "div", "labs-part"), "section", "labs-log");
  root.setAttribute("aria-label", "Command log");
  const head = add(root, "div", "labs-log-head");
  add(head, "h4", "", "Commands");
  const count = add(head, "span", "labs-log-count");
  const every = add(head, "button", "labs-small", "Copy all");
  const told = add(root, "div", "labs-unseen");
  told.setAttribute("role", "status");
  const empty = add(root, "p", "labs-log-empty", "Each turn of a knob leaves its commands here.");
  const list = add(root, "ol");
  list.tabIndex = 0;  // it scrolls, by keyboard too
  list.setAttribute("role", "list");
  list.setAttribute("aria-label", "Commands, newest first");
  [every, list].forEach(keepKeys);
  every.type = "button";
  const rows = new Map();

  const comment = ({ clock, label }) => `# ${clock} ${label}`;
  const copy = async (button, words, what) => {
    const done = await toClipboard(words), before = button.dataset.words ??= button.textContent;
    button.textContent = done ? "Copied" : "Not copied";
    told.textContent = "";  // so that a second copy is spoken too
    told.textContent = done ? `Copied: ${what}` : "Nothing was copied. Select the lines and copy them.";
    clearTimeout(button.timer);
    button.timer = setTimeout(() => { button.textContent = before; }, 2000);
  };
  every.addEventListener("click", () => {
    const lines = [...model.get("entries")].reverse().flatMap((entry) => [comment(entry), ...entry.lines]);
    copy(every, lines.join("\n"), "all commands");
  });

  const row = (entry) => {
    const made = document.createElement("li");
    add(made, "time", "", entry.clock);
    add(made, "span", "labs-log-label", entry.label);
    if (entry.lines.length) {
      const button = add(made, "button", "labs-small", "Copy");
      button.type = "button";
      button.setAttribute("aria-label", `Copy the commands of ${entry.label}`);
      keepKeys(button);
      button.addEventListener("click", () => copy(button, entry.lines.join("\n"), entry.label));
      add(made, "pre", "", entry.lines.join("\n"));
    }
    return made;
  };
  const draw = () => {
    const entries = model.get("entries"), now = new Set(entries.map((entry) => entry.id));
    rows.forEach((made, id) => { if (!now.has(id)) { made.remove(); rows.delete(id); } });
    for (const entry of [...entries].reverse()) {
      if (rows.has(entry.id)) continue;
      rows.set(entry.id, row(entry));
      list.prepend(rows.get(entry.id));
    }
    empty.hidden = entries.length > 0;
    list.hidden = every.hidden = !entries.length;
    const words = entries.length === 1 ? "1 entry, newest first" : `${entries.length} entries, newest first`;
    count.textContent = entries.length ? words : "";
  };
  model.on("change:entries", draw);
  draw();
  return () => model.off("change:entries", draw);
}
export default { render };
