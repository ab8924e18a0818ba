// Draw rows of cells; a cell's value in [0, 1] is its opacity.
import { unpack } from "./packed_numbers.js";

/** @import { HeatmapTrace, PlacedAxis, Plot } from "./figure_types.js" */

const HALF_HEIGHT = 0.42; // of a cell; rows are 1 apart
const INVISIBLE = 0.004; // an opacity of less than 1/255

/**
 * @param {Plot} plot
 * @param {HeatmapTrace} trace
 * @param {PlacedAxis} x
 * @param {PlacedAxis} y
 */
export function drawHeatmap({ context: c, colour }, trace, x, y) {
  const { x0, dx, y0 } = trace;
  c.fillStyle = colour(trace.colorscale[1][1]);
  trace.z.forEach((row, j) => {
    const z = unpack(row);
    const [bottom, top] = [y.toPixel(y0 + j - HALF_HEIGHT), y.toPixel(y0 + j + HALF_HEIGHT)];
    for (let i = 0; i < z.length; i++) {
      if (!(z[i] > INVISIBLE)) continue; // NaN, too
      const [left, right] = [x.toPixel(x0 + dx * (i - 0.5)), x.toPixel(x0 + dx * (i + 0.5))];
      c.globalAlpha = Math.min(1, z[i]);
      c.fillRect(left, top, right - left + 0.4, bottom - top); // 0.4: no gaps between neighbours
    }
  });
  c.globalAlpha = 1;
}
