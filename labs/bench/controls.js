// The bench's knobs and buttons: plain form elements, so that keyboard and screen reader know them.
// Python keeps the state; what is clicked goes there as a message, and what is so comes back.

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "class") element.className = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
};

let serial = 0;

// Each kind of knob returns how to show its state; `turn` tells Python.
function group(knob, turn) {
  const name = `labs-bench-${++serial}`;
  const box = make("div", { class: "labs-segments" });
  const inputs = knob.choices.map((choice) => {
    const input = make("input", { type: "radio", name, "aria-label": choice.label });
    input.addEventListener("change", () => turn(choice.value));
    box.append(make("label", {}, input, make("span", {}, choice.label)));
    return input;
  });
  const field = make("fieldset", { class: "labs-knob" }, make("legend", {}, knob.label), box);
  return [field, (state) => {
    field.classList.toggle("labs-off", Boolean(state.disabled));
    inputs.forEach((input, at) => {
      const choice = state.choices[at];
      const why = state.disabled || choice.disabled;
      input.disabled = Boolean(why);
      input.parentElement.title = why;
      input.checked = choice.value === state.wanted;
    });
  }];
}

function list(knob, turn) {
  const select = make("select", { "aria-label": knob.label });
  let choices = [];
  select.addEventListener("change", () => turn(choices[select.selectedIndex].value));
  const field = make("label", { class: "labs-knob" }, make("span", {}, knob.label), select);
  return [field, (state) => {
    select.disabled = Boolean(state.disabled);
    field.title = state.disabled;
    if (choices.length !== state.choices.length) {
      select.replaceChildren(...state.choices.map((choice) => make("option", {}, choice.label)));
    }
    choices = state.choices;
    choices.forEach((choice, at) => {
      select.options[at].disabled = Boolean(choice.disabled);
      select.options[at].title = choice.disabled;
    });
    select.selectedIndex = choices.findIndex((choice) => choice.value === state.wanted);
  }];
}

// The rate: a slider whose steps grow with the rate, and a box for as fast as it goes.
function slider(knob, turn) {
  const steps = knob.steps;
  const range = make("input", { type: "range", min: 0, max: steps.length - 1, "aria-label": knob.label });
  const flat = make("input", { type: "checkbox" });
  const shown = make("output", { class: "labs-rate" });
  const words = (at) => (flat.checked ? "as fast as it goes" : steps[at].label);
  const show = () => {
    shown.textContent = words(range.value);
    range.setAttribute("aria-valuetext", words(range.value));
  };
  let waiting = 0;
  range.addEventListener("input", () => {
    show();
    clearTimeout(waiting);
    waiting = setTimeout(() => { waiting = 0; turn(steps[range.value].value); }, 150);
  });
  flat.addEventListener("change", () => {
    range.disabled = flat.checked;
    show();
    turn(flat.checked ? knob.choices[0].value : steps[range.value].value);
  });
  const box = make("label", { class: "labs-flat" }, flat, make("span", {}, "flat out"));
  const line = make("div", { class: "labs-line" }, range, shown, box);
  const field = make("fieldset", { class: "labs-knob labs-wide" }, make("legend", {}, knob.label), line);
  return [field, (state) => {
    if (waiting) return;
    flat.checked = state.wanted === knob.choices[0].value;
    flat.disabled = Boolean(state.disabled);
    range.disabled = flat.disabled || flat.checked;
    field.title = state.disabled;
    if (!flat.checked) range.value = nearest(steps, state.wanted);
    show();
  }];
}

function nearest(steps, value) {
  let best = 0;
  steps.forEach((step, at) => {
    if (Math.abs(step.value - value) < Math.abs(steps[best].value - value)) best = at;
  });
  return best;
}

const KINDS = { group, list, slider };

function render({ model, el }) {
  const send = (message) => model.send(message);
  const sent = {}; // when each knob was last turned here: what comes back at once is still the old
  const knobs = new Map();
  const isKnobs = model.get("part") === "knobs";
  const panel = make("div", {
    class: isKnobs ? "labs-controls" : "labs-buttons",
    role: "group",
    "aria-label": isKnobs ? "knobs of the bench" : "what to do with the run",
  });

  const button = (what, words, title, extra = "") => {
    const made = make("button", { type: "button", class: `labs-button ${extra}`, title }, words);
    made.addEventListener("click", () => { if (made.getAttribute("aria-disabled") !== "true") send({ press: what }); });
    return made;
  };
  const start = button("start", "▶ Start traffic", "Send packets", "labs-main");
  const stop = button("stop", "■ Stop traffic", "Send no more packets");
  const buttons = {
    start, stop,
    freeze: button("freeze", "Keep as A", "Keep the present run as A, and compare with it what comes next"),
    forget: button("forget", "Forget A", "Compare no more"),
    reset: button("reset", "Reset", "Set all knobs to what they were at first, and begin the plots anew"),
    report: button("report", "Save report", "Save this run as a page that opens anywhere, also without a network"),
    csv: button("csv", "Save CSV", "Save this run as a table"),
    run: button("run", "Save run", "Save this run, to load and replay it later"),
  };
  const ended = make("span", { class: "labs-ended" });
  const rows = { traffic: [start, stop], nodes: [], links: [] };
  const said = make("div", { class: "labs-news", role: "status", "aria-live": "polite" });

  const build = (state) => {
    for (const knob of state.knobs) {
      const turn = (value) => { sent[knob.name] = Date.now(); send({ turn: knob.name, value }); };
      const [field, show] = KINDS[knob.kind](knob, turn);
      const is = make("small", { class: "labs-is" });
      field.append(is);
      field.dataset.knob = knob.name;
      knobs.set(knob.name, (now) => {
        field.classList.toggle("labs-turning", now.turning);
        is.textContent = now.turning ? "turning …" : now.is;
        is.classList.toggle("labs-differs", now.differs);
        if (!now.turning && Date.now() - (sent[knob.name] || 0) > 300) show(now);
      });
      rows[knob.row].push(field);
    }
    const line = (...parts) => make("div", { class: "labs-line" }, ...parts);
    if (isKnobs) panel.append(line(...rows.traffic), line(...rows.nodes), line(...rows.links), line(ended, said));
    else {
      panel.append(line(buttons.freeze, buttons.forget, buttons.reset, make("span", { class: "labs-gap" }),
        buttons.report, buttons.csv, buttons.run));
    }
    panel.querySelectorAll("input, select, button").forEach(keepKeys);
  };

  const draw = () => {
    const state = model.get("state");
    if (!knobs.size && state.knobs.length) build(state);
    for (const knob of state.knobs) knobs.get(knob.name)(knob);
    for (const [name, element] of Object.entries(buttons)) {
      const why = state.off[name];
      element.setAttribute("aria-disabled", why === undefined ? "false" : "true");
      element.title = why || element.dataset.title || (element.dataset.title = element.title);
    }
    start.setAttribute("aria-pressed", state.running);
    const names = state.ended.join();
    if (ended.dataset.names !== names) {
      ended.dataset.names = names;
      ended.replaceChildren(...state.ended.map((node) => {
        const again = make("button", { type: "button", class: "labs-button labs-main" }, `Restart ${node}`);
        again.addEventListener("click", () => send({ restart: node }));
        keepKeys(again);
        return again;
      }));
    }
    if (said.textContent !== state.said) said.textContent = state.said;
  };
  // what was clicked less than 0.3 s ago was not shown; it is a little later
  const late = () => { draw(); setTimeout(draw, 350); };
  model.on("change:state", late);
  draw();
  el.append(panel);
  return () => model.off("change:state", late);
}
export default { render };
