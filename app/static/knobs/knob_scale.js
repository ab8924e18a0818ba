// The scale of a rotary knob. It is logarithmic: equal turns are equal ratios.
//   fraction = log(value / low) / log(high / low),   angle = -135 + 270 fraction degrees from twelve o'clock
// A knob that begins at 0 has even steps there, and ratios above a given value e:
//   fraction = (asinh(value / e) - asinh(low / e)) / (asinh(high / e) - asinh(low / e))

import { clamp } from "../page/clamp.js";

const START = -135; // degrees from twelve o'clock
const SWEEP = 270;
const FULL_TURN_PX = 220; // a drag of this length goes from one end to the other
const STEP = 0.02; // of the whole turn: arrow keys and the wheel
const PAGE = 0.1; // Page Up and Page Down
const FINE = 0.1; // with Shift a drag or step is this much of itself

/**
 * Three significant digits at most, and no more than four decimals: 0.7, 0.0457, 2.15.
 * @param {number} value
 */
export function roundValue(value) {
  return +(+value.toPrecision(3)).toFixed(4);
}

/** Values from `low` to `high`, fractions of the turn from 0 to 1. */
export class KnobScale {
  /**
   * @param {number} low
   * @param {number} high
   * @param {number} [evenBelow]  steps are even below this value; 0: nowhere, and low is not 0
   */
  constructor(low, high, evenBelow = 0) {
    this.low = low;
    this.high = high;
    this.curve = evenBelow ? (/** @type {number} */ v) => Math.asinh(v / evenBelow) : Math.log;
    this.inverse = evenBelow ? (/** @type {number} */ c) => evenBelow * Math.sinh(c) : Math.exp;
  }

  /**
   * How far the knob is turned at a value.
   * @param {number} value
   */
  fraction(value) {
    const { curve, low, high } = this;
    return (curve(value) - curve(low)) / (curve(high) - curve(low));
  }

  /**
   * The pointer's angle at a value, clockwise from twelve o'clock.
   * @param {number} value
   */
  degrees(value) {
    return START + SWEEP * this.fraction(value);
  }

  /**
   * The value at a fraction of the turn; beyond the ends it is the end.
   * @param {number} fraction
   */
  valueAt(fraction) {
    const { curve, inverse, low, high } = this;
    return inverse(curve(low) + clamp(fraction, 0, 1) * (curve(high) - curve(low)));
  }

  /**
   * The nearest value that the knob can have.
   * @param {number} value
   */
  allowed(value) {
    return roundValue(clamp(value, this.low, this.high));
  }

  /**
   * A typed number, with a decimal point or comma; null where it is none or outside the range.
   * @param {string} text
   */
  parse(text) {
    const value = Number(text.replace(",", "."));
    const fits = text.trim() !== "" && Number.isFinite(value) && value >= this.low && value <= this.high;
    return fits ? value : null;
  }
}

/**
 * The part of the turn that a pointer's travel makes: up and right are forward.
 * @param {number} right  pixels
 * @param {number} up  pixels
 * @param {boolean} fine
 */
export function dragFraction(right, up, fine) {
  return (up + right) / (FULL_TURN_PX / (fine ? FINE : 1));
}

/**
 * The fraction after one notch of the wheel.
 * @param {number} fraction
 * @param {number} deltaY  the wheel event's; rolling down is positive and turns back
 * @param {boolean} fine
 */
export function wheelFraction(fraction, deltaY, fine) {
  return fraction - Math.sign(deltaY) * (fine ? STEP * FINE : STEP);
}

/**
 * The fraction after a key, or null where the key does nothing.
 * @param {number} fraction
 * @param {string} key
 * @param {boolean} fine
 * @returns {number | null}
 */
export function keyFraction(fraction, key, fine) {
  const step = fine ? STEP * FINE : STEP;
  switch (key) {
    case "ArrowUp":
    case "ArrowRight":
      return fraction + step;
    case "ArrowDown":
    case "ArrowLeft":
      return fraction - step;
    case "PageUp":
      return fraction + PAGE;
    case "PageDown":
      return fraction - PAGE;
    case "Home":
      return 0;
    case "End":
      return 1;
    default:
      return null;
  }
}
