
// The plots' legend: a button for each line, with its sample, its name and its figure.

function sample(line) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("width", 30);
  svg.setAttribute("height", 12);
  svg.setAttribute("aria-hidden", "true");
  draw(svg, "line", {
    x1: 0, x2: 30, y1: 6, y2: 6, stroke: line.colour, "stroke-width": line.width, "stroke-dasharray": line.dash.join(" "),
  });
  const shape = {
    circle: ["circle", { cx: 15, cy: 6, r: 3.2 }],
    square: ["rect", { x: 12.2, y: 3.2, width: 5.6, height: 5.6 }],
    triangle: ["path", { d: "M15 2l3.8 7h-7.6z" }],
    diamond: ["path", { d: "M15 1.6L19.4 6 15 10.4 10.6 6z" }],
    bar: ["rect", { x: 13.8, y: 2, width: 2.4, height: 8 }],
    cross: ["path", { d: "M11.8 2.8l6.4 6.4m0-6.4l-6.4 6.4", stroke: line.colour, "stroke-width": 1.6 }],
  }[line.symbol];
  draw(svg, shape[0], { ...shape[1], fill: line.colour });
  return svg;
}

// Build it; returns a function that writes each line's figure, given how to find it.
function legend(parent, sheet, at, { hidden, changed }) {
  const leaves = [];
  sheet.panels.forEach((panel, number) => {
    const box = make(parent, "div", "labs-plots-legend");
    box.setAttribute("role", "group");
    box.setAttribute("aria-label", panel.title);
    box.style.top = `${at.panels[number].head + 18}px`;
    box.style.maxHeight = `${panel.height + 10}px`;
    const room = Math.floor((panel.height + 10) / 20);
    if (panel.lines.length > room) box.classList.add("labs-plots-many");
    panel.lines.forEach((line) => {
      const button = make(box, "button");
      button.type = "button";
      button.title = "Show or hide this line";
      keepKeys(button);
      button.append(sample(line));
      make(button, "span", "labs-plots-name", line.name);
      const value = make(button, "span", "labs-plots-value", "–");
      const show = () => button.setAttribute("aria-pressed", String(!hidden.has(line.column)));
      button.addEventListener("click", () => {
        if (!hidden.delete(line.column)) hidden.add(line.column);
        show();
        changed();
      });
      show();
      leaves.push([value, panel.kind, line]);
    });
  });
  return (find) => {
    for (const [element, kind, line] of leaves) {
      const words = figure(kind, find(line));
      if (element.textContent !== words) element.textContent = words;
    }
  };
}

const LATENCIES = ["probe", "ping"];

// What a line's last samples say, or the sample at a time; NaN where there is none. Rates and shares are means,
// as in figures.py, latencies medians.
function valueAt(table, line, when, now, gap) {
  if (!table) return NaN;
  const values = table.column(line.at);
  if (when !== null) {
    const row = Math.min(rowAt(table.times, when), table.rows - 1);
    const near = row > 0 && when - table.times[row - 1] < table.times[row] - when ? row - 1 : row;
    return Math.abs(table.times[near] - when) <= gap ? values[near] : NaN;
  }
  const from = rowAt(table.times, Math.max(now - Math.max(gap, 1), table.times[table.rows - 1] - 1));
  const found = values.slice(from).filter((value) => value === value).sort();
  if (!found.length) return NaN;
  if (LATENCIES.includes(line.table)) return found[found.length >> 1];
  return found.reduce((sum, value) => sum + value) / found.length;
}
