// The plots of a report: plotly draws them, in the page's colours, on one axis of time.
"use strict";
(() => {
  const source = document.getElementById("labs-plots-data");
  const place = document.getElementById("labs-plots");
  if (!source || !place) return;
  const spec = JSON.parse(source.textContent);
  const STRIP = spec.strip, GAP = spec.gap, LEFT = 66, RIGHT = 14, BOTTOM = 48, BADGES = 26;
  const total = spec.panels.reduce((sum, panel) => sum + panel.height + GAP, STRIP - GAP);
  const hidden = new Set(), timed = spec.timed;

  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const time = (us) => (us >= 1e6 ? `${us / 1e6} s` : us >= 1e3 ? `${us / 1e3} ms` : `${us} µs`);
  const inUnit = (us) => (us >= 1e6 ? `${+(us / 1e6).toPrecision(3)} s`
    : us >= 1e3 ? `${+(us / 1e3).toPrecision(3)} ms` : `${+us.toPrecision(3)} µs`);

  function traces() {
    return spec.panels.flatMap((panel, number) => panel.lines.map((line, n) => {
      const table = spec.tables[line.table], y = table.columns[line.column];
      return {
        type: "scatter", name: line.name, x: table.t, y, connectgaps: false,
        yaxis: number ? `y${number + 1}` : "y", xaxis: "x",
        visible: hidden.has(`${number}.${n}`) ? false : true,
        mode: line.points ? "markers" : "lines+markers",
        line: { color: line.colour, width: line.width, dash: line.dash },
        marker: {
          color: line.colour, symbol: line.symbol, size: line.points ? 6 : 7, opacity: line.points ? 0.75 : 1,
          maxdisplayed: line.points ? 0 : 14, line: { color: line.colour, width: 1.5 },
        },
        hoverinfo: "skip",
      };
    }));
  }

  function axes(ink, quiet, grid) {
    const made = {
      xaxis: {
        range: spec.range, anchor: spec.panels.length > 1 ? `y${spec.panels.length}` : "y",
        title: { text: spec.axis, standoff: 10 }, showgrid: true, gridcolor: grid, zeroline: false,
        ticks: "outside", ticklen: 4, tickcolor: grid, linecolor: grid, color: quiet,
        ...(timed ? { minallowed: 0, maxallowed: spec.range[1] } : { dtick: 1, tickformat: "d" }),
      },
    };
    let top = STRIP;
    spec.panels.forEach((panel, number) => {
      const axis = {
        domain: [1 - (top + panel.height) / total, 1 - top / total], range: [panel.low, panel.high],
        fixedrange: true, gridcolor: grid, zeroline: false, linecolor: grid, color: quiet, anchor: "x",
      };
      if (panel.log) {
        const powers = [];
        for (let power = Math.ceil(panel.low); power <= panel.high; power++) powers.push(10 ** power);
        Object.assign(axis, { type: "log", tickvals: powers, ticktext: powers.map((us) => time(+us.toPrecision(1))) });
      } else {
        Object.assign(axis, { nticks: 5, ...(panel.share ? { tickvals: [0, 25, 50, 75, 100] } : {}) });
      }
      made[number ? `yaxis${number + 1}` : "yaxis"] = axis;
      top += panel.height + GAP;
    });
    return made;
  }

  // A mark is a line through all panels with its number on top, and its words where they find room.
  function annotations(range, ink, paper, line) {
    const width = place.clientWidth - LEFT - RIGHT, perSecond = width / (range[1] - range[0]);
    const shown = spec.marks.map((mark, n) => ({ ...mark, n: n + 1 })).filter((m) => m.t >= range[0] && m.t <= range[1]);
    const notes = [];
    let free = -Infinity;
    shown.forEach((mark, n) => {
      const x = mark.t * perSecond, next = n + 1 < shown.length ? shown[n + 1].t * perSecond : Infinity;
      const end = Math.min(next - 12, range[1] * perSecond);
      const words = mark.label.length * 6.4 + 26;
      const roomy = x + words < end;
      if (x - 9 < free) return;
      free = x + 9;
      notes.push({
        x: mark.t, y: 1, xref: "x", yref: "paper", yanchor: "top", xanchor: "left", xshift: -9, yshift: -1,
        showarrow: false, align: "left", font: { size: 12, color: ink },
        text: roomy ? `<b>${mark.n}</b>  ${clean(mark.label)}` : `<b>${mark.n}</b>`,
        bgcolor: paper, bordercolor: line, borderwidth: 1, borderpad: 3,
      });
    });
    return notes;
  }
  const clean = (words) => words.replace(/&/g, "&amp;").replace(/</g, "&lt;");

  function titles(ink, paper) {
    let top = STRIP;
    return spec.panels.map((panel) => {
      const note = {
        text: `<b>${clean(panel.title)}</b>`, xref: "paper", yref: "paper", x: 0, xanchor: "left", showarrow: false,
        y: 1 - top / total, yanchor: "bottom", yshift: 4, font: { size: 13, color: ink }, bgcolor: paper, borderpad: 1,
      };
      top += panel.height + GAP;
      return note;
    });
  }

  function layout() {
    const ink = colour("--ink"), quiet = colour("--quiet"), grid = colour("--grid"), paper = colour("--paper");
    const line = colour("--line"), range = place._fullLayout ? place._fullLayout.xaxis.range : spec.range;
    const made = axes(ink, quiet, grid);
    made.xaxis.range = [...range];
    return {
      ...made, height: total + BOTTOM, margin: { l: LEFT, r: RIGHT, t: 0, b: BOTTOM }, showlegend: false,
      paper_bgcolor: paper, plot_bgcolor: paper, hovermode: false,
      font: { family: colour("--font"), size: 12, color: quiet }, dragmode: "zoom", autosize: true,
      annotations: [...titles(ink, paper), ...annotations(range, ink, paper, line)],
      shapes: spec.marks.map((mark) => ({
        type: "line", x0: mark.t, x1: mark.t, xref: "x", yref: "paper", y0: 0, y1: 1 - BADGES / total,
        line: { color: quiet, width: 1, dash: "dot" },
      })),
    };
  }

  const draw = () => Plotly.react(place, traces(), layout(), { displayModeBar: false, responsive: true, doubleClick: "reset" });
  draw().then(() => {
    place.on("plotly_relayout", (change) => {
      if (Object.keys(change).some((key) => key.startsWith("xaxis.") || key === "autosize")) draw();
    });
    place.dataset.drawn = "yes";
  });

  // The cursor: a line through all panels, its time below, and each line's value in the legend.
  const cursor = place.parentElement.appendChild(document.createElement("div")), when = cursor.appendChild(document.createElement("span"));
  cursor.className = "cursor";
  cursor.hidden = true;
  const values = new Map([...document.querySelectorAll("button[data-line]")].map((b) => [b.dataset.line, b.querySelector(".value")]));
  function nearest(times, t) {
    let low = 0, high = times.length - 1;
    while (high - low > 1) { const middle = (low + high) >> 1; if (times[middle] <= t) low = middle; else high = middle; }
    return t - times[low] < times[high] - t ? low : high;
  }
  const told = (panel, value) => (value === null || value === undefined ? "none" : panel.log ? inUnit(value) : `${+value.toPrecision(3)}`);
  function point(event) {
    const box = place.getBoundingClientRect(), x = event.clientX - box.left - LEFT, width = box.width - LEFT - RIGHT;
    const range = place._fullLayout.xaxis.range, t = range[0] + (x / width) * (range[1] - range[0]);
    const inside = x >= 0 && x <= width;
    cursor.hidden = !inside;
    cursor.style.cssText = `left:${x + LEFT}px;top:${BADGES}px;height:${total - BADGES}px`;
    when.textContent = timed ? `${t.toFixed(range[1] - range[0] < 10 ? 2 : 1)} s` : `window ${Math.round(t)}`;
    spec.panels.forEach((panel, number) => panel.lines.forEach((line, n) => {
      const table = spec.tables[line.table], at = nearest(table.t, t), output = values.get(`${number}.${n}`);
      const known = inside && timed && Math.abs(table.t[at] - t) <= table.gap;
      output.textContent = inside && timed ? told(panel, known ? table.columns[line.column][at] : null) : "";
    }));
  }
  place.addEventListener("pointermove", point);
  place.addEventListener("pointerleave", () => { cursor.hidden = true; values.forEach((output) => { output.textContent = ""; }); });

  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
  addEventListener("resize", draw);
  for (const button of document.querySelectorAll("button[data-line]")) {
    button.addEventListener("click", () => {
      const shown = button.getAttribute("aria-pressed") === "true";
      button.setAttribute("aria-pressed", String(!shown));
      hidden[shown ? "add" : "delete"](button.dataset.line);
      draw();
    });
  }
  const all = document.getElementById("labs-all");
  if (all) all.addEventListener("click", () => Plotly.relayout(place, { "xaxis.range": [...spec.range] }));
})();
