// One rotary knob: a slider that is turned. Logarithmic: equal turns are equal ratios.
// Drag up or right to turn up (Shift: fine), arrows, Page, Home, End, double click = home, or type the value.

const START = -135, SWEEP = 270; // degrees from twelve o'clock
const FULL_TURN_PX = 220; // a drag this long goes from one end to the other
const WHEEL_MS = 250; // a wheel that rests so long has let go
const SVG = "http://www.w3.org/2000/svg";

const polar = (degrees, radius) => {
  const a = ((degrees - 90) * Math.PI) / 180;
  return [60 + radius * Math.cos(a), 60 + radius * Math.sin(a)];
};

function arc(from, to, radius) {
  const [x0, y0] = polar(from, radius), [x1, y1] = polar(to, radius);
  return `M${x0.toFixed(2)} ${y0.toFixed(2)}A${radius} ${radius} 0 ${to - from > 180 ? 1 : 0} 1 ${x1.toFixed(2)} ${y1.toFixed(2)}`;
}

function svg(tag, attributes, parent) {
  const el = document.createElementNS(SVG, tag);
  for (const [k, v] of Object.entries(attributes)) el.setAttribute(k, v);
  parent.appendChild(el);
  return el;
}

/** Three significant digits at most, and never more than four decimals: 0.7, 0.0457, 2.15. */
export const tidy = (v) => +(+v.toPrecision(3)).toFixed(4);

export class Knob {
  /** `spec` has id, symbol, name, low, high, home, words, ticks, zones, unit, help; `turned(value, phase)` is called while it turns. */
  constructor(parent, spec, turned) {
    this.spec = spec;
    this.turned = turned;
    this.value = spec.home;
    this.drag = null;
    this.box = document.createElement("div");
    this.box.className = "knob";
    this.box.innerHTML = `<header><span class="knob-name"></span>
      <label class="knob-value"><span></span><input type="text" inputmode="decimal" autocomplete="off" spellcheck="false"></label></header>
      <svg viewBox="0 1 120 102" role="slider" tabindex="0"></svg>
      <div class="knob-words" aria-hidden="true"><span></span><span></span></div>`;
    parent.appendChild(this.box);
    const find = (q) => this.box.querySelector(q);
    this.dial = find("svg");
    this.input = find("input");
    find(".knob-name").textContent = spec.name;
    find(".knob-value span").textContent = spec.symbol + " =";
    [find(".knob-words span:first-child").textContent, find(".knob-words span:last-child").textContent] = spec.words;
    this.box.title = spec.help;
    this.input.setAttribute("aria-label", `${spec.symbol} typed`);
    this.input.title = `Type a number from ${spec.low} to ${spec.high}`;
    for (const [k, v] of Object.entries({ "aria-label": spec.symbol, "aria-valuemin": spec.low, "aria-valuemax": spec.high,
      "aria-orientation": "vertical", "aria-description": spec.help })) this.dial.setAttribute(k, v);
    this.face();
    this.listen();
    this.paint();
  }

  fraction(v) { return Math.log(v / this.spec.low) / Math.log(this.spec.high / this.spec.low); }
  degrees(v) { return START + SWEEP * this.fraction(v); }
  at(fraction) { return this.spec.low * (this.spec.high / this.spec.low) ** Math.min(1, Math.max(0, fraction)); }

  face() {
    const { zones, ticks } = this.spec;
    for (const [from, to, kind] of zones)
      svg("path", { d: arc(this.degrees(from), this.degrees(to), 50), class: `zone ${kind}` }, this.dial);
    for (const v of ticks) {
      const [x0, y0] = polar(this.degrees(v), 44.5), [x1, y1] = polar(this.degrees(v), 40.5);
      svg("line", { x1: x0, y1: y0, x2: x1, y2: y1, class: "tick" }, this.dial);
    }
    this.mark = svg("g", {}, this.dial);
    this.remark(this.spec.trained);
    svg("circle", { cx: 60, cy: 60, r: 36, class: "body" }, this.dial);
    svg("circle", { cx: 60, cy: 60, r: 28, class: "cap" }, this.dial);
    this.needle = svg("line", { x1: 60, y1: 43, x2: 60, y2: 28, class: "needle" }, this.dial);
  }

