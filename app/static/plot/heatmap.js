// Draw rows of cells; a cell's value in [0, 1] is its opacity.
import { unpack } from "./packed_numbers.js";

/** @import { HeatmapTrace, PlacedAxis, Plot } from "./figure_types.js" */

const HALF_HEIGHT = 0.42; // of a cell; rows are 1 apart, and touch where the trace has no gap
const INVISIBLE = 0.004; // an opacity of less than 1/255

/**
 * @param {Plot} plot
 * @param {HeatmapTrace} trace
 * @param {PlacedAxis} x
 * @param {PlacedAxis} y
 */
export function drawHeatmap({ context: c, colour }, trace, x, y) {
  const { x0, dx, y0 } = trace;
  const dense = trace.ygap === 0; // cells end on whole pixels, or their tints would overlap or part
  const half = dense ? 0.5 : HALF_HEIGHT;
  const edge = dense ? Math.round : (/** @type {number} */ pixel) => pixel;
  const overlap = dense ? 0 : 0.4; // pixels: no gaps between neighbours
  c.fillStyle = colour(trace.colorscale[1][1]);
  trace.z.forEach((row, j) => {
    const z = unpack(row);
    const [bottom, top] = [edge(y.toPixel(y0 + j - half)), edge(y.toPixel(y0 + j + half))];
    for (let i = 0; i < z.length; i++) {
      if (!(z[i] > INVISIBLE)) continue; // NaN, too
      const [left, right] = [edge(x.toPixel(x0 + dx * (i - 0.5))), edge(x.toPixel(x0 + dx * (i + 0.5)))];
      c.globalAlpha = Math.min(1, z[i]);
      c.fillRect(left, top, right - left + overlap, bottom - top);
    }
  });
  c.globalAlpha = 1;
}
