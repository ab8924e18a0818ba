// Draw what a figure's layout adds to its traces: lines, rectangles, circles and words.
import { positionOf } from "./axes.js";
import { strokePath } from "./strokes.js";

/** @import { Annotation, Plot, Shape } from "./figure_types.js" */

/**
 * @param {Plot} plot
 * @param {Shape} shape
 */
export function drawShape(plot, shape) {
  const { context: c } = plot;
  const { xref = "x", yref = "y" } = shape;
  const [x0, x1] = [positionOf(plot, shape.x0, xref, "x"), positionOf(plot, shape.x1, xref, "x")];
  const [y0, y1] = [positionOf(plot, shape.y0, yref, "y"), positionOf(plot, shape.y1, yref, "y")];
  c.beginPath();
  if (shape.type === "rect") c.rect(x0, y0, x1 - x0, y1 - y0);
  else if (shape.type === "circle") {
    const [rx, ry] = [Math.abs(x1 - x0) / 2, Math.abs(y1 - y0) / 2];
    c.ellipse((x0 + x1) / 2, (y0 + y1) / 2, rx, ry, 0, 0, 2 * Math.PI);
  } else {
    c.moveTo(x0, y0);
    c.lineTo(x1, y1);
  }
  if (shape.fillcolor) {
    c.fillStyle = plot.colour(shape.fillcolor);
    c.fill();
  }
  strokePath(plot, shape.line);
}

/**
 * @param {Plot} plot
 * @param {Annotation} annotation
 */
export function drawAnnotation(plot, annotation) {
  const { context: c } = plot;
  const { text, x, y, xref, yref, font, xanchor = "center", xshift = 0, yshift = 0 } = annotation;
  c.font = `${font.weight ?? 400} 12px ${plot.font}`;
  c.fillStyle = plot.colour(font.color);
  c.textAlign = xanchor;
  c.textBaseline = "middle";
  c.fillText(text, positionOf(plot, x, xref, "x") + xshift, positionOf(plot, y, yref, "y") - yshift);
}
