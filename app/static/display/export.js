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
const NARROWEST = 900; // pixels of a figure: on a phone's width its labels would lie over each other
const CAPTION_LINE = 18; // heights
const SMALL_LINE = 14;
const TABLE_ROW = 17;
const COLUMN_GAP = 12;
/** @type {Record<string, { colour: string, dash?: string, width?: number }>} how each kind of the legend is drawn */
export const SAMPLES = {
  now: { colour: "text", width: 2 },
  band: { colour: "grid", width: 8 },
  ghost: { colour: "muted", dash: "dot" },
  wrong: { colour: "wrong", width: 8 },
  cut: { colour: "muted", dash: "dot" },
  pin: { colour: "text", dash: "dash" },
  turn: { colour: "under", width: 8 },
  disagrees: { colour: "under", width: 8 },
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
 * The picture, drawn anew from the figures; wide enough to be read also where the screen is narrow.
 * @param {SavedDisplay} display
 * @returns {HTMLCanvasElement}
 */
export function picture({ box, palette, font, message, figure, scope, panel }) {
  const sheet = document.createElement("canvas");
  const c = sheet.getContext("2d");
  if (!c) throw new Error("this browser has no 2d canvas");
  const table = message.panel.compare ? tableOf(c, message.panel.compare, font) : null;
  const parts = [drawn(figure, scope.canvas, palette, font), drawn(message.panel.figure, panel.canvas, palette, font)];
  const width = Math.max(parts[0].width, table?.width ?? parts[1].width); // without the edges
  const caption = brokenLines(c, message.caption, width, `600 14px ${font}`);
  const note = brokenLines(c, message.panel.note, width, `11px ${font}`);
  const cards = cardsOf(c, message, width, font);
  const cardsAt = 16 + CAPTION_LINE * caption.length;
  const scopeAt = cardsAt + cards.height + 24;
  const panelAt = scopeAt + parts[0].height + 28;
  const noteAt = panelAt + (table?.height ?? parts[1].height) + 14;
  sheet.width = SCALE * (width + 2 * EDGE);
  sheet.height = SCALE * (noteAt + SMALL_LINE * note.length + 6);
  c.scale(SCALE, SCALE);
  c.fillStyle = getComputedStyle(box).getPropertyValue("--st-background-color") || "#ffffff";
  c.fillRect(0, 0, sheet.width, sheet.height);
  c.textBaseline = "middle";
  caption.forEach((line, i) => write(c, line, EDGE, 18 + i * CAPTION_LINE, `600 14px ${font}`, palette.text));
  writeCards(c, cards, cardsAt, palette, font);
  writeLegend(c, message, scopeAt - 14, palette, font);
  c.drawImage(parts[0].canvas, EDGE, scopeAt, parts[0].width, parts[0].height);
  const name = message.constants.panels.find(({ id }) => id === message.panel.id)?.label ?? "";
  write(c, name, EDGE, panelAt - 12, `600 12px ${font}`, palette.text);
  if (table) writeTable(c, table, panelAt, palette, font);
  else c.drawImage(parts[1].canvas, EDGE, panelAt, parts[1].width, parts[1].height);
  note.forEach((line, i) => write(c, line, EDGE, noteAt + i * SMALL_LINE, `11px ${font}`, palette.muted));
  return sheet;
}

/**
 * A figure drawn at SCALE on a canvas of its own, at least NARROWEST wide; without a figure (the spring) what is on the
 * screen.
 * @param {Figure | null} figure
 * @param {HTMLCanvasElement} shown
 * @param {Palette} palette
 * @param {string} font
 * @returns {{ canvas: HTMLCanvasElement, width: number, height: number }}
 */
function drawn(figure, shown, palette, font) {
  const height = shown.clientHeight;
  if (!figure) return { canvas: shown, width: shown.clientWidth, height };
  const width = Math.max(NARROWEST, shown.clientWidth);
  const painter = new Painter(document.createElement("canvas"));
  painter.ratio = SCALE;
  painter.measured = [width, height];
  painter.draw(figure, palette, font);
  return { canvas: painter.canvas, width, height };
}

/**
 * A text in lines that are not wider than there is room for; a single word may be.
 * @param {CanvasRenderingContext2D} c
 * @param {string} text
 * @param {number} room
 * @param {string} font
 */
export function brokenLines(c, text, room, font) {
  c.font = font;
  /** @type {string[]} */
  const lines = [];
  for (const word of text.split(" ")) {
    const longer = lines.length ? `${lines.at(-1)} ${word}` : word;
    if (lines.length && c.measureText(longer).width <= room) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}

/**
 * The read-outs side by side: label, number, and the lines of the goal.
 * @param {CanvasRenderingContext2D} c
 * @param {DisplayMessage} message
 * @param {number} width
 * @param {string} font
 */
function cardsOf(c, { readouts, constants }, width, font) {
  const step = width / Math.max(1, readouts.length);
  const cards = readouts.map(({ id, now, goal, why }) => ({
    label: constants.readouts.find((readout) => readout.id === id)?.label ?? "",
    now,
    words: brokenLines(c, goal?.words || why, step - 8, `600 11px ${font}`),
    verdict: why ? "missed" : (goal?.verdict ?? ""),
  }));
  const lines = Math.max(1, ...cards.map(({ words }) => words.length));
  return { cards, step, height: 38 + SMALL_LINE * lines };
}

/**
 * @param {CanvasRenderingContext2D} c
 * @param {ReturnType<typeof cardsOf>} cards
 * @param {number} top
 * @param {Palette} palette
 * @param {string} font
 */
function writeCards(c, { cards, step }, top, palette, font) {
  cards.forEach(({ label, now, words, verdict }, i) => {
    const x = EDGE + i * step;
    const colour = verdict === "missed" ? palette.wrong : verdict === "met" ? palette.static : palette.muted;
    write(c, label, x, top + 8, `11px ${font}`, palette.muted);
    write(c, now, x, top + 25, `650 17px ${font}`, palette.text);
    words.forEach((line, j) => write(c, line, x, top + 42 + j * SMALL_LINE, `600 11px ${font}`, colour));
  });
}

/**
 * The table of pins, with room for the widest text of every column.
 * @param {CanvasRenderingContext2D} c
 * @param {CompareUpdate} compare
 * @param {string} font
 */
function tableOf(c, { columns, rows }, font) {
  const lines = [["name", "memory, mode", ...columns.map(([, label]) => label)]];
  for (const { name, setting, cells } of rows) lines.push([name, setting, ...cells]);
  c.font = `11px ${font}`;
  const rooms = lines[0].map((_, column) => Math.max(...lines.map((line) => c.measureText(line[column]).width)));
  const width = rooms.reduce((sum, room) => sum + room + COLUMN_GAP, 0);
  return { lines, rooms, width, height: lines.length * TABLE_ROW };
}

/**
 * Names and settings to the left, numbers to the right of their columns.
 * @param {CanvasRenderingContext2D} c
 * @param {ReturnType<typeof tableOf>} table
 * @param {number} top
 * @param {Palette} palette
 * @param {string} font
 */
function writeTable(c, { lines, rooms }, top, palette, font) {
  c.font = `11px ${font}`;
  let x = EDGE;
  rooms.forEach((room, column) => {
    lines.forEach((line, i) => {
      const shift = column < 2 ? 0 : room - c.measureText(line[column]).width;
      const colour = i === 0 || column === 1 ? palette.muted : palette.text;
      write(c, line[column], x + shift, top + (i + 0.5) * TABLE_ROW, c.font, colour);
    });
    x += room + COLUMN_GAP;
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
