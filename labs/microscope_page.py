"""How a microscope looks in a page: built once, then only the words change."""

from __future__ import annotations

from labs.course.elements import KEYS_STAY_HERE
from labs.course.style import CSS

SCRIPT = (
    KEYS_STAY_HERE
    + """
function make(parent, tag, name = "", words = "") {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.textContent = words;
  parent.append(element);
  return element;
}

function render({ model, el }) {
  const root = make(el, "section", "labs-card labs-scope");
  root.setAttribute("aria-label", "Microscope");
  const head = make(root, "div", "labs-scope-head");
  const title = make(head, "h3");
  const button = make(head, "button", "jupyter-button labs-wide");
  button.type = "button";
  keepKeys(button);
  const note = make(root, "div", "labs-scope-note");
  note.setAttribute("role", "status");
  const body = make(root, "div");
  let sheet, shape = "", leaves = [], wish = null;

  // A leaf is an element and where its words stand in the sheet.
  const leaf = (element, get) => { leaves.push([element, get]); return element; };
  const table = (parent, get, name) => {
    const made = make(parent, "table", name), now = get(sheet);
    make(made, "caption", "", now.caption);
    const top = make(make(made, "thead"), "tr");
    now.header.forEach((words) => make(top, "th", "", words).scope = "col");
    const rows = make(made, "tbody");
    now.rows.forEach((row, y) => {
      const line = make(rows, "tr");
      row.forEach((_, x) => leaf(make(line, "td"), (all) => get(all).rows[y][x]));
    });
    return made;
  };
  const ring = (parent, now, at) => {
    const box = make(parent, "section", "labs-ring");
    box.setAttribute("aria-label", `ring ${now.name}`);
    const name = make(box, "h4", "", `ring ${now.name} `);
    leaf(make(name, "small"), (all) => all.rings[at].who);
    const fill = make(box, "div", "labs-fill");
    const bar = make(fill, "div", "labs-bar");
    if (now.fill !== null) {
      bar.setAttribute("role", "meter");
      bar.setAttribute("aria-label", `filled slots of ring ${now.name}`);
      bar.setAttribute("aria-valuemin", 0);
      bar.setAttribute("aria-valuemax", now.size);
      const full = make(bar, "span");
      leaf(bar, (all) => {
        const { fill, filled } = all.rings[at];
        full.style.width = `${(100 * fill) / now.size}%`;
        bar.setAttribute("aria-valuenow", fill);
        bar.setAttribute("aria-valuetext", filled);
      });
    }
    leaf(make(fill, "strong"), (all) => all.rings[at].filled);
    const parts = make(box, "div", "labs-parts");
    const facts = make(parts, "dl");
    now.facts.forEach((fact, y) => {
      make(facts, "dt", "", fact[0]);
      leaf(make(facts, "dd"), (all) => all.rings[at].facts[y][1]);
      leaf(make(facts, "dd", "labs-quiet"), (all) => all.rings[at].facts[y][2]);
    });
    table(side(parts, `Slots of ${now.name}`), (all) => all.rings[at].slots, "labs-slots");
  };
  const side = (parent, name) => {  // may be wider than its place: then it scrolls, by keyboard too
    const place = make(parent, "div", "labs-scope-side");
    keepKeys(place);
    place.tabIndex = 0;
    place.setAttribute("role", "region");
    place.setAttribute("aria-label", name);
    return place;
  };
  const build = () => {
    leaves = [];
    body.replaceChildren();
    const rings = make(body, "div", "labs-rings");
    sheet.rings.forEach((now, at) => ring(rings, now, at));
    leaf(make(body, "p", "labs-quiet"), (all) => all.legend);
    sheet.tables.forEach((now, at) => {
      const part = make(body, "details");
      part.open = true;
      keepKeys(make(part, "summary", "", now.caption));
      table(side(part, now.caption), (all) => all.tables[at], "labs-plain");
    });
  };
  const draw = () => {
    const next = model.get("sheet");
    if (wish === (next.state === "frozen")) wish = null;
    if (wish === true) return;  // held until the kernel, which may be busy, has heard of it
    sheet = next;
    const wanted = JSON.stringify([
      sheet.rings.map((each) => [each.name, each.size, each.fill === null, each.slots.rows.length]),
      sheet.tables.map((each) => [each.caption, each.rows.length]),
    ]);
    if (wanted !== shape) { shape = wanted; build(); }
    leaves.forEach(([element, get]) => {
      const words = get(sheet);
      if (words !== undefined && element.textContent !== words) element.textContent = words;
    });
    title.textContent = `Microscope: ${sheet.title}`;
    if (note.textContent !== sheet.note) note.textContent = sheet.note;
    root.dataset.state = sheet.state;
    label();
  };
  const label = () => {
    const frozen = wish ?? sheet.state === "frozen";
    button.textContent = frozen ? "Go on" : "Freeze";
    button.disabled = sheet.state === "over";
  };
  button.addEventListener("click", () => {
    wish = !(wish ?? sheet.state === "frozen");
    model.send(wish ? { freeze: sheet.tick } : { freeze: -1 });
    label();
  });
  // Who looks: where nobody does, the kernel stops looking too.
  const gone = () => model.send({ looking: -1 });
  window.addEventListener("pagehide", gone);
  model.on("change:sheet", draw);
  model.send({ looking: 1 });
  draw();
  return () => {
    model.off("change:sheet", draw);
    window.removeEventListener("pagehide", gone);
    gone();
  };
}
export default { render };
"""
)

