// Where the axes of a figure lie on the canvas, and which pixel a value has on each.

/** @import { Axis, Box, Layout, PlacedAxis, Plot } from "./figure_types.js" */

/**
 * The two mappings of one axis, value to pixel and back.
 * @param {[number, number]} range  exponents of ten on a logarithmic axis
 * @param {boolean} log
 * @param {number} from  pixel of the range's low end
 * @param {number} to  pixel of its high end
 */
export function pixelScale([low, high], log, from, to) {
  /** @param {number} value */
  const toPixel = (value) => from + ((to - from) * ((log ? Math.log10(value) : value) - low)) / (high - low);
  /** @param {number} pixel */
  const toValue = (pixel) => {
    const value = low + ((high - low) * (pixel - from)) / (to - from);
    return log ? 10 ** value : value;
  };
  return { toPixel, toValue };
}

/**
 * Every axis of a layout at its place: {x, y, x2, ...}.
 * @param {Layout} layout
 * @param {Box} inner  the canvas without its margins
 * @returns {Record<string, PlacedAxis>}
 */
export function placeAxes(layout, inner) {
  /** @type {Record<string, PlacedAxis>} */
  const axes = {};
  for (const [key, value] of Object.entries(layout)) {
    if (!/^[xy]axis\d*$/.test(key)) continue;
    const spec = /** @type {Axis} */ (value);
    const id = key.replace("axis", "");
    const vertical = id[0] === "y";
    const [start, end] = spec.domain ?? [0, 1];
    const [from, to] = vertical
      ? [inner.y + inner.height * (1 - start), inner.y + inner.height * (1 - end)]
      : [inner.x + inner.width * start, inner.x + inner.width * end];
    const { range, type } = spec;
    axes[id] = { spec, id, range, vertical, from, to, ...pixelScale(range, type === "log", from, to) };
  }
  for (const [x, y] of subplots(axes)) if (y.spec.scaleanchor) equaliseScales(x, y);
  return axes;
}

/**
 * The pairs of axes that cross each other, one for every vertical axis.
 * @param {Record<string, PlacedAxis>} axes
 * @returns {[PlacedAxis, PlacedAxis][]}
 */
export function subplots(axes) {
  return Object.values(axes)
    .filter((axis) => axis.vertical)
    .map((y) => [axes[y.spec.anchor], y]);
}

/**
 * Widen one of two ranges until a unit has as many pixels on both axes (both linear): circles in a pole map are round.
 * @param {PlacedAxis} x
 * @param {PlacedAxis} y
 */
export function equaliseScales(x, y) {
  const pixelsPerUnit = Math.min(...[x, y].map(({ from, to, range }) => Math.abs(to - from) / (range[1] - range[0])));
  for (const axis of [x, y]) {
    const middle = (axis.range[0] + axis.range[1]) / 2;
    const half = Math.abs(axis.to - axis.from) / pixelsPerUnit / 2;
    axis.range = [middle - half, middle + half];
    Object.assign(axis, pixelScale(axis.range, false, axis.from, axis.to));
  }
}

/**
 * The pixel of a shape's or an annotation's position.
 * @param {Plot} plot
 * @param {number} value
 * @param {string} reference  an axis ("x2"), part of an axis ("x2 domain"), or part of all of them ("paper")
 * @param {"x" | "y"} direction
 */
export function positionOf({ axes, size: { inner } }, value, reference, direction) {
  if (reference === "paper")
    return direction === "x" ? inner.x + inner.width * value : inner.y + inner.height * (1 - value);
  const [id, domain] = reference.split(" ");
  const axis = axes[id];
  return domain ? axis.from + (axis.to - axis.from) * value : axis.toPixel(value);
}
