// The spring's picture: where the mass is, how thick the spring is, and how its time goes on.
import assert from "node:assert/strict";
import { test } from "node:test";

import { nextTime } from "../../app/static/display/spring_animation.js";
import {
  coilPoints,
  damperOpacity,
  interpolate,
  sigmoid,
  springLayout,
  springThickness,
} from "../../app/static/display/spring_geometry.js";

const close = (/** @type {number} */ a, /** @type {number} */ b) =>
  assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`);

test("between frames the series is a straight line; the last frame holds", () => {
  assert.equal(interpolate([0, 2, 10], 0.5), 1);
  assert.equal(interpolate([0, 2, 10], 1.25), 4);
  assert.equal(interpolate([0, 2, 10], 2), 10);
  assert.equal(interpolate([7], 0), 7);
});

test("u is spread over the rail, and held inside it", () => {
  const at = springLayout(1000, 150, [-2, 2]);
  assert.deepEqual([at.left, at.right, at.rail, at.middle], [200, 954, 108, 62]);
  assert.equal(at.toPixel(-2), 200);
  assert.equal(at.toPixel(0), 577);
  assert.equal(at.toPixel(2), 954);
  assert.equal(at.toPixel(9), 954);
  assert.equal(springLayout(300, 150, [-2, 2]).left, 150); // a narrow canvas keeps room for the damper
});

test("the spring: 18 coils between two straight ends", () => {
  const points = coilPoints(26, 26 + 28 + 180, 40);
  assert.equal(points.length, 22);
  assert.deepEqual(points.slice(0, 4), [
    [26, 40],
    [40, 40],
    [45, 31],
    [55, 49],
  ]);
  assert.deepEqual(points.slice(-3), [
    [215, 49],
    [220, 40],
    [234, 40],
  ]);
});

test("thickness and opacity rise with the logarithm of the knobs", () => {
  close(springThickness(0.02), 1);
  close(springThickness(0.2), 2.6);
  close(springThickness(2), 4.2);
  close(springThickness(30), 4.5);
  close(damperOpacity(0.05), 0.08);
  close(damperOpacity(0.5), 0.33);
  close(damperOpacity(50), 0.6);
  close(sigmoid(0), 0.5);
});

test("time goes on at the stream's frame rate, at 60 at most, and starts again at the end", () => {
  const at = { length: 240, first: 0, live: false, cursor: null };
  close(nextTime(10, at, 500, 10), 15);
  close(nextTime(10, at, 500, 1000), 40);
  close(nextTime(10, at, 1000, 0.1), 11);
  close(nextTime(239, at, 200, 10), 1);
});

test("a live stream stands at its newest frame, the cursor holds the others", () => {
  assert.equal(nextTime(10, { length: 1, first: 57, live: true, cursor: null }, 500, 10), 0);
  assert.equal(nextTime(10, { length: 240, first: 0, live: false, cursor: 100 }, 500, 10), 100);
});
