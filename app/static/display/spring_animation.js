// Run the spring's picture along the stream in its own time, or hold it at the scope's cursor.
import { unpack } from "../plot/packed_numbers.js";
import { drawSpring } from "./spring_drawing.js";

/** @import { Palette, SpringUpdate, ViewRequest } from "../messages.js" */
/** @import { Painter } from "../plot/painter.js" */
/** @import { ScopeCursor } from "./scope_cursor.js" */
/** @import { Spring } from "./spring_drawing.js" */

const FRAME_MS = 33; // no more than 30 pictures a second: the knobs need the main thread

/**
 * What the animation needs of the display.
 * @typedef {object} SpringHost
 * @property {HTMLElement} box
 * @property {ViewRequest} view
 * @property {ScopeCursor} cursor
 * @property {Palette} palette
 * @property {string} font
 */

/** The spring while its panel is open. */
export class SpringAnimation {
  /**
   * @param {Painter} painter
   * @param {SpringHost} host
   */
  constructor(painter, host) {
    this.painter = painter;
    this.host = host;
    /** @type {Spring | null} */
    this.spring = null;
    this.running = false;
    this.time = 0; // frames since the spring's first
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  }

  /**
   * Draw this spring from now on; null: another panel is open.
   * @param {SpringUpdate | null} message
   */
  show(message) {
    this.spring = message && { ...message, u: unpack(message.u), u_star: unpack(message.u_star) };
    if (!message || this.running) return;
    this.running = true;
    let last = performance.now();
    const step = (/** @type {number} */ now) => {
      if (!this.spring || !this.host.box.isConnected) {
        this.running = false;
        if (this.host.cursor.frame === null) this.host.cursor.showLine(null, false);
        return;
      }
      requestAnimationFrame(step);
      if (now - last < FRAME_MS || document.hidden) return;
      this.draw(this.spring, now - last);
      last = now;
    };
    requestAnimationFrame(step);
  }

  /**
   * @param {Spring} spring
   * @param {number} elapsed  ms since the last picture
   */
  draw(spring, elapsed) {
    const { cursor, view, palette, font } = this.host;
    const at = { length: spring.u.length, first: spring.first, live: spring.live, cursor: cursor.frame };
    this.time = nextTime(this.time, at, this.still ? 0 : elapsed, view.frame_rate);
    drawSpring(this.painter, spring, Math.min(Math.max(this.time, 0), at.length - 1), palette, font);
    if (cursor.frame === null && !spring.live) cursor.showLine(this.time + spring.first, false);
  }
}

/**
 * Where in the stream the spring is next: at the newest frame of a live stream, at the cursor, or further on by the
 * time that has passed, at the stream's frame rate (1 to 60 frames/s), and from the beginning after the end.
 * @param {number} time  frames
 * @param {{ length: number, first: number, live: boolean, cursor: number | null }} at
 * @param {number} elapsed  ms
 * @param {number} frameRate
 */
export function nextTime(time, { length, first, live, cursor }, elapsed, frameRate) {
  if (live) return length - 1;
  if (cursor !== null) return cursor - first;
  return (time + (elapsed / 1000) * Math.min(60, Math.max(1, frameRate))) % length;
}
