// Take the view along: a link to it, or a picture.
import { Painter } from "../plot/painter.js";
import { DASHES } from "../plot/strokes.js";

/** @import { CompareUpdate, DisplayMessage, Palette } from "../messages.js" */
/** @import { Figure } from "../plot/figure_types.js" */

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
 * @property {DisplayMessage} message
 * @property {Figure | null} figure  the scope's
 * @property {Painter} scope
 * @property {{ canvas: HTMLCanvasElement }} panel
 */

const SCALE = 2; // pixels of the picture for one of the screen's
const EDGE = 14;
const CARD_HEIGHT = 52;
const TABLE_ROW = 17; // height of a row of the table of pins
/** @type {Record<string, { colour: string, dash?: string, width?: number }>} how each kind of the legend is drawn */
export const SAMPLES = {
  now: { colour: "text", width: 2 },
  band: { colour: "grid", width: 8 },
  ghost: { colour: "muted", dash: "dot" },
  wrong: { colour: "wrong", width: 8 },
  cut: { colour: "muted", dash: "dot" },
  pin: { colour: "text", dash: "dash" },
  turn: { colour: "under", width: 8 },
};

/**
 * Save read-outs, legend, scope and panel, below a caption with stream and setting, as knob.png at twice the size.
 * @param {SavedDisplay} display
 */
export function savePicture(display) {
  const link = document.createElement("a");
  link.download = "knob.png";
  link.href = picture(display).toDataURL("image/png");
  link.click();
}

/**
 * The picture, drawn anew from the figures.
 * @param {SavedDisplay} display
 * @returns {HTMLCanvasElement}
 */
export function picture({ box, palette, font, message, figure, scope, panel }) {
  const width = Math.max(scope.canvas.clientWidth, panel.canvas.clientWidth) + 2 * EDGE;
  const { compare } = message.panel;
  const parts = [drawn(figure, scope.canvas, palette, font), drawn(message.panel.figure, panel.canvas, palette, font)];
  const table = compare ? (compare.rows.length + 1) * TABLE_ROW : 0;
  const heights = [scope.canvas.clientHeight, table || panel.canvas.clientHeight];
  const top = 34 + CARD_HEIGHT + 24;
  const sheet = document.createElement("canvas");
  sheet.width = SCALE * width;
  sheet.height = SCALE * (top + heights[0] + heights[1] + 62);
  const c = sheet.getContext("2d");
  if (!c) throw new Error("this browser has no 2d canvas");
  c.scale(SCALE, SCALE);
  c.fillStyle = getComputedStyle(box).getPropertyValue("--st-background-color") || "#ffffff";
  c.fillRect(0, 0, width, sheet.height);
  c.textBaseline = "middle";
  write(c, message.caption, EDGE, 18, `600 14px ${font}`, palette.text);
  writeCards(c, message, width, palette, font);
  writeLegend(c, message, 34 + CARD_HEIGHT + 10, palette, font);
  c.drawImage(parts[0], EDGE, top, scope.canvas.clientWidth, heights[0]);
  const below = top + heights[0] + 22;
  const name = message.constants.panels.find(({ id }) => id === message.panel.id)?.label ?? "";
  write(c, name, EDGE, below - 6, `600 12px ${font}`, palette.text);
  if (compare) writeTable(c, compare, below + 6, palette, font);
  else c.drawImage(parts[1], EDGE, below + 6, panel.canvas.clientWidth, heights[1]);
  write(c, message.panel.note, EDGE, below + heights[1] + 20, `11px ${font}`, palette.muted);
  return sheet;
}

/**
 * A figure drawn at SCALE on a canvas of its own; without a figure (the spring) what is on the screen.
 * @param {Figure | null} figure
 * @param {HTMLCanvasElement} shown
 * @param {Palette} palette
 * @param {string} font
 */
function drawn(figure, shown, palette, font) {
  if (!figure) return shown;
  const painter = new Painter(document.createElement("canvas"));
  painter.ratio = SCALE;
  painter.measured = [shown.clientWidth, shown.clientHeight];
  painter.draw(figure, palette, font);
  return painter.canvas;
}

/**
 * The read-outs side by side: label, number, goal.
 * @param {CanvasRenderingContext2D} c
 * @param {DisplayMessage} message
 * @param {number} width
 * @param {Palette} palette
 * @param {string} font
 */
function writeCards(c, { readouts, constants }, width, palette, font) {
  const step = (width - 2 * EDGE) / Math.max(1, readouts.length);
  readouts.forEach(({ id, now, goal, why }, i) => {
    const [x, y] = [EDGE + i * step, 34];
    const label = constants.readouts.find((readout) => readout.id === id)?.label ?? "";
    write(c, label, x, y + 8, `11px ${font}`, palette.muted);
    write(c, now, x, y + 25, `650 17px ${font}`, palette.text);
    const verdict = goal?.verdict ?? "";
    const colour = verdict === "missed" || why ? palette.wrong : verdict === "met" ? palette.static : palette.muted;
    write(c, goal?.words || why, x, y + 42, `600 11px ${font}`, colour);
  });
}

/**
 * The table of pins: names and settings to the left, numbers to the right of their columns.
 * @param {CanvasRenderingContext2D} c
 * @param {CompareUpdate} compare
 * @param {number} top
 * @param {Palette} palette
 * @param {string} font
 */
function writeTable(c, { columns, rows }, top, palette, font) {
  const lines = [["name", "memory, mode", ...columns.map(([, label]) => label)]];
  for (const { name, setting, cells } of rows) lines.push([name, setting, ...cells]);
  c.font = `11px ${font}`;
  let x = EDGE;
  lines[0].forEach((_, column) => {
    const room = Math.max(...lines.map((line) => c.measureText(line[column]).width));
    lines.forEach((line, i) => {
      const shift = column < 2 ? 0 : room - c.measureText(line[column]).width;
      const colour = i === 0 || column === 1 ? palette.muted : palette.text;
      write(c, line[column], x + shift, top + (i + 0.5) * TABLE_ROW, c.font, colour);
    });
    x += room + 12;
  });
}

/**
 * The legend in one line: a sample of each kind, and its name.
 * @param {CanvasRenderingContext2D} c
 * @param {DisplayMessage} message
 * @param {number} y
 * @param {Palette} palette
 * @param {string} font
 */
function writeLegend(c, { scope, constants }, y, palette, font) {
  let x = EDGE;
  for (const kind of scope.legend) {
    const { colour, dash = "", width = 1.5 } = SAMPLES[kind];
    c.strokeStyle = palette[colour];
    c.lineWidth = width;
    c.setLineDash(DASHES[dash] ?? []);
    c.beginPath();
    c.moveTo(x, y);
    c.lineTo(x + 18, y);
    c.stroke();
    c.setLineDash([]);
    const text = kind === "pin" ? scope.pin : constants.legend[kind][0];
    write(c, text, x + 23, y, `11px ${font}`, palette.muted);
    x += 38 + c.measureText(text).width;
  }
}

/**
 * @param {CanvasRenderingContext2D} c
 * @param {string} text
 * @param {number} x
 * @param {number} y
 * @param {string} font
 * @param {string} colour
 */
function write(c, text, x, y, font, colour) {
  c.font = font;
  c.fillStyle = colour;
  c.fillText(text, x, y);
}
