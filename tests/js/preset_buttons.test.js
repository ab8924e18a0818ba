// Which preset the controls stand at.
import assert from "node:assert/strict";
import { test } from "node:test";

import { matches } from "../../app/static/knobs/preset_buttons.js";

const words = { id: "", label: "", help: "" };
const balanced = { ...words, on: true, zeta: 0.7, omega_n: 0.4 };
const off = { ...words, on: false };

test("a preset matches when the gate is on and both knobs are there; off matches when it is off", () => {
  assert.equal(matches(balanced, { on: true, zeta: 0.7, omega_n: 0.4 }), true);
  assert.equal(matches(balanced, { on: true, zeta: 0.7, omega_n: 0.41 }), false);
  assert.equal(matches(balanced, { on: false, zeta: 0.7, omega_n: 0.4 }), false);
  assert.equal(matches(off, { on: false, zeta: 0.7, omega_n: 0.4 }), true);
  assert.equal(matches(off, { on: true, zeta: 0.7, omega_n: 0.4 }), false);
});