STYLE = (
    CSS
    + """
.labs-scope { max-width: 1080px; container-type: inline-size; font-variant-numeric: tabular-nums; }
.labs-scope-head { display: flex; gap: 16px; align-items: flex-start; justify-content: space-between; }
.labs-scope-head h3 { margin: 4px 0; overflow-wrap: anywhere; }
.labs-scope-head button { flex: none; cursor: pointer; }
.labs-scope-note { min-height: 21px; margin: 0 0 12px; padding-left: 18px; position: relative; }
.labs-scope-note::before {
  content: ""; position: absolute; left: 0; top: 6px; width: 9px; height: 9px; box-sizing: border-box;
  border: 2px solid var(--labs-text); border-radius: 50%;
}
.labs-scope[data-state="live"] .labs-scope-note::before {
  background: var(--jp-success-color1, green); border-color: var(--jp-success-color1, green);
}
.labs-scope[data-state="frozen"] .labs-scope-note::before { border-radius: 0; background: var(--labs-text); }
.labs-ring { padding: 14px 0 16px; border-top: 1px solid var(--labs-line); }
.labs-ring h4 { margin: 0 0 8px; font-size: 14px; line-height: 1.4; font-weight: 600; }
.labs-ring h4 small { margin-left: 10px; font-size: 14px; font-weight: 400; }
.labs-fill { display: grid; grid-template-columns: 1fr 152px; gap: 16px; align-items: center; }
.labs-fill strong { font-weight: 600; white-space: nowrap; }
.labs-bar {
  height: 18px; overflow: hidden; background: var(--jp-layout-color2, Field);
  border: 1px solid var(--labs-line); border-radius: 3px; box-sizing: border-box;
}
.labs-bar span {
  display: block; height: 100%; background: var(--jp-brand-color1, Highlight); transition: width 0.2s;
}
@media (prefers-reduced-motion: reduce) { .labs-bar span { transition: none; } }
.labs-parts { display: grid; gap: 8px 24px; margin-top: 10px; }
@container (min-width: 700px) { .labs-parts { grid-template-columns: 5fr 6fr; } }
.labs-ring dl {
  display: grid; grid-template-columns: 58px 82px 1fr; gap: 6px 8px; align-content: start; margin: 26px 0 0;
  font-size: 13px;
}
.labs-ring dt, .labs-quiet, .labs-scope caption { opacity: 0.8; }
.labs-ring :is(dt, dd) { float: none; width: auto; margin: 0; padding: 0; font-weight: 400; }
.labs-ring dd { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.labs-scope table { margin: 0; font-size: 13px; background: none; border: 0; }
.labs-scope caption { padding: 0 0 4px; font-size: 13px; }
.labs-scope tr, .labs-scope tbody tr:nth-child(n) { background: none; }
.labs-scope th { font-weight: 600; }
.labs-scope :is(th, td) { padding: 2px 12px 2px 0; vertical-align: top; text-align: left; }
.labs-scope tbody tr:last-child td { border-bottom: 0; }
.labs-slots { table-layout: fixed; min-width: 440px; }
.labs-plain { min-width: 640px; }
.labs-scope .labs-slots :is(th, td) { padding-right: 8px; white-space: nowrap; overflow: hidden; }
.labs-slots td:last-child { font-weight: 600; }
.labs-slots th:nth-child(n) { width: 11%; }
.labs-slots th:nth-child(4) { width: 18%; }
.labs-slots th:last-child { width: 27%; }
.labs-scope summary { padding: 4px 0; font-weight: 600; cursor: pointer; }
.labs-scope summary:focus-visible { outline: 2px solid var(--labs-focus); outline-offset: 2px; }
.labs-plain caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
.labs-scope-side { overflow-x: auto; position: relative; }
.labs-scope-side:focus-visible { outline: 2px solid var(--labs-focus); outline-offset: 2px; }
details > .labs-scope-side { margin-bottom: 8px; }
.labs-scope .labs-plain td:nth-child(-n + 4) { white-space: nowrap; }
"""
)
