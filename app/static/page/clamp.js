// A number held within bounds.

/**
 * @param {number} value
 * @param {number} low
 * @param {number} high
 */
export function clamp(value, low, high) {
  return Math.min(high, Math.max(low, value));
}
