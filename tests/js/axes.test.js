// Where axes lie and which pixel a value has.
import assert from "node:assert/strict";
import { test } from "node:test";

import { pixelScale, placeAxes, positionOf, subplots } from "../../app/static/plot/axes.js";

/** @import { Layout, Plot } from "../../app/static/plot/figure_types.js" */

const inner = { x: 50, y: 10, width: 400, height: 200 };
const margin = { l: 50, r: 10, t: 10, b: 30 };

test("a linear scale and its inverse", () => {
  const { toPixel, toValue } = pixelScale([-1, 3], false, 100, 500);
  assert.equal(toPixel(-1), 100);
  assert.equal(toPixel(0), 200);
  assert.equal(toPixel(3), 500);
  assert.equal(toValue(300), 1);
});

test("a logarithmic scale takes exponents as its range", () => {
  const { toPixel, toValue } = pixelScale([-2, 2], true, 0, 400);
  assert.equal(toPixel(0.01), 0);
  assert.equal(toPixel(1), 200);
  assert.equal(toPixel(10), 300);
  assert.equal(toValue(300), 10);
  assert.equal(toPixel(0), -Infinity);
});

test("domains are parts of the inner box; vertical ones count from below", () => {
  /** @type {Layout} */
  const layout = {
    margin,
    xaxis: { range: [0, 10], anchor: "y2", domain: [0, 0.5] },
    yaxis: { range: [0, 1], anchor: "x", domain: [0.5, 1] },
    yaxis2: { range: [0, 1], anchor: "x", domain: [0, 0.25] },
  };
  const axes = placeAxes(layout, inner);
  assert.deepEqual([axes.x.from, axes.x.to], [50, 250]);
  assert.deepEqual([axes.y.from, axes.y.to], [110, 10]);
  assert.deepEqual([axes.y2.from, axes.y2.to], [210, 160]);
  assert.equal(axes.x.toPixel(5), 150);
  assert.equal(axes.y2.toPixel(1), 160);
  assert.deepEqual(
    subplots(axes).map(([x, y]) => [x.id, y.id]),
    [
      ["x", "y"],
      ["x", "y2"],
    ],
  );
});

test("equal scales: the wider axis is widened around its middle until a unit has as many pixels on both", () => {
  const axes = placeAxes(
    { margin, xaxis: { range: [-1, 1], anchor: "y" }, yaxis: { range: [-1, 1], anchor: "x", scaleanchor: "x" } },
    inner,
  );
  assert.deepEqual(axes.x.range, [-2, 2]); // 400 pixels at 100 a unit
  assert.deepEqual(axes.y.range, [-1, 1]); // 200 pixels at 100 a unit
  assert.equal(axes.x.toPixel(1) - axes.x.toPixel(0), axes.y.toPixel(0) - axes.y.toPixel(1));
});

test("positions in data, as a part of an axis, and as a part of the paper", () => {
  const axes = placeAxes(
    { margin, xaxis: { range: [0, 10], anchor: "y" }, yaxis: { range: [0, 1], anchor: "x", domain: [0, 0.5] } },
    inner,
  );
  const plot = /** @type {Plot} */ ({ axes, size: { width: 460, height: 240, inner } });
  assert.equal(positionOf(plot, 5, "x", "x"), 250);
  assert.equal(positionOf(plot, 0.25, "x domain", "x"), 150);
  assert.equal(positionOf(plot, 1, "y domain", "y"), 110);
  assert.equal(positionOf(plot, 1, "paper", "y"), 10);
  assert.equal(positionOf(plot, 0.5, "paper", "x"), 250);
});
