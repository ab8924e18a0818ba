// Where the parts of the spring's picture are, in pixels: a mass on a rail, held to a wall by a spring and a damper.
// The mass stands at u(t) and is pulled to u*(t).

import { clamp } from "../page/clamp.js";

const COILS = 18;
const COIL_HEIGHT = 9;
export const MASS_SIZE = 52;

/**
 * A series at a time between its frames, by linear interpolation.
 * @param {ArrayLike<number>} series
 * @param {number} time  frames
 */
export function interpolate(series, time) {
  const before = clamp(Math.floor(time), 0, series.length - 1);
  const after = Math.min(before + 1, series.length - 1);
  return series[before] + (series[after] - series[before]) * (time - Math.floor(time));
}

/** @param {number} u */
export function sigmoid(u) {
  return 1 / (1 + Math.exp(-u));
}

/**
 * A stiffer spring is drawn thicker.
 * @param {number} omega_n  rad/frame
 */
export function springThickness(omega_n) {
  return clamp(1 + 1.6 * Math.log10(omega_n / 0.02), 1, 4.5);
}

/**
 * A stronger damper is drawn fuller.
 * @param {number} zeta
 */
export function damperOpacity(zeta) {
  return clamp(0.08 + 0.25 * Math.log10(zeta / 0.05), 0.08, 0.6);
}

/**
 * The zigzag of a spring from `start` to `end` at height `y`, as points.
 * @param {number} start
 * @param {number} end
 * @param {number} y
 * @returns {[number, number][]}
 */
export function coilPoints(start, end, y) {
  /** @type {[number, number][]} */
  const coils = Array.from({ length: COILS }, (_, i) => [
    start + 14 + ((end - start - 28) * (i + 0.5)) / COILS,
    y + (i % 2 ? COIL_HEIGHT : -COIL_HEIGHT),
  ]);
  return [[start, y], [start + 14, y], ...coils, [end - 14, y], [end, y]];
}

/**
 * Places on a canvas of a width and height for u in a range.
 * @param {number} width
 * @param {number} height
 * @param {[number, number]} range
 */
export function springLayout(width, height, [low, high]) {
  const wall = 26;
  const left = Math.max(150, width * 0.2);
  const right = width - 46;
  const rail = height - 42;
  const pot = wall + 40;
  return {
    wall, // right side of the wall
    left, // of the rail's scale
    right,
    rail, // height of the rail
    middle: rail - 46, // height of the mass
    pot, // left end of the damper's cylinder
    potEnd: Math.max(pot + 50, left - 40),
    /** @param {number} u */
    toPixel: (u) => left + ((right - left) * (clamp(u, low, high) - low)) / (high - low),
  };
}
