// What a turn of a knob changes of the controls' values.
import assert from "node:assert/strict";
import { test } from "node:test";

import { writeTurn } from "../../app/static/knobs/knob.js";

/** @import { Controls } from "../../app/static/messages.js" */

const off = () => /** @type {Controls} */ ({ zeta: 1, on: false, seq: 0, epoch: 0, released: true });

test("a click on a dial that turns nothing leaves Knob off", () => {
  const values = off();
  writeTurn(values, "zeta", 1, "start");
  assert.equal(values.released, false);
  writeTurn(values, "zeta", 1, "end");
  assert.deepEqual(values, { zeta: 1, on: false, seq: 0, epoch: 0, released: true });
});

test("a drag, a key and a double click switch it on", () => {
  const dragged = off();
  writeTurn(dragged, "zeta", 1, "start");
  writeTurn(dragged, "zeta", 2, "move");
  assert.deepEqual(dragged, { zeta: 2, on: true, seq: 0, epoch: 0, released: false });
  writeTurn(dragged, "zeta", 2, "end");
  assert.deepEqual(dragged, { zeta: 2, on: true, seq: 0, epoch: 0, released: true });
  const pressed = off();
  writeTurn(pressed, "zeta", 1, "jump"); // also home, where it is already
  assert.deepEqual(pressed, { zeta: 1, on: true, seq: 0, epoch: 0, released: true });
});
