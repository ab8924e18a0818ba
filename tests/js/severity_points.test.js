// Severities drawn by hand.
import assert from "node:assert/strict";
import { test } from "node:test";

import { drawStretch, pointAt, severityHeight } from "../../app/static/page/severity_points.js";

test("a place on the canvas is a value's index and a severity from 0 to 5", () => {
  assert.deepEqual(pointAt(0, 1, 60), [0, 0]);
  assert.deepEqual(pointAt(0.999, 0, 60), [59, 5]);
  assert.deepEqual(pointAt(1.2, -1, 60), [59, 5]);
  const [index, severity] = pointAt(0.5, 0.5, 60);
  assert.equal(index, 30);
  assert.ok(Math.abs(severity - 2.5) < 1e-12);
});

test("a severity is drawn where the pointer sets it", () => {
  for (const severity of [0, 1.25, 5]) {
    const [, again] = pointAt(0, severityHeight(severity), 60);
    assert.ok(Math.abs(again - severity) < 1e-12);
  }
});

test("a quick sweep leaves no value out, in either direction", () => {
  const values = [9, 9, 9, 9, 9, 9];
  drawStretch(values, [1, 1], [4, 4]);
  assert.deepEqual(values, [9, 1, 2, 3, 4, 9]);
  drawStretch(values, [4, 0], [2, 2]);
  assert.deepEqual(values, [9, 1, 2, 1, 0, 9]);
  drawStretch(values, [5, 3], [5, 4]);
  assert.equal(values[5], 4);
});
