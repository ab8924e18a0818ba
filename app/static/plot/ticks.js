// Where an axis has its tick marks, and what is written at them.

/** @import { PlacedAxis } from "./figure_types.js" */

const PIXELS_PER_TICK = { horizontal: 80, vertical: 32 };
const DECADES_WITH_ALL_LABELS = 2.2; // on a longer logarithmic axis only the powers of ten are labelled

/**
 * The distance between ticks: 1, 2 or 5 times a power of ten, so that there are about `count` of them.
 * @param {number} span
 * @param {number} count
 */
export function niceStep(span, count) {
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * ([1, 2, 5].find((m) => m * power >= rough * 0.999) ?? 10);
}

/**
 * A number at a tick: four digits at most, with a real minus sign.
 * @param {number} value
 */
export function formatTick(value) {
  return String(+value.toPrecision(4)).replace("-", "\u2212");
}

/**
 * [value, text] of every tick; a text may be empty.
 * @param {Pick<PlacedAxis, "spec" | "range" | "vertical">} axis
 * @param {number} pixels  length of the axis
 * @returns {[number, string][]}
 */
export function tickMarks(axis, pixels) {
  const { tickvals, ticktext, type } = axis.spec;
  if (tickvals) return tickvals.map((value, i) => [value, ticktext ? ticktext[i] : formatTick(value)]);
  const [low, high] = axis.range;
  return type === "log" ? logTicks(low, high) : linearTicks(low, high, pixels, axis.vertical);
}

/**
 * Ticks at 1, 2 and 5 times every power of ten.
 * @param {number} low  exponent of ten
 * @param {number} high
 * @returns {[number, string][]}
 */
function logTicks(low, high) {
  /** @type {[number, string][]} */
  const ticks = [];
  for (let exponent = Math.floor(low); exponent <= Math.ceil(high); exponent++)
    for (const m of [1, 2, 5]) {
      const value = m * 10 ** exponent;
      if (Math.log10(value) < low - 1e-9 || Math.log10(value) > high + 1e-9) continue;
      ticks.push([value, m === 1 || high - low < DECADES_WITH_ALL_LABELS ? formatTick(value) : ""]);
    }
  return ticks;
}

/**
 * Ticks at whole multiples of a nice step.
 * @param {number} low
 * @param {number} high
 * @param {number} pixels
 * @param {boolean} vertical
 * @returns {[number, string][]}
 */
function linearTicks(low, high, pixels, vertical) {
  const step = niceStep(high - low, pixels / (vertical ? PIXELS_PER_TICK.vertical : PIXELS_PER_TICK.horizontal));
  /** @type {[number, string][]} */
  const ticks = [];
  for (let sum = Math.ceil(low / step - 1e-9) * step; sum <= high + 1e-9 * step; sum += step) {
    const value = Math.abs(sum) < 1e-9 ? 0 : sum; // a sum of steps may miss zero by a rounding error
    ticks.push([value, formatTick(value)]);
  }
  return ticks;
}
