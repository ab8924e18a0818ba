// Angles and arcs of the knob's face.
import assert from "node:assert/strict";
import { test } from "node:test";

import { arcPath, polar } from "../../app/static/knobs/knob_face.js";

test("angles go clockwise from twelve o'clock around (60, 60)", () => {
  const round = (/** @type {number[]} */ point) => point.map((v) => Math.round(v * 1e9) / 1e9);
  assert.deepEqual(round(polar(0, 10)), [60, 50]);
  assert.deepEqual(round(polar(90, 10)), [70, 60]);
  assert.deepEqual(round(polar(180, 10)), [60, 70]);
  assert.deepEqual(round(polar(-90, 10)), [50, 60]);
});

test("an arc of more than half a circle says so", () => {
  assert.equal(arcPath(0, 90, 50), "M60.00 10.00A50 50 0 0 1 110.00 60.00");
  assert.equal(arcPath(-90, 180, 50), "M10.00 60.00A50 50 0 1 1 60.00 110.00");
});
