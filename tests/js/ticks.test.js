// Tick marks of linear and logarithmic axes.
import assert from "node:assert/strict";
import { test } from "node:test";

import { formatTick, niceStep, tickMarks } from "../../app/static/plot/ticks.js";

/** @import { Axis } from "../../app/static/plot/figure_types.js" */

/** @param {Partial<Axis> & { range: [number, number] }} spec @param {number} pixels @param {boolean} [vertical] */
const marks = (spec, pixels, vertical = false) =>
  tickMarks({ spec: { anchor: "y", ...spec }, range: spec.range, vertical }, pixels);

test("steps are 1, 2 or 5 times a power of ten, and not smaller than asked for", () => {
  assert.equal(niceStep(10, 10), 1);
  assert.equal(niceStep(10, 7), 2);
  assert.equal(niceStep(240, 8), 50);
  assert.equal(niceStep(1, 10), 0.1);
  assert.equal(niceStep(9, 1), 10);
});

test("numbers have four digits at most and a real minus sign", () => {
  assert.equal(formatTick(0.30000000000000004), "0.3");
  assert.equal(formatTick(-0.5), "\u22120.5");
  assert.equal(formatTick(12345.6), "12350");
});

test("a linear axis has a tick about every 80 pixels, upright every 32", () => {
  assert.deepEqual(marks({ range: [0, 240] }, 640), [
    [0, "0"],
    [50, "50"],
    [100, "100"],
    [150, "150"],
    [200, "200"],
  ]);
  assert.deepEqual(
    marks({ range: [-1, 1] }, 128, true).map(([, text]) => text),
    ["\u22121", "\u22120.5", "0", "0.5", "1"],
  );
});

test("ticks begin inside the range", () => {
  assert.deepEqual(
    marks({ range: [-0.5, 239.5] }, 800).map(([value]) => value),
    [0, 50, 100, 150, 200],
  );
});

test("a logarithmic axis has ticks at 1, 2 and 5; all are labelled on up to 2.2 decades", () => {
  assert.deepEqual(
    marks({ type: "log", range: [-1, 1] }, 300).map(([, text]) => text),
    ["0.1", "0.2", "0.5", "1", "2", "5", "10"],
  );
  assert.deepEqual(
    marks({ type: "log", range: [-2, 1] }, 300).map(([, text]) => text),
    ["0.01", "", "", "0.1", "", "", "1", "", "", "10"],
  );
});

test("ticks that Python gives are taken as they are, with their texts or numbers", () => {
  assert.deepEqual(marks({ range: [0, 5], tickvals: [0, 2.5] }, 300), [
    [0, "0"],
    [2.5, "2.5"],
  ]);
  assert.deepEqual(marks({ range: [0, 5], tickvals: [0, 1], ticktext: ["raw", "now"] }, 300), [
    [0, "raw"],
    [1, "now"],
  ]);
});
