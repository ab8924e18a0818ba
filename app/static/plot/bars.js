// Draw upright bars from zero to their values.
import { unpack } from "./packed_numbers.js";

/** @import { BarTrace, PlacedAxis, Plot } from "./figure_types.js" */

/**
 * @param {Plot} plot
 * @param {BarTrace} trace
 * @param {PlacedAxis} xAxis
 * @param {PlacedAxis} yAxis
 */
export function drawBars({ context: c, colour }, trace, xAxis, yAxis) {
  const [x, y] = [unpack(trace.x), unpack(trace.y)];
  const { width, marker } = trace;
  const widths = typeof width === "number" ? new Float64Array(y.length).fill(width) : unpack(width);
  const zero = yAxis.toPixel(0);
  for (let i = 0; i < y.length; i++) {
    if (!Number.isFinite(y[i])) continue;
    const half = widths[i] / 2;
    const [left, right, top] = [xAxis.toPixel(x[i] - half), xAxis.toPixel(x[i] + half), yAxis.toPixel(y[i])];
    c.fillStyle = colour(Array.isArray(marker.color) ? marker.color[i] : marker.color);
    c.fillRect(left, top, Math.max(1, right - left), zero - top);
  }
}
