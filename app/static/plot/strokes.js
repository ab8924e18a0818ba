// The stroke of a line: colour, width, dashes.

/** @import { Plot, Stroke } from "./figure_types.js" */

/** @type {Record<string, number[]>} pixels drawn and left out; other names are unbroken lines */
export const DASHES = { dot: [1.5, 3], dash: [6, 4] };

/**
 * Stroke the present path; nothing where the width is 0.
 * @param {Plot} plot
 * @param {Stroke} stroke
 */
export function strokePath({ context: c, colour }, { color, width = 1, dash = "solid" }) {
  if (!width || !color) return;
  c.strokeStyle = colour(color);
  c.lineWidth = width;
  c.setLineDash(DASHES[dash] ?? []);
  c.stroke();
  c.setLineDash([]);
}
