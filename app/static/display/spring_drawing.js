// Draw the gate as a mass on a spring with a damper: the mass stands at u(t), and is pulled to u*(t).
// A stiffer spring (omega_n) is drawn thicker, a stronger damper (zeta) fuller.
import { clamp } from "../page/clamp.js";
import {
  coilPoints,
  damperOpacity,
  interpolate,
  MASS_SIZE,
  sigmoid,
  springLayout,
  springThickness,
} from "./spring_geometry.js";

/** @import { Palette, SpringUpdate } from "../messages.js" */
/** @import { Painter } from "../plot/painter.js" */

/**
 * A spring's message with its numbers unpacked.
 * @typedef {Omit<SpringUpdate, "u" | "u_star"> & { u: ArrayLike<number>, u_star: ArrayLike<number> }} Spring
 */

/**
 * The canvas and where things are on it.
 * @typedef {object} SpringCanvas
 * @property {CanvasRenderingContext2D} c
 * @property {ReturnType<typeof springLayout>} at
 * @property {Palette} palette
 * @property {string} font
 * @property {number} width
 */

/**
 * @param {Painter} painter
 * @param {Spring} spring
 * @param {number} time  frames since the spring's first
 * @param {Palette} palette
 * @param {string} font  CSS font family
 */
export function drawSpring(painter, spring, time, palette, font) {
  const cleared = painter.clear();
  if (!cleared) return;
  const [width, height] = cleared;
  const canvas = { c: painter.context, at: springLayout(width, height, spring.range), palette, font, width };
  const [u, target] = [interpolate(spring.u, time), interpolate(spring.u_star, time)];
  drawRail(canvas, spring.range);
  drawSpringAndDamper(canvas, spring, canvas.at.toPixel(u) - MASS_SIZE / 2);
  drawTarget(canvas, canvas.at.toPixel(target));
  drawMass(canvas, u);
  const { c, at } = canvas;
  c.fillStyle = palette.muted;
  c.textAlign = "left";
  c.textBaseline = "top";
  c.fillText(`frame ${Math.floor(time) + spring.first}`, at.wall, 4);
}

/**
 * The rail with its scale (u, and below it the gate that it means), and the wall.
 * @param {SpringCanvas} canvas
 * @param {[number, number]} range
 */
function drawRail({ c, at, palette, font }, [low, high]) {
  const { wall, right, rail, middle, toPixel } = at;
  c.strokeStyle = palette.grid;
  c.lineWidth = 1;
  c.font = `12px ${font}`;
  c.textAlign = "center";
  c.textBaseline = "top";
  c.fillStyle = palette.muted;
  c.beginPath();
  c.moveTo(wall, rail + 0.5);
  c.lineTo(right + 30, rail + 0.5);
  c.stroke();
  for (let u = Math.ceil(low); u <= high; u++) {
    c.beginPath();
    c.moveTo(toPixel(u), rail);
    c.lineTo(toPixel(u), rail + 5);
    c.stroke();
    c.fillText(`${u}`.replace("-", "\u2212"), toPixel(u), rail + 7);
    c.fillText(sigmoid(u).toFixed(2), toPixel(u), rail + 21);
  }
  c.textAlign = "left";
  c.fillText("u", wall, rail + 7);
  c.fillText("g = σ(u)", wall, rail + 21);
  c.fillRect(wall - 7, middle - 42, 7, rail - middle + 42);
}

/**
 * Spring above, damper below, both from the wall to the mass.
 * @param {SpringCanvas} canvas
 * @param {Spring} spring
 * @param {number} end  left side of the mass
 */
function drawSpringAndDamper({ c, at, palette }, spring, end) {
  const { wall, left, middle, pot, potEnd } = at;
  c.strokeStyle = palette.text;
  c.lineWidth = springThickness(spring.omega_n);
  c.lineJoin = "round";
  c.beginPath();
  for (const [x, y] of coilPoints(wall, end, middle - 14)) c.lineTo(x, y);
  c.stroke();
  c.lineWidth = 1.5;
  c.fillStyle = palette.text;
  c.globalAlpha = damperOpacity(spring.zeta);
  c.fillRect(pot, middle + 8, potEnd - pot, 22);
  c.globalAlpha = 1;
  c.beginPath();
  c.moveTo(wall, middle + 19);
  c.lineTo(pot, middle + 19);
  c.moveTo(potEnd, middle + 8);
  c.lineTo(pot, middle + 8);
  c.lineTo(pot, middle + 30);
  c.lineTo(potEnd, middle + 30);
  const piston = clamp(end - (left - 60), pot + 8, potEnd - 8);
  c.moveTo(piston, middle + 10);
  c.lineTo(piston, middle + 28);
  c.moveTo(piston, middle + 19);
  c.lineTo(end, middle + 19);
  c.stroke();
}

/**
 * A dashed line where the network's command pulls the mass to.
 * @param {SpringCanvas} canvas
 * @param {number} x
 */
function drawTarget({ c, at, palette, width }, x) {
  c.strokeStyle = palette.command;
  c.lineWidth = 2;
  c.setLineDash([4, 3]);
  c.beginPath();
  c.moveTo(x, at.middle - 48);
  c.lineTo(x, at.rail);
  c.stroke();
  c.setLineDash([]);
  c.fillStyle = palette.command;
  c.textAlign = "center";
  c.textBaseline = "bottom";
  c.fillText("u* pulls here", clamp(x, 50, width - 50), at.middle - 50);
}

/**
 * The mass, with the gate's value in it.
 * @param {SpringCanvas} canvas
 * @param {number} u
 */
function drawMass({ c, at, palette, font }, u) {
  const x = at.toPixel(u);
  c.fillStyle = palette.gate;
  c.beginPath();
  c.roundRect(x - MASS_SIZE / 2, at.middle - MASS_SIZE / 2, MASS_SIZE, MASS_SIZE + 20, 6);
  c.fill();
  c.fillStyle = palette.ongate;
  c.textAlign = "center";
  c.textBaseline = "middle";
  c.font = `600 14px ${font}`;
  c.fillText(sigmoid(u).toFixed(2), x, at.middle + 3);
  c.font = `12px ${font}`;
  c.fillText("gate", x, at.middle + 20);
}
