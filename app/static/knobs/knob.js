// One rotary knob: a slider that is turned. Drag up or right to turn it up (Shift: fine), arrow keys, Page Up and Down,
// Home, End, the wheel when it has the focus, a double click for its home value, or a typed number.
import { clamp } from "../page/clamp.js";
import { find, focusedBeside } from "../page/dom.js";
import { KnobFace } from "./knob_face.js";
import { dragFraction, keyFraction, KnobScale, roundValue, wheelFraction } from "./knob_scale.js";

/** @import { Controls, KnobSpec } from "../messages.js" */

const WHEEL_END_MS = 250; // a turn by the wheel ends when it has not rolled for this long

/**
 * Where in a turn a value comes from: "start" and "end" of a drag, "move" within it, "jump" for a value set at once,
 * "refused" for a typed text that is no allowed number.
 * @typedef {"start" | "move" | "end" | "jump" | "refused"} Phase
 */

/** What a screen reader says of a zone. */
const ZONE_WORDS = {
  under: "under-damped",
  critical: "critically damped",
  over: "over-damped",
  slow: "slow",
  alert: "alert",
};

/**
 * A knob's value as it is spoken: "1.4, over-damped", "0.1 radians per frame, slow".
 * @param {Pick<KnobSpec, "unit" | "zones">} spec
 * @param {number} value
 */
export function valueInWords({ unit, zones }, value) {
  const zone = zones.find(([from, to]) => value >= from && value <= to);
  const spoken = unit.replace(/\brad\b/, "radians").replace("/", " per ");
  const words = zone && ZONE_WORDS[/** @type {keyof typeof ZONE_WORDS} */ (zone[2])];
  return `${roundValue(value)}${spoken ? ` ${spoken}` : ""}${words ? `, ${words}` : ""}`;
}

/** A knob with its name and a field for its number. */
export class Knob {
  /**
   * @param {Element} parent
   * @param {KnobSpec} spec
   * @param {(value: number, phase: Phase) => void} onTurn
   */
  constructor(parent, spec, onTurn) {
    this.spec = spec;
    this.scale = new KnobScale(spec.low, spec.high, spec.even_below);
    this.onTurn = onTurn;
    this.value = spec.home;
    /** @type {{ x: number, y: number, fraction: number } | null} where the pointer was, while it drags */
    this.drag = null;
    this.keyHeld = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.wheelEnd = undefined;
    this.box = document.createElement("div");
    this.box.className = "knob";
    this.box.title = spec.help;
    this.box.innerHTML = `
      <header>
        <span class="knob-name"></span>
        <label class="knob-value">
          <span></span>
          <input type="text" inputmode="decimal" autocomplete="off" spellcheck="false">
        </label>
      </header>
      <svg viewBox="0 1 120 102" role="slider" tabindex="0"></svg>
      <div class="knob-words" aria-hidden="true"><span></span><span></span></div>`;
    parent.appendChild(this.box);
    this.dial = find(this.box, "svg", SVGSVGElement);
    this.input = find(this.box, "input", HTMLInputElement);
    this.face = new KnobFace(this.dial, spec, this.scale);
    this.label();
    this.listenToPointer();
    this.listenToKeys();
    this.listenToField();
    this.paint();
  }

  /** Name, words at the ends, and what a screen reader says. */
  label() {
    const { spec, box, dial, input } = this;
    find(box, ".knob-name", HTMLElement).textContent = spec.name;
    find(box, ".knob-value span", HTMLElement).textContent = `${spec.symbol} =`;
    box.querySelectorAll(".knob-words span").forEach((el, i) => (el.textContent = spec.words[i]));
    input.setAttribute("aria-label", `${spec.symbol} typed`);
    input.title = `Type a number from ${spec.low} to ${spec.high}`;
    dial.setAttribute("aria-label", `${spec.name} ${spec.symbol}`);
    dial.setAttribute("aria-valuemin", String(spec.low));
    dial.setAttribute("aria-valuemax", String(spec.high));
    dial.setAttribute("aria-orientation", "vertical");
    dial.setAttribute("aria-description", spec.help);
  }

  /**
   * Show a value that does not come from this knob.
   * @param {number} value
   */
  set(value) {
    this.value = value;
    this.paint();
  }

