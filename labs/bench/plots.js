
// The plots: a frame that stands still, a canvas with what moves, marks on top, and a cursor in time.

const TABLES = ["traffic", "cpu", "probe", "ping"];

function render({ model, el }) {
  const sheet = model.get("sheet"), hidden = new Set();
  const root = make(el, "div", "labs-part labs-plots");
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", "Plots of the last minute");
  const area = make(root, "div", "labs-plots-area"), side = make(root, "div", "labs-plots-side");
  const svg = draw(area, "svg", { "aria-hidden": "true" });
  const canvas = make(area, "canvas"), strip = make(area, "div", "labs-plots-marks");
  const titles = sheet.panels.map((panel) => make(area, "div", "labs-plots-title", panel.title));
  const cursor = make(area, "div", "labs-plots-cursor"), told = make(cursor, "span");
  const context = canvas.getContext("2d");
  const counts = Object.fromEntries(TABLES.map((name) => [
    name, sheet.panels.flatMap((panel) => panel.lines).filter((line) => line.table === name).length,
  ]));
  let at = null, asked = 0, seen = true, when = null, written = -1e9, rest = 0, write = () => {}, marks = [];
  const all = { sheet, hidden, tables: {}, now: 0, axes: model.get("axes"), marks: [], stats: null };

  const read = (name) => { all.tables[name] = unpack(model.get(name), counts[name]); };
  const ask = () => { if (seen && !asked) asked = requestAnimationFrame(paint); };

  function shape() {  // the place has another width, or an axis another range
    const width = Math.floor(area.clientWidth);
    if (!width) return;
    const ratio = window.devicePixelRatio || 1, first = !at;
    at = geometry(sheet, width);
    area.style.height = `${at.height}px`;
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(at.height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${at.height}px`;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    strip.style.left = `${at.left}px`;
    strip.style.width = `${at.right - at.left}px`;
    titles.forEach((title, number) => {
      title.style.left = `${at.left}px`;
      title.style.top = `${at.panels[number].head + 2}px`;
    });
    frame(svg, sheet, all.axes, at);
    if (first) write = legend(side, sheet, at, { hidden, changed: ask });
    ask();
  }

  function paint() {
    asked = 0;
    if (!at) return;
    all.ink = getComputedStyle(root).color;
    context.font = "11px " + getComputedStyle(root).fontFamily;
    placeMarks();
    lines(context, at, all);
    pointTo();
    if (when !== null || Math.abs(all.now - written) >= 0.9) {
      written = all.now;
      const moment = when === null ? null : all.now + when;
      write((line) => valueAt(all.tables[line.table], line, moment, all.now, sheet.gaps[line.table]));
    }
  }

  // A label ends at its mark's line, so that it is whole when it comes and leaves like paper. Its row is
  // chosen once; where there is no room it takes that of older ones, whose lines stay.
  const labels = new Map();
  function label(key, when, words, commands) {
    const made = make(strip, "span", "labs-plots-mark", words);
    made.title = commands ? `${words}\n${commands}` : words;
    const wide = made.offsetWidth, right = at.x(when - all.now), overlap = [[], []];
    for (const other of labels.values()) {
      const theirs = at.x(other.when - all.now);
      if (other.row >= 0 && theirs > right - wide - 6 && theirs - other.wide - 6 < right) overlap[other.row].push(other);
    }
    let row = overlap.findIndex((others) => !others.length);
    if (row < 0) {
      const oldest = overlap.map((others) => Math.min(...others.map((other) => other.when)));
      row = oldest[0] <= oldest[1] ? 0 : 1;
      for (const other of overlap[row]) {
        other.row = -1;
        other.made.classList.add("labs-plots-crowded");
      }
    }
    labels.set(key, { made, wide, when, row });
  }
  function placeMarks() {
    const gone = new Set(labels.keys());
    all.marks = marks.map(([when, words, commands]) => {
      const key = `${when} ${words}`;
      gone.delete(key);
      if (!labels.has(key)) label(key, when, words, commands);
      const { made, wide, row } = labels.get(key), right = Math.round(at.x(when - all.now) - at.left);
      made.style.transform = `translate(${right - wide + 1}px, ${Math.max(row, 0) * 20}px)`;
      return { when, top: row < 0 ? STRIP : 20 + row * 20 };
    });
    gone.forEach((key) => { labels.get(key).made.remove(); labels.delete(key); });
  }

  // The cursor: by mouse, or as a slider by keyboard.
  area.tabIndex = 0;
  area.setAttribute("role", "slider");
  area.setAttribute("aria-label", "A moment of the last minute; the legend shows its figures");
  area.setAttribute("aria-valuemin", -sheet.span);
  area.setAttribute("aria-valuemax", 0);
  keepKeys(area);
  function pointTo() {
    cursor.hidden = when === null;
    const words = when === null ? "now" : `${(-when).toFixed(1)} s ago`;
    if (area.getAttribute("aria-valuetext") !== words) {
      area.setAttribute("aria-valuenow", when ?? 0);
      area.setAttribute("aria-valuetext", words);
    }
    if (when === null) return;
    cursor.style.transform = `translateX(${Math.round(at.x(when))}px)`;
    cursor.classList.toggle("labs-plots-early", when < -sheet.span / 2);
    told.textContent = words;
  }
  const move = (to) => { when = to === null ? null : Math.min(Math.max(to, -sheet.span), 0); ask(); };
  area.addEventListener("pointermove", (event) => {
    const across = event.clientX - area.getBoundingClientRect().left;
    const inside = at && across >= at.left && across <= at.right;
    move(inside ? ((across - at.right) / (at.right - at.left)) * sheet.span : null);
  });
  area.addEventListener("pointerleave", () => move(null));
  area.addEventListener("blur", () => move(null));
  area.addEventListener("keydown", (event) => {
    const step = event.shiftKey ? 10 : 1;
    const to = {
      ArrowLeft: (when ?? 0) - step, ArrowDown: (when ?? 0) - step, ArrowRight: (when ?? 0) + step,
      ArrowUp: (when ?? 0) + step, PageDown: (when ?? 0) - 10, PageUp: (when ?? 0) + 10, Home: -sheet.span,
      End: 0, Escape: null,
    }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    move(to);
  });

  const take = {
    marks: () => { marks = model.get("marks"); ask(); },
    reference: () => { const it = model.get("reference"); all.stats = it.stats ? it : null; ask(); },
    axes: () => { all.axes = model.get("axes"); shape(); },
    turn: () => {
      all.now = model.get("now");
      ask();
      clearTimeout(rest);
      rest = setTimeout(() => { written = -1e9; ask(); }, 700);  // the last turn is drawn whatever it is
    },
  };
  for (const name of TABLES) take[name] = () => read(name);
  const hear = Object.entries(take).map(([name, heard]) => [`change:${name}`, heard]);
  hear.forEach(([name, heard]) => { model.on(name, heard); heard(); });
  const sizes = new ResizeObserver(shape);
  sizes.observe(area);
  const sight = new IntersectionObserver((entries) => { seen = entries.at(-1).isIntersecting; ask(); });
  sight.observe(area);
  const theme = new MutationObserver(ask);  // JupyterLab's; the lines of marks have its ink
  theme.observe(document.body, { attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
  shape();
  return () => {
    hear.forEach(([name, heard]) => model.off(name, heard));
    sizes.disconnect();
    sight.disconnect();
    theme.disconnect();
    cancelAnimationFrame(asked);
    clearTimeout(rest);
  };
}
export default { render };
