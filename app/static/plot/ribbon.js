// Draw a ribbon: a thin row in the colours of classes, with the class's name in every stretch that is wide enough.
import { unpack } from "./packed_numbers.js";

/** @import { PlacedAxis, Plot, RibbonTrace } from "./figure_types.js" */

export const COLOURS = 10; // class 10 has class 0's colour again; knob_core/palette.py has the colours
const HALF_HEIGHT = 0.44; // of a row; rows are 1 apart
const PADDING = 6; // pixels beside a name
const SMALLEST_TEXT = 8.5; // pixels: in a lower row no name is written

/**
 * Stretches of one class: [class, first frame, one after the last frame]; -1 is left out.
 * @param {ArrayLike<number>} classes
 * @returns {[number, number, number][]}
 */
export function stretches(classes) {
  /** @type {[number, number, number][]} */
  const found = [];
  for (let start = 0; start < classes.length;) {
    let end = start + 1;
    while (end < classes.length && classes[end] === classes[start]) end++;
    if (classes[start] >= 0) found.push([classes[start], start, end]);
    start = end;
  }
  return found;
}

/**
 * @param {Plot} plot
 * @param {RibbonTrace} trace
 * @param {PlacedAxis} x
 * @param {PlacedAxis} y
 */
export function drawRibbon(plot, trace, x, y) {
  const { context: c, classes, colour, font } = plot;
  const [top, bottom] = [y.toPixel(trace.y0 + HALF_HEIGHT), y.toPixel(trace.y0 - HALF_HEIGHT)];
  const size = Math.min(10.5, bottom - top - 1);
  c.font = `600 ${size}px ${font}`;
  c.textBaseline = "middle";
  c.textAlign = "left";
  for (const [kind, start, end] of stretches(unpack(trace.z))) {
    const [left, right] = [Math.max(x.from, x.toPixel(start - 0.5)), Math.min(x.to, x.toPixel(end - 0.5))];
    if (right <= left) continue; // outside the zoomed part
    c.fillStyle = colour(`class${kind % COLOURS}`);
    c.fillRect(left, top, Math.max(1, right - left), bottom - top);
    const name = classes[kind] ?? "";
    if (size < SMALLEST_TEXT || right - left < 2 * PADDING || c.measureText(name).width > right - left - PADDING)
      continue;
    c.fillStyle = colour(`onclass${kind % COLOURS}`);
    c.fillText(name, left + PADDING / 2, (top + bottom) / 2 + 0.5);
  }
}
