// What can be picked in a figure.
import assert from "node:assert/strict";
import { test } from "node:test";

import { cellTargets, pixelBox, targetAfterKey, targetAt } from "../../app/static/figures/targets.js";
import { pixelScale } from "../../app/static/plot/axes.js";

/** @import { PlacedAxis } from "../../app/static/plot/figure_types.js" */

const cells = cellTargets({
  ids: ["fog", "snow"],
  names: ["fog", "snow"],
  columns: [1, 3, 5],
  text: ["a", "b", "c", "d", "e", "f"],
});
const axes = /** @type {Record<string, PlacedAxis>} */ (
  /** @type {unknown} */ ({ x: pixelScale([-0.5, 2.5], false, 0, 300), y: pixelScale([-0.5, 1.5], false, 200, 0) })
);

test("cells go row by row from the top; the top row has the highest y", () => {
  assert.deepEqual(
    cells.map((cell) => cell.id),
    ["fog.1", "fog.3", "fog.5", "snow.1", "snow.3", "snow.5"],
  );
  assert.deepEqual(cells[5], {
    id: "snow.5",
    label: "snow 5: f",
    x: [1.5, 2.5],
    y: [-0.42, 0.42],
    row: 1,
    value: "f",
  });
});

test("cells of a dense grid touch: every pixel is in one", () => {
  const dense = cellTargets({
    ids: ["1", "0"],
    names: ["ζ 2, ωₙ", "ζ 1, ωₙ"],
    columns: ["0.1", "0.2", "0.4"],
    text: ["a", "b", "c", "d", "e", "f"],
    dense: true,
  });
  for (let py = 1; py < 200; py++) assert.ok(targetAt(dense, axes, 150, py));
  assert.equal(targetAt(dense, axes, 250, 10)?.label, "ζ 2, ωₙ 0.4: c");
});

test("a target in pixels, and the one at a pixel", () => {
  assert.deepEqual(pixelBox(cells[0], axes).map(Math.round), [0, 8, 100, 84]);
  assert.equal(targetAt(cells, axes, 150, 150)?.id, "snow.3");
  assert.equal(targetAt(cells, axes, 150, 100), null); // between two rows
  assert.equal(targetAt(cells, axes, 400, 50), null);
});

test("arrow keys: along all cells, and to the same place of the next row", () => {
  assert.equal(targetAfterKey(cells, null, "ArrowDown"), "fog.1");
  assert.equal(targetAfterKey(cells, "fog.3", "ArrowRight"), "fog.5");
  assert.equal(targetAfterKey(cells, "fog.5", "ArrowRight"), "snow.1");
  assert.equal(targetAfterKey(cells, "fog.3", "ArrowDown"), "snow.3");
  assert.equal(targetAfterKey(cells, "snow.3", "ArrowUp"), "fog.3");
  assert.equal(targetAfterKey(cells, "snow.3", "ArrowDown"), "snow.3");
  assert.equal(targetAfterKey(cells, "fog.1", "ArrowLeft"), "fog.1");
  assert.equal(targetAfterKey(cells, "fog.1", "a"), null);
});

test("a shorter row is entered at its end", () => {
  const uneven = [...cells.slice(0, 3), cells[3]];
  assert.equal(targetAfterKey(uneven, "fog.5", "ArrowDown"), "snow.1");
});
