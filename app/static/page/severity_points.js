// Severities drawn by hand: from a place on the canvas to a severity and back.
import { clamp } from "./clamp.js";

export const MOST = 5; // severity
const [ABOVE, SHOWN] = [1.04, 1.08]; // the canvas shows 4 % of MOST above it and as much below 0

/**
 * How far down the canvas a severity is, as a part of its height.
 * @param {number} severity
 */
export function severityHeight(severity) {
  return (ABOVE - severity / MOST) / SHOWN;
}

/**
 * Which value a pointer is at, and what it sets it to: [index, severity].
 * @param {number} right  part of the canvas's width
 * @param {number} down  part of its height
 * @param {number} count  of values
 * @returns {[number, number]}
 */
export function pointAt(right, down, count) {
  return [clamp(Math.floor(right * count), 0, count - 1), clamp(MOST * (ABOVE - SHOWN * down), 0, MOST)];
}

/**
 * Set the values between two points to the straight line between them.
 * @param {number[]} values
 * @param {[number, number]} from  [index, value]
 * @param {[number, number]} to
 */
export function drawStretch(values, [i0, v0], [i1, v1]) {
  const steps = Math.max(1, Math.abs(i1 - i0));
  for (let k = 0; k <= steps; k++) values[Math.round(i0 + ((i1 - i0) * k) / steps)] = v0 + ((v1 - v0) * k) / steps;
}
