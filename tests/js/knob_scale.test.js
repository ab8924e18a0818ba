// The knob's logarithmic scale, its key steps and what may be typed.
import assert from "node:assert/strict";
import { test } from "node:test";

import { dragFraction, keyFraction, KnobScale, roundValue, wheelFraction } from "../../app/static/knobs/knob_scale.js";

const close = (/** @type {number} */ a, /** @type {number} */ b) =>
  assert.ok(Math.abs(a - b) < 1e-12, `${a} is not ${b}`);
const decades = new KnobScale(0.01, 100); // four decades

test("equal turns are equal ratios", () => {
  close(decades.fraction(0.01), 0);
  close(decades.fraction(0.1), 0.25);
  close(decades.fraction(1), 0.5);
  close(decades.fraction(100), 1);
  close(decades.valueAt(0.75), 10);
});

test("the pointer goes from -135 to 135 degrees, and stands upright in the middle", () => {
  close(decades.degrees(0.01), -135);
  close(decades.degrees(1), 0);
  close(decades.degrees(100), 135);
});

test("fractions beyond the ends are the ends", () => {
  close(decades.valueAt(-0.3), 0.01);
  close(decades.valueAt(1.3), 100);
});

test("values and fractions are inverse to each other on the console's knobs", () => {
  for (const [low, high] of [
    [0.05, 3],
    [0.02, 3],
  ]) {
    const scale = new KnobScale(low, high);
    for (const value of [low, 0.07, 0.4, 0.7, 1, high]) close(scale.valueAt(scale.fraction(value)), value);
  }
});

test("a knob that begins at 0 has fine, even steps there, and ratios far above", () => {
  const damping = new KnobScale(0, 3, 0.05);
  close(damping.fraction(0), 0);
  close(damping.fraction(3), 1);
  for (const value of [0, 0.003, 0.05, 0.7, 3]) close(damping.valueAt(damping.fraction(value)), value);
  const step = (/** @type {number} */ value) => damping.valueAt(damping.fraction(value) + 0.02) - value;
  assert.ok(step(0) < 0.005, `${step(0)} from 0`);
  assert.ok(Math.abs(step(0.01) / step(0) - 1) < 0.05, "even near 0");
  assert.ok(Math.abs(step(2) / step(1) - 2) < 0.01, "ratios above");
  assert.ok(damping.allowed(damping.valueAt(0.002)) > 0, "the finest step from 0 is not rounded away");
  assert.equal(damping.parse("0"), 0);
});

test("three digits, and four decimals at most", () => {
  assert.equal(roundValue(0.70001), 0.7);
  assert.equal(roundValue(0.045678), 0.0457);
  assert.equal(roundValue(2.1549), 2.15);
  assert.equal(roundValue(0.012345), 0.0123);
  assert.equal(decades.allowed(1234), 100);
  assert.equal(decades.allowed(0.001), 0.01);
});

test("keys: 2 %, with Shift 0.2 %, Page 10 %, Home and End", () => {
  close(keyFraction(0.5, "ArrowUp", false) ?? NaN, 0.52);
  close(keyFraction(0.5, "ArrowRight", false) ?? NaN, 0.52);
  close(keyFraction(0.5, "ArrowDown", false) ?? NaN, 0.48);
  close(keyFraction(0.5, "ArrowLeft", true) ?? NaN, 0.498);
  close(keyFraction(0.5, "PageUp", false) ?? NaN, 0.6);
  close(keyFraction(0.5, "PageDown", true) ?? NaN, 0.4);
  assert.equal(keyFraction(0.5, "Home", false), 0);
  assert.equal(keyFraction(0.5, "End", false), 1);
  assert.equal(keyFraction(0.5, "a", false), null);
});

test("a drag of 220 pixels up or right is the whole turn, with Shift a tenth of it", () => {
  close(dragFraction(0, 220, false), 1);
  close(dragFraction(220, 0, false), 1);
  close(dragFraction(-55, -55, false), -0.5);
  close(dragFraction(110, 110, true), 0.1);
});

test("the wheel turns up when it rolls up", () => {
  close(wheelFraction(0.5, -120, false), 0.52);
  close(wheelFraction(0.5, 3, true), 0.498);
  close(wheelFraction(0.5, 0, false), 0.5);
});

test("typed numbers: a comma is a point, and what is outside the range is refused", () => {
  const scale = new KnobScale(0.05, 3);
  assert.equal(scale.parse("1,25"), 1.25);
  assert.equal(scale.parse(" 0.05 "), 0.05);
  for (const text of ["", "  ", "abc", "99", "0.01", "-1", "Infinity", "NaN"])
    assert.equal(scale.parse(text), null, text);
});