  /** Mark where training left this knob; another model has another mark, or none. */
  remark(trained) {
    this.mark.replaceChildren();
    if (!trained) return;
    const a = this.degrees(trained);
    const arrow = svg("path", { d: "M60 5.5l3.4 -5h-6.8z", class: "trained", transform: `translate(0 1.5) rotate(${a} 60 58.5)` }, this.mark);
    svg("title", {}, arrow).textContent = `the trained value, ${trained}`;
  }

  /** Show a value without telling anybody. */
  set(value) {
    this.value = value;
    this.paint();
  }

  paint() {
    const text = String(tidy(this.value));
    this.needle.setAttribute("transform", `rotate(${this.degrees(this.value).toFixed(2)} 60 60)`);
    if (this.root().activeElement !== this.input) this.input.value = text;
    this.dial.setAttribute("aria-valuenow", text);
    this.dial.setAttribute("aria-valuetext", `${this.spec.symbol} ${text}${this.spec.unit ? " " + this.spec.unit : ""}`);
  }

  root() { return this.box.getRootNode(); }

  turn(value, phase) {
    value = tidy(Math.min(this.spec.high, Math.max(this.spec.low, value)));
    const moved = value !== this.value;
    this.value = value;
    this.paint();
    if (moved || phase !== "move") this.turned(value, phase);
  }

  listen() {
    const { dial, input, spec } = this;
    dial.onpointerdown = (e) => {
      if (e.button) return;
      dial.setPointerCapture(e.pointerId);
      dial.focus({ preventScroll: true });
      e.preventDefault();
      this.drag = { x: e.clientX, y: e.clientY, f: this.fraction(this.value) };
      this.box.classList.add("held");
      this.turned(this.value, "start");
    };
    dial.onpointermove = (e) => {
      if (!this.drag) return;
      const travel = (this.drag.y - e.clientY + e.clientX - this.drag.x) / (FULL_TURN_PX * (e.shiftKey ? 10 : 1));
      [this.drag.x, this.drag.y] = [e.clientX, e.clientY];
      this.drag.f = Math.min(1, Math.max(0, this.drag.f + travel));
      this.turn(this.at(this.drag.f), "move");
    };
    dial.onpointerup = dial.onpointercancel = () => {
      if (!this.drag) return;
      this.drag = null;
      this.box.classList.remove("held");
      this.turned(this.value, "end");
    };
    dial.ondblclick = () => this.turn(spec.home, "jump");
    dial.onwheel = (e) => {
      if (this.root().activeElement !== dial) return; // a page that scrolls must not turn knobs
      e.preventDefault();
      if (!this.rolling) this.turned(this.value, "start");
      clearTimeout(this.rolling);
      this.rolling = setTimeout(() => { this.rolling = 0; this.turned(this.value, "end"); }, WHEEL_MS);
      this.turn(this.at(this.fraction(this.value) - Math.sign(e.deltaY) * (e.shiftKey ? 0.002 : 0.02)), "move");
    };
    dial.onkeydown = (e) => {
      const step = e.shiftKey ? 0.002 : 0.02, f = this.fraction(this.value);
      const to = { ArrowUp: f + step, ArrowRight: f + step, ArrowDown: f - step, ArrowLeft: f - step,
        PageUp: f + 0.1, PageDown: f - 0.1, Home: 0, End: 1 }[e.key];
      if (to === undefined) return;
      e.preventDefault();
      e.stopPropagation();
      this.repeating = e.repeat;
      this.turn(this.at(to), e.repeat ? "move" : "jump");
    };
    dial.onkeyup = dial.onblur = () => { // a key that is held may be let go elsewhere
      if (this.repeating) this.turned(this.value, "end");
      this.repeating = false;
    };
    const typed = () => {
      const v = Number(input.value.replace(",", "."));
      const fine = input.value.trim() !== "" && Number.isFinite(v) && v >= spec.low && v <= spec.high;
      input.setAttribute("aria-invalid", String(!fine));
      if (fine) this.turn(v, "jump");
      else this.turned(this.value, "refused");
      return fine;
    };
    input.onkeydown = (e) => {
      e.stopPropagation();
      if (e.key === "Enter" && typed()) input.blur();
      if (e.key === "Escape") { input.setAttribute("aria-invalid", "false"); input.value = String(tidy(this.value)); input.blur(); }
    };
    input.onfocus = () => input.select();
    input.onblur = () => {
      if (input.value !== String(tidy(this.value))) typed();
      input.setAttribute("aria-invalid", "false");
      this.paint();
    };
  }
}
