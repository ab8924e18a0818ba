// Draw a subplot's background, grid, tick labels and axis titles.
import { tickMarks } from "./ticks.js";

/** @import { PlacedAxis, Plot } from "./figure_types.js" */

const TITLE_GAP = 34; // pixels from a vertical axis to its title

/**
 * @param {Plot} plot
 * @param {PlacedAxis} x
 * @param {PlacedAxis} y
 */
export function drawSubplot(plot, x, y) {
  const { context: c } = plot;
  c.lineWidth = 1;
  c.font = `12px ${plot.font}`;
  c.fillStyle = plot.colour("plot");
  c.fillRect(x.from, y.to, x.to - x.from, y.from - y.to);
  c.strokeStyle = plot.colour("grid");
  c.fillStyle = plot.colour("muted");
  drawTicksX(plot, x, y);
  drawTicksY(plot, x, y);
  if (x.spec.title) {
    c.textAlign = "center";
    c.textBaseline = "bottom";
    c.fillText(x.spec.title.text, (x.from + x.to) / 2, plot.size.height - 1);
  }
  drawTitleY(plot, x, y);
}

/**
 * Upright grid lines, and labels where the subplot is the one below which the axis stands.
 * @param {Plot} plot
 * @param {PlacedAxis} x
 * @param {PlacedAxis} y
 */
function drawTicksX({ context: c, size }, x, y) {
  for (const [value, text] of tickMarks(x, x.to - x.from)) {
    const pixel = Math.round(x.toPixel(value)) + 0.5;
    c.globalAlpha = text ? 1 : 0.5;
    if (x.spec.showgrid !== false) gridLine(c, pixel, y.to, pixel, y.from);
    c.globalAlpha = 1;
    if (x.spec.anchor !== y.id) continue;
    const half = c.measureText(text).width / 2;
    c.textAlign = "center";
    c.textBaseline = "top";
    c.fillText(text, Math.min(pixel, size.width - half - 1), y.from + 5);
  }
}

/**
 * Level grid lines and their labels.
 * @param {Plot} plot
 * @param {PlacedAxis} x
 * @param {PlacedAxis} y
 */
function drawTicksY({ context: c }, x, y) {
  for (const [value, text] of tickMarks(y, y.from - y.to)) {
    const pixel = Math.round(y.toPixel(value)) + 0.5;
    if (y.spec.showgrid !== false) gridLine(c, x.from, pixel, x.to, pixel);
    c.textAlign = "right";
    c.textBaseline = "middle";
    c.fillText(text, x.from - 6, pixel);
  }
}

/**
 * @param {CanvasRenderingContext2D} c
 * @param {number} x0
 * @param {number} y0
 * @param {number} x1
 * @param {number} y1
 */
function gridLine(c, x0, y0, x1, y1) {
  c.beginPath();
  c.moveTo(x0, y0);
  c.lineTo(x1, y1);
  c.stroke();
}

/**
 * The title of a vertical axis, if it has one, turned by 90 degrees.
 * @param {Plot} plot
 * @param {PlacedAxis} x
 * @param {PlacedAxis} y
 */
function drawTitleY(plot, x, y) {
  const { context: c } = plot;
  const { title, titlegap } = y.spec;
  if (!title) return;
  c.save();
  if (title.font) {
    c.fillStyle = plot.colour(title.font.color);
    c.font = `600 12px ${plot.font}`;
  }
  const half = c.measureText(title.text).width / 2;
  c.translate(x.from - (titlegap ?? TITLE_GAP), Math.max((y.to + y.from) / 2, half)); // whole, where the row is short
  c.rotate(-Math.PI / 2);
  c.textAlign = "center";
  c.textBaseline = "bottom";
  c.fillText(title.text, 0, 0);
  c.restore();
}
