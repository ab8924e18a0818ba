// Zoom and pan of the scope's time axis: wheel, keys + - and two buttons zoom, a drag chooses a stretch (or moves one
// that is chosen), Shift with the arrow keys moves, a double click or 0 shows all of it again.
import { clamp } from "../page/clamp.js";
import { setIfChanged } from "../page/dom.js";

/** @import { PlacedAxis } from "../plot/figure_types.js" */

/** @typedef {[number, number]} Range  frames, from half a frame before the first one to half a frame after the last */

const SHORTEST = 8; // frames
const WHEEL_SPEED = 0.0016; // per pixel of the wheel
const KEY_FACTOR = 1.5;
const DRAG_PIXELS = 5; // a shorter drag is a click

/**
 * A range of at least SHORTEST frames that lies within `whole`; null where it is all of it.
 * @param {Range} range
 * @param {Range} whole
 * @returns {Range | null}
 */
export function within([low, high], whole) {
  const length = whole[1] - whole[0];
  const span = Math.max(Math.min(SHORTEST, length), high - low);
  if (span >= length - 1e-6) return null;
  const start = clamp((low + high - span) / 2, whole[0], whole[1] - span);
  return [start, start + span];
}

/**
 * The range with `factor` times its frames, with frame `at` where it was.
 * @param {Range} range
 * @param {Range} whole
 * @param {number} at
 * @param {number} factor
 */
export function zoomed([low, high], whole, at, factor) {
  const length = whole[1] - whole[0];
  const scale = Math.max(factor, Math.min(SHORTEST, length) / (high - low));
  return within([at - (at - low) * scale, at + (high - at) * scale], whole);
}

/**
 * The range moved by some frames.
 * @param {Range} range
 * @param {Range} whole
 * @param {number} by
 */
export function moved([low, high], whole, by) {
  const shift = clamp(by, whole[0] - low, whole[1] - high);
  return within([low + shift, high + shift], whole);
}

/**
 * What the zoom needs of the display.
 * @typedef {object} ZoomHost
 * @property {() => PlacedAxis | null} axis  the time axis as it is drawn
 * @property {() => Range | null} whole  all of the stream
 * @property {() => number | null} cursor  the frame that is pointed at
 * @property {() => void} changed  draw again
 */

/** The part of the stream that the scope shows. */
export class TimeZoom {
  /**
   * @param {HTMLCanvasElement} canvas
   * @param {HTMLElement} mark  a rectangle over the stretch that is being chosen
   * @param {{ reset: HTMLElement, closer: HTMLElement, wider: HTMLElement }} buttons
   * @param {ZoomHost} host
   */
  constructor(canvas, mark, { reset, closer, wider }, host) {
    this.canvas = canvas;
    this.mark = mark;
    this.reset = reset;
    this.host = host;
    /** @type {number | null} frame that a finger touched last */
    this.touched = null;
    /** @type {Range | null} null: all of it */
    this.range = null;
    this.stream = "";
    /** @type {{ x: number, range: Range | null } | null} pixel and range where the drag began */
    this.drag = null;
    reset.onclick = () => this.show(null);
    closer.onclick = () => this.zoomBy(1 / KEY_FACTOR);
    wider.onclick = () => this.zoomBy(KEY_FACTOR);
    canvas.ondblclick = () => this.show(null);
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", () => this.end());
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  /**
   * Another stream is shown from its beginning to its end.
   * @param {string} id
   */
  follow(id) {
    if (id !== this.stream) this.range = this.touched = null;
    this.stream = id;
    setIfChanged(this.reset, "hidden", !this.range);
  }

  /** @param {Range | null} range */
  show(range) {
    this.range = range;
    setIfChanged(this.reset, "hidden", !range);
    this.host.changed();
  }

  /** @param {PointerEvent | WheelEvent} event */
  pixel(event) {
    return event.clientX - this.canvas.getBoundingClientRect().left;
  }

  /** @param {WheelEvent} event */
  wheel(event) {
    const [axis, whole] = [this.host.axis(), this.host.whole()];
    const out = event.deltaY > 0;
    if (!axis || !whole || (out && !this.range)) return; // all is shown: let the page scroll
    event.preventDefault();
    const at = clamp(axis.toValue(this.pixel(event)), ...axis.range);
    this.show(zoomed(axis.range, whole, at, Math.exp(clamp(event.deltaY, -300, 300) * WHEEL_SPEED)));
  }

  /** @param {PointerEvent} event */
  press(event) {
    if (event.pointerType === "touch") this.touched = this.host.axis()?.toValue(this.pixel(event)) ?? null;
    if (event.button !== 0 || event.pointerType === "touch") return; // a finger scrolls the page
    this.drag = { x: this.pixel(event), range: this.range };
    this.canvas.setPointerCapture(event.pointerId);
  }

  /** @param {PointerEvent} event */
  move(event) {
    const [axis, whole] = [this.host.axis(), this.host.whole()];
    if (!this.drag || !axis || !whole) return;
    const [x, far] = [this.pixel(event), Math.abs(this.pixel(event) - this.drag.x) >= DRAG_PIXELS];
    const { range } = this.drag;
    if (range) {
      const framesPerPixel = (range[1] - range[0]) / (axis.to - axis.from);
      if (far) this.show(moved(range, whole, (this.drag.x - x) * framesPerPixel) ?? range);
      return;
    }
    const [left, right] = [this.drag.x, x].map((pixel) => clamp(pixel, axis.from, axis.to)).sort((a, b) => a - b);
    this.mark.hidden = !far;
    this.mark.style.left = `${left}px`;
    this.mark.style.width = `${right - left}px`;
  }

  /** @param {PointerEvent} event */
  release(event) {
    const [axis, whole, x] = [this.host.axis(), this.host.whole(), this.pixel(event)];
    if (this.drag && !this.drag.range && axis && whole && Math.abs(x - this.drag.x) >= DRAG_PIXELS) {
      const [low, high] = [this.drag.x, x]
        .map((pixel) => axis.toValue(clamp(pixel, axis.from, axis.to)))
        .sort((a, b) => a - b);
      this.show(within([low, high], whole));
    }
    this.end();
  }

  /** The drag is over. */
  end() {
    this.drag = null;
    this.mark.hidden = true;
  }

  /**
   * Zoom about the frame that is pointed at, or was touched, or about the middle.
   * @param {number} factor  of the frames that are shown
   */
  zoomBy(factor) {
    const [axis, whole] = [this.host.axis(), this.host.whole()];
    if (!axis || !whole) return;
    const [low, high] = axis.range;
    const { touched } = this;
    const inSight = touched !== null && touched >= low && touched <= high ? touched : (low + high) / 2;
    this.show(zoomed(axis.range, whole, this.host.cursor() ?? inSight, factor));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const [axis, whole] = [this.host.axis(), this.host.whole()];
    if (!axis || !whole || event.ctrlKey || event.metaKey || event.altKey) return;
    const { range } = axis;
    const arrow = event.shiftKey ? { ArrowLeft: -0.25, ArrowRight: 0.25 }[event.key] : undefined;
    if (event.key === "+" || event.key === "=") this.zoomBy(1 / KEY_FACTOR);
    else if (event.key === "-") this.zoomBy(KEY_FACTOR);
    else if (event.key === "0") this.show(null);
    else if (arrow && this.range) this.show(moved(range, whole, arrow * (range[1] - range[0])));
    else return;
    event.preventDefault();
  }
}
