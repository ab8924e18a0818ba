// Draw the severity s(t) by hand: sweep the pointer over the canvas; with keys, left and right move along, up and down
// change the value. It is sent when the pointer is released, or half a second after the last key.
import { clamp } from "./page/clamp.js";
import { mountOnce } from "./page/component.js";
import { addElement } from "./page/dom.js";
import { drawStretch, MOST, pointAt, severityHeight } from "./page/severity_points.js";

/** @import { Common, MountArguments, Palette, Part, PartHost, SketchMessage } from "./messages.js" */

const KEY_STEP = 0.25;
const KEYS_END_MS = 500;

/** @implements {Part<SketchMessage>} */
class SeveritySketch {
  /**
   * @param {PartHost} host
   * @param {SketchMessage} message
   */
  constructor(host, message) {
    /** @type {Palette} empty before the first message */
    this.palette = {};
    /** @type {(name: string, value: unknown) => void} */
    this.setState = () => {};
    this.send = () => false;
    this.values = [...message.values];
    /** @type {number | null} */
    this.epoch = null;
    this.selected = 0; // the value that keys change
    /** @type {[number, number] | null} [index, value] of the pointer while it draws */
    this.drawing = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.sendLater = undefined;
    this.box = document.createElement("div");
    this.box.className = "severity-sketch";
    host.appendChild(this.box);
    this.canvas = addElement("canvas", "", this.box);
    this.canvas.tabIndex = 0;
    this.canvas.title = "Sweep over the sheet; with keys, arrows move along and up and down";
    this.canvas.setAttribute("role", "slider");
    this.canvas.setAttribute("aria-label", "severity by hand");
    this.canvas.setAttribute("aria-valuemin", "0");
    this.canvas.setAttribute("aria-valuemax", String(MOST));
    this.listenToPointer();
    this.listenToKeys();
    new ResizeObserver(() => this.paint()).observe(this.box);
  }

  /** @param {Common & SketchMessage} message */
  update(message) {
    if (message.epoch !== this.epoch && !this.drawing) {
      this.epoch = message.epoch;
      this.values = [...message.values];
    }
    this.paint();
  }

  /** Sweep. */
  listenToPointer() {
    const { canvas } = this;
    /** @param {PointerEvent} event @returns {[number, number]} */
    const place = ({ clientX, clientY }) => {
      const { left, top, width, height } = canvas.getBoundingClientRect();
      return pointAt((clientX - left) / width, (clientY - top) / height, this.values.length);
    };
    canvas.onpointerdown = (event) => {
      canvas.setPointerCapture(event.pointerId);
      event.preventDefault();
      canvas.focus({ preventScroll: true });
      this.drawing = place(event);
      this.values[this.drawing[0]] = this.drawing[1];
      this.paint();
    };
    canvas.onpointermove = (event) => {
      if (!this.drawing) return;
      const to = place(event);
      drawStretch(this.values, this.drawing, to);
      this.drawing = to;
      this.selected = to[0];
      this.paint();
    };
    canvas.onpointerup = canvas.onpointercancel = () => {
      if (!this.drawing) return;
      this.drawing = null;
      this.sendValues();
    };
  }

  /** Arrow keys. */
  listenToKeys() {
    this.canvas.onkeydown = (event) => {
      const along = { ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0;
      const up = { ArrowUp: KEY_STEP, ArrowDown: -KEY_STEP }[event.key] ?? 0;
      if (!along && !up) return;
      event.preventDefault();
      this.selected = clamp(this.selected + along, 0, this.values.length - 1);
      this.values[this.selected] = clamp(this.values[this.selected] + up, 0, MOST);
      this.paint();
      clearTimeout(this.sendLater);
      this.sendLater = setTimeout(() => this.sendValues(), KEYS_END_MS);
    };
  }

  /** Send the values through Streamlit. */
  sendValues() {
    this.setState(
      "drawn",
      this.values.map((value) => +value.toFixed(2)),
    );
  }

  /** Draw the values, and the bar at the one that keys change. */
  paint() {
    const { canvas, palette, values, selected } = this;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    const c = canvas.getContext("2d");
    if (!width || !palette.grid || !c) return;
    const ratio = window.devicePixelRatio || 1;
    canvas.width = width * ratio;
    canvas.height = height * ratio;
    c.scale(ratio, ratio);
    const column = width / values.length;
    const toPixel = (/** @type {number} */ value) => height * severityHeight(value);
    c.strokeStyle = palette.grid;
    for (let value = 0; value <= MOST; value++) {
      c.beginPath();
      c.moveTo(0, toPixel(value));
      c.lineTo(width, toPixel(value));
      c.stroke();
    }
    c.strokeStyle = palette.severity;
    c.lineWidth = 2.5;
    c.beginPath();
    values.forEach((value, i) => {
      c.lineTo(column * i, toPixel(value));
      c.lineTo(column * (i + 1), toPixel(value));
    });
    c.stroke();
    c.fillStyle = palette.gate;
    c.fillRect(column * (selected + 0.5) - 1, 0, 2, height);
    const now = values[selected].toFixed(2);
    canvas.setAttribute("aria-valuenow", now);
    canvas.setAttribute("aria-valuetext", `frame part ${selected + 1} of ${values.length}: severity ${now}`);
  }
}

/**
 * The Streamlit component.
 * @param {MountArguments<Common & SketchMessage>} component
 */
export default (component) =>
  mountOnce(component, "severity_sketch.css", (host, message) => new SeveritySketch(host, message));
