// The saved picture: its legend, and that all of it can be read also where the screen is narrow.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { brokenLines, picture, SAMPLES } from "../../app/static/display/export.js";
import { fakeCanvas } from "./fake_canvas.js";

/** @import { SavedDisplay } from "../../app/static/display/export.js" */

const WIDE = 7; // pixels of a letter

/** A canvas whose letters are WIDE. */
function makeCanvas(width = 0, height = 0) {
  const { canvas, log } = fakeCanvas(width, height);
  const context = /** @type {any} */ (canvas.getContext("2d"));
  context.measureText = (/** @type {string} */ text) => ({ width: WIDE * text.length });
  return { canvas, log, context };
}

test("every kind of the legend that Python names has a sample", () => {
  const python = readFileSync(new URL("../../app/console/display.py", import.meta.url), "utf8");
  const legend = /LEGEND = \{[^\n]*\n(.*?)\n\}/s.exec(python)?.[1] ?? "";
  const kinds = [...legend.matchAll(/^ {4}"(\w+)":/gm)].map(([, kind]) => kind);
  assert.deepEqual(Object.keys(SAMPLES).sort(), kinds.sort());
});

test("a text is broken between words", () => {
  const { context } = makeCanvas();
  assert.deepEqual(brokenLines(context, "one two three fourteen", 7 * WIDE, ""), ["one two", "three", "fourteen"]);
  assert.deepEqual(brokenLines(context, "", 10, ""), [""]);
});

test("on a phone the picture is as wide as its figures need, and no text runs over its edge", () => {
  const sheet = makeCanvas();
  const axis = { range: [0, 1], domain: [0, 1] };
  const figure = {
    data: [],
    layout: { margin: { l: 0, r: 0, t: 0, b: 0 }, xaxis: { ...axis, anchor: "y" }, yaxis: { ...axis, anchor: "x" } },
  };
  const made = [sheet, makeCanvas(), makeCanvas()];
  const document = { createElement: () => made.shift()?.canvas };
  Object.assign(globalThis, { document, getComputedStyle: () => ({ getPropertyValue: () => "" }) });
  const goal = { limit: 1, verdict: "unknown", words: "≤ 100 frames: not measurable here" };
  const sentence = "a sentence of several words that goes on ".repeat(9).trim();
  const message = {
    caption: sentence,
    constants: { panels: [], readouts: [], legend: { now: ["median", ""] } },
    readouts: Array.from({ length: 6 }, () => ({ id: "delay", now: "1.0", goal, why: "" })),
    panel: { id: "step", figure, note: sentence },
    scope: { legend: ["now"], pin: "" },
  };
  const shown = makeCanvas(360, 250).canvas;
  const saved = { box: {}, palette: {}, font: "", message, figure, scope: { canvas: shown }, panel: { canvas: shown } };
  const { width } = picture(/** @type {SavedDisplay} */ (/** @type {unknown} */ (saved)));
  assert.equal(width, 2 * (900 + 28));
  const texts = sheet.log.filter(([name]) => name === "fillText").map(([, text, x]) => ({ text, x }));
  for (const { text, x } of texts) assert.ok(x + WIDE * text.length <= width / 2, text);
  const written = texts.map(({ text }) => text).join(" ");
  assert.equal(written.split(sentence).length, 3, "caption and note, every word");
  assert.equal(texts.filter(({ text }) => text.startsWith("≤ 100")).length, 6);
  for (const { text } of texts.filter(({ x }) => x > 14 && x < 700)) assert.ok(WIDE * text.length <= 150, text);
});
