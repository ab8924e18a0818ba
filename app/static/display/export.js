// Take the view along: a link to it, or a picture.

/** @import { Palette, DisplayUpdate } from "../messages.js" */
/** @import { Painter } from "../plot/painter.js" */

/**
 * Copy the page's address, which has the whole setting in it once a knob is released.
 * @param {HTMLElement} button
 */
export async function copyLink(button) {
  try {
    await navigator.clipboard.writeText(location.href);
    button.textContent = "copied";
  } catch {
    window.prompt("Copy this link", location.href); // there is no clipboard without https or permission
  }
  setTimeout(() => (button.textContent = "link"), 1500);
}

/**
 * What is saved of the display.
 * @typedef {object} SavedDisplay
 * @property {HTMLElement} box
 * @property {Palette} palette
 * @property {string} font
 * @property {DisplayUpdate} message
 * @property {Painter} scope
 * @property {{ canvas: HTMLCanvasElement }} panel
 */

/**
 * Save scope and panel, one above the other with a caption, as knob.png.
 * @param {SavedDisplay} display
 */
export function savePicture({ box, palette, font, message, scope, panel }) {
  const canvases = [scope.canvas, panel.canvas];
  const gap = 24;
  const picture = document.createElement("canvas");
  picture.width = Math.max(...canvases.map((canvas) => canvas.width));
  picture.height = canvases.reduce((sum, canvas) => sum + canvas.height + gap, gap + 20);
  const c = picture.getContext("2d");
  if (!c) return;
  c.fillStyle = getComputedStyle(box).getPropertyValue("--st-background-color") || "#ffffff";
  c.fillRect(0, 0, picture.width, picture.height);
  c.fillStyle = palette.text;
  c.font = `14px ${font}`;
  c.fillText(message.caption, 12, 22);
  let y = 20 + gap / 2;
  for (const canvas of canvases) {
    c.drawImage(canvas, 0, y);
    y += canvas.height + gap;
  }
  const link = document.createElement("a");
  link.download = "knob.png";
  link.href = picture.toDataURL("image/png");
  link.click();
}
