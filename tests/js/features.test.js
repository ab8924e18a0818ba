// features.js against the painter: it reads every key in the list, and none that is not.
import assert from "node:assert/strict";
import { test } from "node:test";

import { FEATURES } from "../../app/static/plot/features.js";
import { Painter } from "../../app/static/plot/painter.js";
import { DASHES } from "../../app/static/plot/strokes.js";
import { answerAt, valuesAt } from "../../app/static/display/scope_cursor.js";
import { fakeCanvas } from "./fake_canvas.js";
import { pack } from "./packed.js";

/** @import { Figure } from "../../app/static/plot/figure_types.js" */

const numbers = pack([0.2, 0.5, 0.8]);
const palette = Object.fromEntries(
  ["plot", "grid", "muted", "gate", "text", "wrong", "class0", "class1", "onclass0", "onclass1"].map((name) => [
    name,
    "#102030",
  ]),
);

/** @type {Figure} a figure with everything in it */
const figure = {
  data: [
    { type: "scatter", mode: "lines", y: numbers, x0: 0, dx: 1, line: { width: 0, color: "gate" }, name: "low" },
    {
      type: "scatter",
      mode: "lines+markers",
      y: numbers,
      x0: 0,
      dx: 1,
      line: { color: "gate", width: 2, dash: "dot", shape: "hv" },
      fill: "tonexty",
      fillcolor: "gate/0.2",
      name: "gate",
      hover: true,
      marker: { color: "gate", size: 6, symbol: "x", line: { width: 2 } },
    },
    {
      type: "scatter",
      mode: "markers",
      y: numbers,
      x: numbers,
      xaxis: "x2",
      yaxis: "y2",
      line: { color: "text" },
      marker: { color: "gate", size: 6, symbol: "circle-open" },
      error_y: { array: numbers, color: "gate" },
    },
    { type: "bar", x: numbers, y: numbers, width: 0.1, marker: { color: ["gate", "text", "wrong"] } },
    {
      type: "heatmap",
      z: [numbers],
      x0: 0,
      dx: 1,
      y0: 0,
      ygap: 0,
      yaxis: "y2",
      colorscale: [
        [0, "wrong/0"],
        [1, "wrong"],
      ],
    },
    { type: "ribbon", z: pack([0, 0, 1], "i2"), y0: 0, yaxis: "y2", xaxis: "x2", name: "now" },
  ],
  layout: {
    margin: { l: 40, r: 10, t: 10, b: 30 },
    classes: ["cat", "dog"],
    xaxis: {
      range: [0, 2],
      anchor: "y",
      domain: [0, 0.4],
      tickvals: [0, 1],
      ticktext: ["a", "b"],
      showgrid: false,
      title: { text: "frames" },
    },
    yaxis: { range: [-2, 0], anchor: "x", type: "log", titlegap: 40, title: { text: "size", font: { color: "gate" } } },
    xaxis2: { range: [-1, 1], anchor: "y2", domain: [0.5, 1] },
    yaxis2: { range: [-1, 1], anchor: "x2", scaleanchor: "x2" },
    shapes: [
      {
        type: "rect",
        x0: 0,
        x1: 1,
        y0: 0,
        y1: 1,
        yref: "y domain",
        fillcolor: "wrong/0.1",
        line: { width: 0 },
        layer: "below",
      },
      { type: "circle", xref: "x2", yref: "y2", x0: -1, x1: 1, y0: -1, y1: 1, line: { color: "text", dash: "dash" } },
    ],
    annotations: [
      {
        text: "note",
        x: 0,
        y: 0,
        xref: "paper",
        yref: "paper",
        xanchor: "left",
        xshift: 5,
        yshift: 5,
        font: { color: "text", weight: 600 },
      },
    ],
  },
};

/** @type {Record<string, string>} names of objects that are not named by their place alone */
const KINDS = { "layout.margin": "margin", "layout.shapes": "shape", "layout.annotations": "annotation" };

/**
 * The same object, which writes down what is read of it and of all that is in it.
 * @param {any} value
 * @param {string} kind
 * @param {Map<string, Set<string>>} reads
 * @returns {any}
 */
function watched(value, kind, reads) {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value))
    return value.map((item) => watched(item, item?.type && kind === "data" ? item.type : kind, reads));
  if ("bdata" in value) kind = "packed";
  return new Proxy(value, {
    get(target, key) {
      const inside = Reflect.get(target, key);
      if (typeof key !== "string") return inside;
      const axis = kind === "layout" && /^[xy]axis/.test(key);
      const common = ["bar", "heatmap", "ribbon", "scatter"].includes(kind) && ["type", "xaxis", "yaxis"].includes(key);
      const owner = common ? "trace" : kind;
      if (!axis && kind !== "figure") reads.set(owner, (reads.get(owner) ?? new Set()).add(key));
      const path = kind === "figure" ? key : `${kind}.${key}`;
      return watched(inside, axis ? "axis" : (KINDS[path] ?? path), reads);
    },
  });
}

test("the painter reads every key in the list, and no other", () => {
  /** @type {Map<string, Set<string>>} */
  const reads = new Map();
  const { canvas } = fakeCanvas(600, 400);
  new Painter(canvas).draw(watched(figure, "figure", reads), palette, "sans-serif");
  valuesAt(watched(figure, "figure", reads), 1);
  answerAt({ truth: pack([0, 0, 1], "i2"), short: ["cat", "dog"] }, watched(figure, "figure", reads), 1);
  const read = Object.fromEntries([...reads].map(([kind, keys]) => [kind, [...keys].sort()]));
  assert.deepEqual(read, FEATURES.keys);
});

test("dashes in the list are those the painter knows", () => {
  const known = new Set([...Object.keys(DASHES), "", "solid"]);
  assert.deepEqual(new Set([...FEATURES.values["scatter.line.dash"], ...FEATURES.values["shape.line.dash"]]), known);
});
