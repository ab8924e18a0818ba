// Colours of figures are names from the palette (knob_core/palette.py), so that one figure serves both themes.

/** @import { Palette } from "../messages.js" */

/**
 * A colour "#rrggbb" with an opacity, as CSS.
 * @param {string} hex
 * @param {string} alpha
 */
export function withOpacity(hex, alpha) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  return `rgba(${r},${g},${b},${alpha})`;
}

/**
 * "gate" or "gate/0.2" as CSS.
 * @param {Palette} palette
 * @param {string} name
 */
export function paletteColour(palette, name) {
  const [base, alpha] = name.split("/");
  const hex = palette[base];
  return alpha ? withOpacity(hex, alpha) : hex;
}
