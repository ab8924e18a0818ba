// What a turn of a knob changes of the controls' values.

/** @import { Controls } from "../messages.js" */
/** @import { Phase } from "./knob.js" */

/**
 * Write a knob's value. At the start of a turn `turn` is counted: Python then keeps the read-outs as "before". A turn
 * switches Knob on; a click on a dial, which turns nothing, does not.
 * @param {Controls} values
 * @param {string} id  of the knob
 * @param {number} value
 * @param {Exclude<Phase, "refused">} phase
 */
export function writeTurn(values, id, value, phase) {
  if (phase === "start" || phase === "jump") values.turn += 1;
  if (phase === "start") {
    values.released = false;
    return;
  }
  const moved = values[id] !== value;
  values[id] = value;
  if (phase !== "end" || moved) values.on = true;
  values.released = phase !== "move";
}
