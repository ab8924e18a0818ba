// Lines and areas: where they go, and where they break.
import assert from "node:assert/strict";
import { test } from "node:test";

import { pixelScale } from "../../app/static/plot/axes.js";
import { addLine, fillBetween, pointsOf } from "../../app/static/plot/scatter.js";
import { pack } from "./packed.js";

/** @import { PlacedAxis, ScatterTrace } from "../../app/static/plot/figure_types.js" */

/** A context that writes down what it is told. */
function recorder() {
  /** @type {string[]} */
  const log = [];
  return {
    log,
    moveTo: (/** @type {number} */ x, /** @type {number} */ y) => void log.push(`M${x},${y}`),
    lineTo: (/** @type {number} */ x, /** @type {number} */ y) => void log.push(`L${x},${y}`),
    beginPath: () => void log.push("begin"),
    fill: () => void log.push("fill"),
  };
}

const x = /** @type {PlacedAxis} */ (/** @type {unknown} */ (pixelScale([0, 10], false, 0, 100)));
const y = /** @type {PlacedAxis} */ (/** @type {unknown} */ (pixelScale([0, 1], false, 50, 0)));
const trace = /** @type {ScatterTrace} */ ({ type: "scatter", mode: "lines", line: { color: "gate" } });

test("points in pixels: x0 + dx i, or x of its own; missing numbers stay missing", () => {
  assert.deepEqual([...pointsOf({ ...trace, y: pack([0, 0.5, 1]), x0: 2, dx: 1 }, x, y)], [20, 50, 30, 25, 40, 0]);
  assert.deepEqual([...pointsOf({ ...trace, y: pack([1, NaN]), x: pack([0, 10]) }, x, y)], [0, 0, 100, NaN]);
});

test("a line breaks where a point is missing", () => {
  const c = recorder();
  addLine(c, Float64Array.of(0, 1, 10, 2, 20, NaN, 30, 4, 40, 5), false);
  assert.deepEqual(c.log, ["M0,1", "L10,2", "M30,4", "L40,5"]);
});

test("steps go level first, then up or down", () => {
  const c = recorder();
  addLine(c, Float64Array.of(0, 1, 10, 2, 20, 2), true);
  assert.deepEqual(c.log, ["M0,1", "L10,1", "L10,2", "L20,2", "L20,2"]);
});

test("an area goes along the one line and back along the other, stretch by stretch", () => {
  const c = recorder();
  const upper = Float64Array.of(0, 1, 10, 2, 20, NaN, 30, 4);
  const lower = Float64Array.of(0, 5, 10, 6, 20, 7, 30, 8);
  fillBetween(c, upper, lower);
  assert.deepEqual(c.log, ["begin", "L0,1", "L10,2", "L10,6", "L0,5", "fill", "begin", "L30,4", "L30,8", "fill"]);
});

test("an area without a known point draws nothing", () => {
  const c = recorder();
  fillBetween(c, Float64Array.of(0, NaN, 10, NaN), Float64Array.of(0, 1, 10, 2));
  assert.deepEqual(c.log, ["begin", "fill"]);
});
