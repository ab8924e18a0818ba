// Draw a scatter trace: an area below it, error bars, its line and its markers.
import { unpack } from "./packed_numbers.js";
import { strokePath } from "./strokes.js";

/** @import { Marker, PlacedAxis, Plot, ScatterTrace, Trace } from "./figure_types.js" */

/**
 * @param {Plot} plot
 * @param {ScatterTrace} trace
 * @param {Trace | null} previous  the trace before it, to which an area reaches
 * @param {PlacedAxis} x
 * @param {PlacedAxis} y
 */
export function drawScatter(plot, trace, previous, x, y) {
  const { context: c } = plot;
  const points = pointsOf(trace, x, y);
  c.lineJoin = "round";
  if (trace.fill && trace.fillcolor && previous?.type === "scatter") {
    c.fillStyle = plot.colour(trace.fillcolor);
    fillBetween(c, points, pointsOf(previous, x, y));
  }
  if (trace.error_y) drawErrorBars(plot, trace, trace.error_y, points, y);
  if (trace.mode.includes("lines") && trace.line.width !== 0) {
    c.beginPath();
    addLine(c, points, trace.line.shape === "hv");
    strokePath(plot, trace.line);
  }
  if (trace.marker && trace.mode.includes("markers")) drawMarkers(plot, trace.marker, points);
}

/**
 * A trace in pixels: x0, y0, x1, y1, ...; NaN where a number is missing.
 * @param {ScatterTrace} trace
 * @param {PlacedAxis} xAxis
 * @param {PlacedAxis} yAxis
 * @returns {Float64Array}
 */
export function pointsOf(trace, xAxis, yAxis) {
  const y = unpack(trace.y);
  const x = trace.x && unpack(trace.x);
  const { x0 = 0, dx = 1 } = trace;
  const points = new Float64Array(2 * y.length);
  for (let i = 0; i < y.length; i++) {
    points[2 * i] = xAxis.toPixel(x ? x[i] : x0 + dx * i);
    points[2 * i + 1] = yAxis.toPixel(y[i]);
  }
  return points;
}

/**
 * Add a line through the points to the present path, broken where one is missing.
 * @param {Pick<CanvasRenderingContext2D, "moveTo" | "lineTo">} c
 * @param {Float64Array} points
 * @param {boolean} steps  go level to the next point, then up or down
 */
export function addLine(c, points, steps) {
  let connected = false;
  for (let i = 0; i < points.length; i += 2) {
    const [x, y] = [points[i], points[i + 1]];
    if (!Number.isFinite(x) || !Number.isFinite(y)) {
      connected = false;
      continue;
    }
    if (connected) {
      if (steps) c.lineTo(x, points[i - 1]);
      c.lineTo(x, y);
    } else c.moveTo(x, y);
    connected = true;
  }
}

/**
 * Fill the area between two lines of equal length, stretch by stretch where points are missing.
 * @param {Pick<CanvasRenderingContext2D, "beginPath" | "lineTo" | "fill">} c
 * @param {Float64Array} upper
 * @param {Float64Array} lower
 */
export function fillBetween(c, upper, lower) {
  /** @param {number} i */
  const known = (i) => Number.isFinite(upper[i + 1]) && Number.isFinite(lower[i + 1]);
  for (let start = 0; start < upper.length;) {
    while (start < upper.length && !known(start)) start += 2;
    let end = start;
    c.beginPath();
    for (; end < upper.length && known(end); end += 2) c.lineTo(upper[end], upper[end + 1]);
    for (let i = end - 2; i >= start; i -= 2) c.lineTo(lower[i], lower[i + 1]);
    c.fill();
    start = end;
  }
}

/**
 * Upright bars from y - e to y + e.
 * @param {Plot} plot
 * @param {ScatterTrace} trace
 * @param {NonNullable<ScatterTrace["error_y"]>} errors
 * @param {Float64Array} points
 * @param {PlacedAxis} yAxis
 */
function drawErrorBars({ context: c, colour }, trace, errors, points, yAxis) {
  const [y, e] = [unpack(trace.y), unpack(errors.array)];
  c.strokeStyle = colour(errors.color);
  c.lineWidth = 1.2;
  c.beginPath();
  for (let i = 0; i < y.length; i++) {
    if (!Number.isFinite(points[2 * i + 1]) || !Number.isFinite(e[i])) continue;
    c.moveTo(points[2 * i], yAxis.toPixel(y[i] - e[i]));
    c.lineTo(points[2 * i], yAxis.toPixel(y[i] + e[i]));
  }
  c.stroke();
}

/**
 * A cross, a ring or a disc at every point.
 * @param {Plot} plot
 * @param {Marker} marker
 * @param {Float64Array} points
 */
function drawMarkers({ context: c, colour }, marker, points) {
  const r = marker.size / 2;
  c.strokeStyle = c.fillStyle = colour(marker.color);
  c.lineWidth = marker.line?.width ?? 1.6;
  for (let i = 0; i < points.length; i += 2) {
    const [x, y] = [points[i], points[i + 1]];
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    c.beginPath();
    if (marker.symbol === "x") {
      c.moveTo(x - r, y - r);
      c.lineTo(x + r, y + r);
      c.moveTo(x - r, y + r);
      c.lineTo(x + r, y - r);
      c.stroke();
    } else {
      c.arc(x, y, r, 0, 2 * Math.PI);
      if (marker.symbol === "circle-open") c.stroke();
      else c.fill();
    }
  }
}