  /** Show the value: pointer, number, screen reader. */
  paint() {
    const { spec, dial, input } = this;
    const text = String(roundValue(this.value));
    this.face.pointTo(this.value);
    if (!this.hasFocus(input)) input.value = text;
    dial.setAttribute("aria-valuenow", text);
    dial.setAttribute("aria-valuetext", valueInWords(spec, this.value));
  }

  /** @param {Element} el */
  hasFocus(el) {
    return focusedBeside(this.box) === el;
  }

  /**
   * Turn to the nearest allowed value, and tell.
   * @param {number} value
   * @param {Phase} phase
   */
  turn(value, phase) {
    value = this.scale.allowed(value);
    const moved = value !== this.value;
    this.value = value;
    this.paint();
    if (moved || phase !== "move") this.onTurn(value, phase);
  }

  /** Drag, double click, wheel. */
  listenToPointer() {
    const { dial, scale } = this;
    dial.onpointerdown = (event) => {
      if (event.button) return;
      dial.setPointerCapture(event.pointerId);
      dial.focus({ preventScroll: true });
      event.preventDefault();
      this.drag = { x: event.clientX, y: event.clientY, fraction: scale.fraction(this.value) };
      this.box.classList.add("held");
      this.onTurn(this.value, "start");
    };
    dial.onpointermove = (event) => {
      if (!this.drag) return;
      const { x, y, fraction } = this.drag;
      const travel = dragFraction(event.clientX - x, y - event.clientY, event.shiftKey);
      this.drag = { x: event.clientX, y: event.clientY, fraction: clamp(fraction + travel, 0, 1) };
      this.turn(scale.valueAt(this.drag.fraction), "move");
    };
    dial.onpointerup = dial.onpointercancel = () => {
      if (!this.drag) return;
      this.drag = null;
      this.box.classList.remove("held");
      this.onTurn(this.value, "end");
    };
    dial.ondblclick = () => this.turn(this.spec.home, "jump");
    dial.onwheel = (event) => {
      if (!this.hasFocus(dial)) return; // a page that scrolls must not turn knobs
      event.preventDefault();
      if (this.wheelEnd === undefined) this.onTurn(this.value, "start");
      clearTimeout(this.wheelEnd);
      this.wheelEnd = setTimeout(() => {
        this.wheelEnd = undefined;
        this.onTurn(this.value, "end");
      }, WHEEL_END_MS);
      const fraction = wheelFraction(scale.fraction(this.value), event.deltaY, event.shiftKey);
      this.turn(scale.valueAt(fraction), "move");
    };
  }

  /** A key pressed once jumps, a key held is a drag. */
  listenToKeys() {
    const { dial, scale } = this;
    dial.onkeydown = (event) => {
      const fraction = keyFraction(scale.fraction(this.value), event.key, event.shiftKey);
      if (fraction === null) return;
      event.preventDefault();
      event.stopPropagation();
      this.keyHeld = event.repeat;
      this.turn(scale.valueAt(fraction), event.repeat ? "move" : "jump");
    };
    dial.onkeyup = dial.onblur = () => {
      if (this.keyHeld) this.onTurn(this.value, "end");
      this.keyHeld = false;
    };
  }

  /** The field for the number: Enter takes it, Escape leaves it, a number out of range is marked. */
  listenToField() {
    const { input, scale } = this;
    const takeTyped = () => {
      const value = scale.parse(input.value);
      input.setAttribute("aria-invalid", String(value === null));
      if (value === null) this.onTurn(this.value, "refused");
      else this.turn(value, "jump");
      return value !== null;
    };
    input.onkeydown = (event) => {
      event.stopPropagation();
      if (event.key === "Enter" && takeTyped()) input.blur();
      if (event.key === "Escape") {
        input.setAttribute("aria-invalid", "false");
        input.value = String(roundValue(this.value));
        input.blur();
      }
    };
    input.onfocus = () => input.select();
    input.onblur = () => {
      if (input.value !== String(roundValue(this.value))) takeTyped();
      input.setAttribute("aria-invalid", "false");
      this.paint();
    };
  }
}

/**
 * Write a knob's value. A turn switches Knob on; a click on a dial, which turns nothing, does not.
 * @param {Controls} values
 * @param {string} id  of the knob
 * @param {number} value
 * @param {Exclude<Phase, "refused">} phase
 */
export function writeTurn(values, id, value, phase) {
  values.released = phase !== "start" && phase !== "move";
  if (phase === "start") return;
  if (phase !== "end" || values[id] !== value) values.on = true;
  values[id] = value;
}
