// What can be picked in a figure: rectangles in data coordinates, by pointer or by arrow keys.

/** @import { CellGrid, Target } from "../messages.js" */
/** @import { PlacedAxis } from "../plot/figure_types.js" */

const HALF_HEIGHT = 0.42; // of a heat map's cell; rows are 1 apart

/**
 * The cells of a heat map as targets, row by row from the top; `value` is what is written in the cell.
 * @param {CellGrid} grid
 * @returns {(Target & { value: string })[]}
 */
export function cellTargets({ ids, names, columns, text, dense }) {
  const half = dense ? 0.5 : HALF_HEIGHT;
  return ids.flatMap((id, row) =>
    columns.map((column, x) => {
      const y = ids.length - 1 - row;
      const value = text[row * columns.length + x];
      return {
        id: `${id}.${column}`,
        label: `${names[row]} ${column}: ${value}`,
        x: [x - 0.5, x + 0.5],
        y: [y - half, y + half],
        row,
        value,
      };
    }),
  );
}

/**
 * A target in pixels: [left, top, width, height].
 * @param {Target} target
 * @param {Record<string, PlacedAxis>} axes
 * @returns {[number, number, number, number]}
 */
export function pixelBox(target, { x, y }) {
  const [x0, x1] = target.x.map(x.toPixel);
  const [y0, y1] = target.y.map(y.toPixel);
  return [Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0)];
}

/**
 * The target at a pixel, or null.
 * @param {Target[]} targets
 * @param {Record<string, PlacedAxis>} axes
 * @param {number} px
 * @param {number} py
 */
export function targetAt(targets, axes, px, py) {
  const found = targets.find((target) => {
    const [x, y, width, height] = pixelBox(target, axes);
    return px >= x && px < x + width && py >= y && py < y + height;
  });
  return found ?? null;
}

/**
 * The target that an arrow key goes to: left and right within all targets, up and down to the same place of the next
 * row. The first one where none is pointed at; null where the key is no arrow.
 * @param {Target[]} targets  row by row, at least one
 * @param {string | null} id  of the one that is pointed at
 * @param {string} key
 * @returns {string | null}
 */
export function targetAfterKey(targets, id, key) {
  const across = { ArrowRight: 1, ArrowLeft: -1 }[key] ?? 0;
  const down = { ArrowDown: 1, ArrowUp: -1 }[key] ?? 0;
  if (!across && !down) return null;
  const here = targets.findIndex((target) => target.id === id);
  if (here < 0) return targets[0].id;
  let next = here + across;
  if (down) {
    const { row } = targets[here];
    const place = here - targets.findIndex((target) => target.row === row);
    const others = targets.filter((target) => target.row === row + down);
    next = others.length ? targets.indexOf(others[Math.min(place, others.length - 1)]) : here;
  }
  return targets[Math.min(targets.length - 1, Math.max(0, next))].id;
}
