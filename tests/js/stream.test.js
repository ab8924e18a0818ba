// Film strip, cursor and the cache of fixed streams.
import assert from "node:assert/strict";
import { test } from "node:test";

import { spritePosition } from "../../app/static/page/sprite.js";
import { describeAnswer, nearest } from "../../app/static/display/film_strip.js";
import { answerAt, stepFrame, valuesAt } from "../../app/static/display/scope_cursor.js";
import { backgroundOf, keepBackground, onBackground } from "../../app/static/stream_background.js";
import { pack } from "./packed.js";

/** @import { StreamBackground } from "../../app/static/messages.js" */
/** @import { Figure } from "../../app/static/plot/figure_types.js" */

const animals = { truth: 1, classes: ["automobile", "horse"], short: ["car", "horse"] };

test("the picture nearest to a frame; the first of two equally near", () => {
  assert.equal(nearest([5, 15, 25], 0), 0);
  assert.equal(nearest([5, 15, 25], 10), 0);
  assert.equal(nearest([5, 15, 25], 11), 1);
  assert.equal(nearest([5, 15, 25], 900), 2);
});

test("a cell: right, wrong, not arrived, truth unknown", () => {
  assert.deepEqual(describeAnswer(animals, 12, 1, 0.876), {
    className: "cell",
    text: "horse",
    title: "frame 12: true horse, seen as horse (88 % sure)",
  });
  assert.deepEqual(describeAnswer(animals, 12, 0, 0.5), {
    className: "cell wrong",
    text: "✕ car",
    title: "frame 12: true horse, seen as automobile (50 % sure)",
  });
  assert.deepEqual(describeAnswer(animals, 12, null, 0), { className: "cell ahead", text: "", title: "frame 12" });
  const unknown = describeAnswer({ ...animals, truth: -1 }, 12, 0, 0.5);
  assert.equal(unknown.className, "cell");
  assert.equal(unknown.title, "frame 12: true unknown, seen as automobile (50 % sure)");
});

test("a sprite's cells, row by row", () => {
  assert.equal(spritePosition(0, 10, 3), "0% 0%");
  assert.equal(spritePosition(9, 10, 3), "100% 0%");
  assert.equal(spritePosition(10, 10, 3), "0% 50%");
  assert.equal(spritePosition(3, 7, 1), "50% 0%");
  assert.equal(spritePosition(0, 1, 1), "0% 0%");
});

test("the cursor starts in the middle and stays inside", () => {
  assert.equal(stepFrame(null, 1, [-0.5, 239.5]), 121);
  assert.equal(stepFrame(100, -10, [-0.5, 239.5]), 90);
  assert.equal(stepFrame(239, 1, [-0.5, 239.5]), 239);
  assert.equal(stepFrame(0, -1, [-0.5, 239.5]), 0);
});

test("the cursor tells the traces that have `hover`, where they have a number", () => {
  const line = /** @type {const} */ ({ type: "scatter", mode: "lines", dx: 1, line: { color: "gate" } });
  const figure = /** @type {Figure} */ ({
    data: [
      { ...line, name: "severity", hover: true, x0: 0, y: pack([1, 2, 3]) },
      { ...line, name: "gate", hover: true, x0: 1, y: pack([0.25, NaN]) },
      { ...line, name: "band", x0: 0, y: pack([9, 9, 9]) },
    ],
  });
  assert.deepEqual(valuesAt(figure, 1), ["severity 2.00", "gate 0.25"]);
  assert.deepEqual(valuesAt(figure, 2), ["severity 3.00"]);
});

test("the cursor tells every ribbon's class, crossed where it is wrong", () => {
  const ribbon = (/** @type {string} */ name, /** @type {number[]} */ classes) => ({
    type: "ribbon",
    name,
    y0: 0,
    z: pack(classes, "i2"),
  });
  const figure = /** @type {Figure} */ ({
    data: [ribbon("truth", [1, 1, 0]), ribbon("without Knob", [0, 1, 0]), ribbon("now", [1, 0, -1])],
  });
  const known = { truth: pack([1, 1, 0], "i2"), short: animals.short };
  const words = ["true horse", "without Knob ✕ car", "now horse"];
  assert.deepEqual(answerAt(known, figure, 0), { wrong: false, words });
  assert.deepEqual(answerAt(known, figure, 1), {
    wrong: true,
    words: ["true horse", "without Knob horse", "now ✕ car"],
  });
  assert.deepEqual(answerAt(known, figure, 2).words, ["true car", "without Knob car"]); // nothing has arrived
  const unknown = { truth: pack([-1, -1, -1], "i2"), short: animals.short };
  assert.deepEqual(answerAt(unknown, figure, 1), { wrong: false, words: ["without Knob horse", "now car"] });
});

test("three streams are kept: the ones that came last", () => {
  let heard = 0;
  onBackground(() => (heard += 1));
  for (const id of ["a", "b", "c", "a", "d"]) keepBackground(/** @type {StreamBackground} */ ({ id }));
  assert.equal(heard, 5);
  assert.deepEqual(
    ["a", "b", "c", "d"].map((id) => backgroundOf(id)?.id),
    ["a", undefined, "c", "d"],
  );
});
