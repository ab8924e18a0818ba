// The cursor of the scope: a line through all its rows at one frame, and the numbers at that frame. It follows the
// pointer, or the arrow keys when the scope has the focus.
import { clamp } from "../page/clamp.js";
import { find, setIfChanged } from "../page/dom.js";
import { unpack } from "../plot/packed_numbers.js";

/** @import { StreamBackground } from "../messages.js" */
/** @import { Figure } from "../plot/figure_types.js" */
/** @import { Painter } from "../plot/painter.js" */
/** @import { FilmStrip } from "./film_strip.js" */

/**
 * What the cursor needs of the display.
 * @typedef {object} CursorHost
 * @property {Painter} scope
 * @property {FilmStrip} film
 * @property {StreamBackground | null} background
 * @property {Figure | null} figure
 */

/** @type {Record<string, number>} frames */
const KEY_STEPS = { ArrowLeft: -1, ArrowRight: 1, PageUp: 10, PageDown: -10 };

/** The frame that is pointed at. */
export class ScopeCursor {
  /**
   * @param {HTMLElement} box
   * @param {CursorHost} host
   */
  constructor(box, host) {
    this.host = host;
    /** @type {number | null} */
    this.frame = null;
    this.line = find(box, ".cursor-line", HTMLElement);
    this.text = find(box, ".at", HTMLElement);
    this.legend = find(box, ".legend", HTMLElement);
    this.listen(host.scope.canvas);
  }

  /** The scope's horizontal axis; null before anything is drawn. */
  get axis() {
    return this.host.scope.axes?.x ?? null;
  }

  /** @param {HTMLCanvasElement} canvas */
  listen(canvas) {
    canvas.onpointermove = (event) => {
      const pixel = event.clientX - canvas.getBoundingClientRect().left;
      const inside = this.axis && pixel >= this.axis.from && pixel <= this.axis.to;
      this.moveTo(this.axis && inside ? Math.round(this.axis.toValue(pixel)) : null);
    };
    canvas.onpointerleave = () => this.moveTo(null);
    canvas.onkeydown = (event) => {
      if (event.key === "Escape") this.moveTo(null);
      const step = KEY_STEPS[event.key];
      if (!step || !this.axis || event.shiftKey) return; // with Shift they move the zoomed part
      event.preventDefault();
      this.moveTo(stepFrame(this.frame, step, this.axis.range));
    };
  }

  /**
   * Show the line at a frame; null hides it.
   * @param {number | null} frame  may be a fraction
   * @param {boolean} strong  faint where it only follows the spring's animation
   */
  showLine(frame, strong) {
    if (!this.axis) return;
    this.line.hidden = frame === null;
    this.line.classList.toggle("strong", strong);
    if (frame !== null) this.line.style.transform = `translateX(${this.axis.toPixel(frame).toFixed(1)}px)`;
  }

  /** Show the numbers of a newer message at the same frame. */
  refresh() {
    if (this.frame !== null) this.moveTo(this.frame);
  }

  /** @param {number | null} frame */
  moveTo(frame) {
    const { film, figure, background } = this.host;
    this.frame = frame;
    this.showLine(frame, true);
    setIfChanged(this.legend, "hidden", frame !== null); // or the caption would grow by a line
    film.outline(frame);
    if (frame === null || !figure || !background) {
      this.text.textContent = "";
      return;
    }
    const answer = answerAt(background, figure, frame);
    setIfChanged(this.text, "class", answer.wrong ? "at wrong" : "at");
    this.text.textContent = [`frame ${frame}`, ...valuesAt(figure, frame), ...answer.words].join("  ·  ");
  }
}

/**
 * The frame that is `step` frames on, inside the axis; from the middle where there is none yet.
 * @param {number | null} frame
 * @param {number} step
 * @param {[number, number]} range
 */
export function stepFrame(frame, step, [low, high]) {
  const next = (frame ?? Math.round((low + high) / 2)) + step;
  return clamp(next, Math.ceil(low), Math.floor(high)) || 0; // no negative zero
}

/**
 * "name value" of every trace that has `hover`, at a frame.
 * @param {Figure} figure
 * @param {number} frame
 */
export function valuesAt(figure, frame) {
  const texts = [];
  for (const trace of figure.data) {
    if (trace.type !== "scatter" || !trace.hover) continue;
    const value = unpack(trace.y)[frame - (trace.x0 ?? 0)];
    if (Number.isFinite(value)) texts.push(`${trace.name} ${value.toFixed(2)}`);
  }
  return texts;
}

/**
 * The ribbons' classes at a frame in words, and whether the present answer is wrong.
 * @param {Pick<StreamBackground, "truth" | "short">} background
 * @param {Figure} figure
 * @param {number} frame
 */
export function answerAt({ truth, short }, figure, frame) {
  const known = unpack(truth)[frame] ?? -1;
  const words = known >= 0 ? [`true ${short[known]}`] : [];
  let wrong = false;
  for (const trace of figure.data) {
    if (trace.type !== "ribbon" || trace.name === "truth") continue;
    const seen = unpack(trace.z)[frame] ?? -1;
    if (seen < 0) continue; // nothing has arrived
    const missed = known >= 0 && seen !== known;
    words.push(`${trace.name} ${missed ? "✕ " : ""}${short[seen]}`);
    if (trace.name === "now") wrong = missed;
  }
  return { wrong, words };
}
