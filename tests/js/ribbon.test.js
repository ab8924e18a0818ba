// The ribbon of classes: stretches of one colour, with names where there is room.
import assert from "node:assert/strict";
import { test } from "node:test";

import { drawRibbon, stretches } from "../../app/static/plot/ribbon.js";
import { pixelScale } from "../../app/static/plot/axes.js";
import { fakeContext } from "./fake_canvas.js";
import { pack } from "./packed.js";

/** @import { PlacedAxis, Plot } from "../../app/static/plot/figure_types.js" */

/**
 * Draw a ribbon between 0 and 100 pixels, in a row that is 12 pixels high.
 * @param {number[]} classes
 * @param {[number, number]} range
 */
function draw(classes, range) {
  const { context, log } = fakeContext();
  const axis = (/** @type {[number, number]} */ span, /** @type {number} */ from, /** @type {number} */ to) =>
    /** @type {PlacedAxis} */ ({ range: span, from, to, ...pixelScale(span, false, from, to) });
  const plot = /** @type {Plot} */ ({ context, classes: ["cat", "dog"], font: "x", colour: (name) => name });
  const trace = /** @type {const} */ ({ type: "ribbon", z: pack(classes, "i2"), y0: 0, name: "now" });
  drawRibbon(plot, trace, axis(range, 0, 100), axis([-0.5, 0.5], 12, 0));
  return log;
}

test("equal neighbours are one stretch, and what has not arrived is none", () => {
  assert.deepEqual(stretches([2, 2, 2, 0, -1, -1, 0]), [
    [2, 0, 3],
    [0, 3, 4],
    [0, 6, 7],
  ]);
  assert.deepEqual(stretches([]), []);
});

test("every stretch has its class's colour and its name where it is wide enough", () => {
  const log = draw([0, 0, 0, 0, 1, 0, 0, 0, 0, 0], [-0.5, 9.5]);
  const drawn = log.filter(([name]) => name === "fillRect").map(([, x, , width]) => [x, width]);
  assert.deepEqual(drawn, [
    [0, 40],
    [40, 10],
    [50, 50],
  ]);
  const colours = log.filter(([name]) => name === "set fillStyle").map(([, value]) => value);
  assert.deepEqual(colours, ["class0", "onclass0", "class1", "class0", "onclass0"]);
  assert.deepEqual(
    log.filter(([name]) => name === "fillText").map(([, text]) => text),
    ["cat", "cat"],
  );
});

test("a zoomed part begins at its edge, and an eleventh class takes the first one's colour", () => {
  const log = draw([10, 10, 10, 10, 1, 1, 1, 1, 1, 1], [1.5, 3.5]);
  assert.deepEqual(
    log.filter(([name]) => name === "fillRect").map(([, x, , width]) => [x, width]),
    [[0, 100]],
  );
  assert.equal(log.find(([name]) => name === "set fillStyle")?.[1], "class0");
});
