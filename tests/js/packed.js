// Pack numbers for tests as app/figures/packed.py packs them.

/** @import { PackedNumbers } from "../../app/static/plot/figure_types.js" */

/**
 * @param {number[]} values
 * @param {"f4" | "i2"} [dtype]
 * @returns {PackedNumbers}
 */
export function pack(values, dtype = "f4") {
  const array = dtype === "f4" ? Float32Array.from(values) : Int16Array.from(values);
  return { dtype, bdata: Buffer.from(array.buffer).toString("base64") };
}
