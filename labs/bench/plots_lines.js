
// The plots' lines, drawn on a canvas: its cost is what a bench costs the learner's machine.

const SYMBOL_EVERY = 8;  // seconds

const SYMBOLS = {
  circle: (c, x, y) => c.arc(x, y, 3.2, 0, 7),
  square: (c, x, y) => c.rect(x - 2.8, y - 2.8, 5.6, 5.6),
  triangle: (c, x, y) => { c.moveTo(x, y - 4); c.lineTo(x + 3.8, y + 3); c.lineTo(x - 3.8, y + 3); c.closePath(); },
  diamond: (c, x, y) => {
    c.moveTo(x, y - 4.4); c.lineTo(x + 4.4, y); c.lineTo(x, y + 4.4); c.lineTo(x - 4.4, y); c.closePath();
  },
  bar: (c, x, y) => c.rect(x - 1.2, y - 4, 2.4, 8),
  cross: (c, x, y) => {
    c.moveTo(x - 3.2, y - 3.2); c.lineTo(x + 3.2, y + 3.2); c.moveTo(x - 3.2, y + 3.2); c.lineTo(x + 3.2, y - 3.2);
  },
};

// A table as it travels: float32[columns + 1, n], its times first.
function unpack(view, columns) {
  if (!view?.byteLength) return null;
  // What arrives may begin anywhere in a larger buffer, and a Float32Array may not.
  const all = new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
  const rows = all.length / (columns + 1);
  return { times: all.subarray(0, rows), column: (at) => all.subarray(at * rows, (at + 1) * rows), rows };
}

// The first row at or after a time.
function rowAt(times, when) {
  let low = 0, high = times.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (times[middle] < when) low = middle + 1; else high = middle;
  }
  return low;
}

// Stroking is most of the cost, and grows with the number of points: what stays within a pixel is passed by.
function path(context, table, values, { from, gap, x, y }) {
  const { times, rows } = table;
  let before = -Infinity, high = 0, skipped = null;
  context.beginPath();
  for (let row = from; row < rows; row++) {
    const value = values[row], when = times[row];
    if (value !== value) { before = -Infinity; continue; }
    const next = y(value);
    if (when - before > gap) {
      if (skipped !== null) context.lineTo(x(skipped), high);
      context.moveTo(x(when), next);
      context.lineTo(x(when) + 0.5, next);  // a sample alone is a dot
      high = next;
      skipped = null;
    } else if (Math.abs(next - high) < 0.6) {
      skipped = when;
    } else {
      if (skipped !== null) context.lineTo(x(skipped), high);
      context.lineTo(x(when), next);
      high = next;
      skipped = null;
    }
    before = when;
  }
  if (skipped !== null) context.lineTo(x(skipped), high);
}

function symbols(context, line, table, values, { from, x, y, shift }) {
  const { times, rows } = table;
  let seen = null;
  context.beginPath();
  for (let row = from; row < rows; row++) {
    const turn = Math.floor((times[row] + shift) / SYMBOL_EVERY);
    if (seen !== null && turn !== seen && values[row] === values[row]) {
      const high = y(values[row]), across = x(times[row]);
      if (line.symbol === "circle") context.moveTo(across + 3.2, high);
      SYMBOLS[line.symbol](context, across, high);
    }
    seen = turn;
  }
  context.setLineDash([]);
  if (line.symbol === "cross") { context.lineWidth = 1.6; context.stroke(); } else context.fill();
}

function reference(context, line, stats, { left, right, y, label, taken }) {
  const [low, median, high] = stats.map(y);
  context.fillStyle = context.strokeStyle = line.colour;
  context.globalAlpha = 0.22;
  context.fillRect(left, high, right - left, Math.max(low - high, 2));
  context.globalAlpha = 0.75;
  context.lineWidth = 1;
  context.setLineDash([3, 5]);
  context.beginPath();
  context.moveTo(left, median); context.lineTo(right, median);
  context.stroke();
  context.globalAlpha = 1;
  if (taken.every((other) => Math.abs(other - median) > 12)) {
    taken.push(median);
    context.fillText(label, left + 4, median - 3);
  }
}

// Draw all lines of all panels; `all` is what the page knows: tables, axes, marks, what is hidden.
function lines(context, at, all) {
  const { sheet, axes, tables, now, hidden, marks, stats } = all;
  context.clearRect(0, 0, at.width, at.height);
  const x = (when) => at.x(when - now);
  let shift = 0;
  sheet.panels.forEach((panel, number) => {
    const place = at.panels[number], y = scale(panel.kind, axes[panel.kind], place), taken = [];
    context.save();
    context.beginPath();
    context.rect(at.left, place.top - 3, at.right - at.left + 3, place.bottom - place.top + 5);
    context.clip();
    context.lineJoin = "bevel";
    for (const line of panel.lines) {
      if (stats?.stats[line.column] && !hidden.has(line.column)) {
        reference(context, line, stats.stats[line.column], { left: at.left, right: at.right, y, label: stats.label, taken });
      }
    }
    for (const line of [...panel.lines].reverse()) {  // the first is the most important, and stands in front
      const table = tables[line.table];
      shift += 1.9;
      if (!table || hidden.has(line.column)) continue;
      const values = table.column(line.at);
      const from = Math.max(rowAt(table.times, now - sheet.span) - 1, 0);
      context.strokeStyle = context.fillStyle = line.colour;
      context.lineWidth = line.width;
      context.setLineDash(line.dash);
      path(context, table, values, { from, gap: sheet.gaps[line.table], x, y });
      context.stroke();
      symbols(context, line, table, values, { from, x, y, shift });
    }
    context.restore();
  });
  markLines(context, at, marks, x, all.ink);
}

// A line from each mark's label down through all panels; the panels' titles stand in front of it.
function markLines(context, at, marks, x, ink) {
  context.save();
  context.strokeStyle = ink;
  context.globalAlpha = 0.55;
  context.setLineDash([4, 3]);
  context.beginPath();
  for (const { when, top } of marks) {
    const across = Math.round(x(when)) + 0.5;
    if (across < at.left) continue;
    context.moveTo(across, top);
    context.lineTo(across, at.bottom);
  }
  context.stroke();
  context.restore();
}
