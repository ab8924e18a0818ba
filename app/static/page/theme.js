// Stylesheets and colours of our components: colours come from one table (knob_core/palette.py), fonts and background
// from Streamlit's theme.

/** @import { Palette, Palettes } from "../messages.js" */

/**
 * Load a stylesheet into a shadow root; resolves when it is there (or could not be loaded).
 * @param {ParentNode} root
 * @param {string} base  address of app/static/
 * @param {string} file
 * @returns {Promise<void>}
 */
export function loadStylesheet(root, base, file) {
  return new Promise((done) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = base + file;
    link.onload = link.onerror = () => done();
    root.appendChild(link);
  });
}

/**
 * Whether a colour "#rrggbb" is nearer to black than to white, by its luma 0.299 R + 0.587 G + 0.114 B.
 * @param {string} hex
 */
export function isDark(hex) {
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  return 0.299 * r + 0.587 * g + 0.114 * b < 128;
}

/** @type {CanvasRenderingContext2D | null} a canvas writes any CSS colour as #rrggbb */
let converter = null;

/**
 * The theme's name, by the page's background.
 * @param {Element} el
 * @returns {"light" | "dark"}
 */
function themeOf(el) {
  const colour = getComputedStyle(el).getPropertyValue("--st-background-color").trim();
  converter ??= document.createElement("canvas").getContext("2d");
  if (!converter) return "light";
  converter.fillStyle = "#ffffff";
  converter.fillStyle = colour || "#ffffff";
  return isDark(converter.fillStyle) ? "dark" : "light";
}

/**
 * Make the theme's palette available to the stylesheets as CSS variables, and return it.
 * @param {HTMLElement} el
 * @param {Palettes} palettes
 * @returns {Palette}
 */
export function applyPalette(el, palettes) {
  const name = themeOf(el);
  if (el.dataset.theme !== name) {
    el.dataset.theme = name;
    for (const [colour, value] of Object.entries(palettes[name])) el.style.setProperty(`--${colour}`, value);
  }
  return palettes[name];
}
