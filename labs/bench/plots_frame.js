
// The plots' frame: where the panels stand, their axes as SVG text that follows the theme, and how figures read.

const LEFT = 62, RIGHT = 14, STRIP = 42, HEAD = 24, FOOT = 30;
const SVG = "http://www.w3.org/2000/svg";

const make = (parent, tag, name = "", words = "") => {
  const element = document.createElement(tag);
  if (name) element.className = name;
  element.textContent = words;
  parent.append(element);
  return element;
};

const draw = (parent, tag, attributes, words) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (words !== undefined) element.textContent = words;
  parent.append(element);
  return element;
};

// Where each panel stands, from the sheet and the width of the place.
function geometry(sheet, width) {
  let y = STRIP;
  const panels = sheet.panels.map((panel) => {
    const top = y + HEAD;
    y = top + panel.height;
    return { top, bottom: y, head: top - HEAD };
  });
  const left = LEFT, right = Math.max(width - RIGHT, left + 50);
  const x = (seconds) => right + (seconds / sheet.span) * (right - left);  // seconds are below 0
  return { panels, left, right, x, bottom: y, height: y + FOOT, width };
}

// Where a value stands in a panel; what is off the range is drawn at its edge.
function scale(kind, [low, high], { top, bottom }) {
  if (kind !== "latency") {
    const step = (bottom - top) / (high - low);
    return (value) => bottom - Math.min(Math.max(value - low, 0), high - low) * step;
  }
  const base = Math.log10(low), step = (bottom - top) / (Math.log10(high) - base);
  return (value) => bottom - Math.min(Math.max(Math.log10(Math.max(value, low)) - base, 0), Math.log10(high) - base) * step;
}

function ticks(kind, [low, high]) {
  if (kind !== "latency") return [0, 0.25, 0.5, 0.75, 1].map((part) => [high * part, part % 0.5 === 0]);
  const found = [];
  for (let power = Math.round(Math.log10(low)); power <= Math.round(Math.log10(high)); power++) {
    found.push([10 ** power, true]);
  }
  return found;
}

const three = (value) => {  // three figures, as a person would write them
  if (value === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return value.toFixed(Math.min(digits, 3));
};

function time(us) {
  if (us >= 0.9995e6) return `${three(us / 1e6)} s`;
  if (us >= 999.5) return `${three(us / 1e3)} ms`;
  return us >= 0.9995 || us === 0 ? `${three(us)} µs` : `${Math.round(us * 1e3)} ns`;
}

function figure(kind, value) {
  if (!Number.isFinite(value)) return "–";
  if (kind === "latency") return time(value);
  return kind === "rate" ? three(value) : `${Math.round(value)} %`;
}

function tickWords(kind, value) {
  if (kind === "latency") return time(value).replace(/\.0+ /, " ");
  return kind === "rate" ? String(+value.toPrecision(3)) : String(Math.round(value));
}

// Draw what stands still: the grid and the axes' words.
function frame(svg, sheet, axes, at) {
  svg.replaceChildren();
  svg.setAttribute("width", at.width);
  svg.setAttribute("height", at.height);
  const seconds = [-60, -50, -40, -30, -20, -10, 0].map((part) => (part * sheet.span) / 60);
  sheet.panels.forEach((panel, number) => {
    const place = at.panels[number], y = scale(panel.kind, axes[panel.kind], place);
    for (const each of seconds) {
      draw(svg, "line", { x1: at.x(each), x2: at.x(each), y1: place.top, y2: place.bottom, class: "labs-plots-grid" });
    }
    for (const [value, named] of ticks(panel.kind, axes[panel.kind])) {
      const high = Math.round(y(value)) + 0.5;
      draw(svg, "line", { x1: at.left, x2: at.right, y1: high, y2: high, class: "labs-plots-grid" });
      if (named) draw(svg, "text", { x: at.left - 8, y: high + 4, "text-anchor": "end" }, tickWords(panel.kind, value));
    }
    draw(svg, "line", {
      x1: at.left, x2: at.right, y1: place.bottom + 0.5, y2: place.bottom + 0.5, class: "labs-plots-base",
    });
  });
  for (const each of seconds) {
    const words = each === 0 ? "now" : `${-each} s ago`;
    const anchor = each === 0 ? "end" : "middle";
    draw(svg, "text", { x: at.x(each) + (each === 0 ? RIGHT - 2 : 0), y: at.bottom + 19, "text-anchor": anchor }, words);
  }
}
