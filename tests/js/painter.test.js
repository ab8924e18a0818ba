// What the painter puts on the canvas, and where.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Painter } from "../../app/static/plot/painter.js";
import { fakeCanvas } from "./fake_canvas.js";
import { pack } from "./packed.js";

/** @import { Figure, Trace } from "../../app/static/plot/figure_types.js" */

const palette = {
  plot: "#000001",
  grid: "#000002",
  muted: "#000003",
  gate: "#0a5bd3",
  wrong: "#b00020",
  text: "#000004",
};

/**
 * Draw traces on axes of 100 x 100 pixels: x from 0 to 10, y from 0 to 1.
 * @param {Trace[]} data
 * @param {Partial<Figure["layout"]>} [more]
 */
function draw(data, more = {}) {
  const { canvas, log } = fakeCanvas(140, 130);
  const painter = new Painter(canvas);
  const margin = { l: 30, r: 10, t: 10, b: 20 };
  /** @type {Figure["layout"]} */
  const layout = { margin, xaxis: { range: [0, 10], anchor: "y" }, yaxis: { range: [0, 1], anchor: "x" }, ...more };
  painter.draw({ data, layout }, palette, "sans-serif");
  return { painter, log, calls: (/** @type {string} */ name) => log.filter((entry) => entry[0] === name) };
}

test("the plot's background covers its axes", () => {
  const { painter, calls } = draw([]);
  assert.deepEqual(
    [painter.axes?.x.from, painter.axes?.x.to, painter.axes?.y.from, painter.axes?.y.to],
    [30, 130, 110, 10],
  );
  assert.deepEqual(calls("fillRect"), [["fillRect", 30, 10, 100, 100]]);
});

test("bars stand on zero, one colour each", () => {
  const { log } = draw([
    { type: "bar", x: pack([2, 5]), y: pack([0.5, 1]), width: 2, marker: { color: ["gate", "wrong"] } },
  ]);
  const drawn = log
    .filter(([name, value]) => name === "fillRect" || value === "#0a5bd3" || value === "#b00020")
    .slice(1);
  assert.deepEqual(drawn, [
    ["set fillStyle", "#0a5bd3"],
    ["fillRect", 40, 60, 20, 50],
    ["set fillStyle", "#b00020"],
    ["fillRect", 70, 10, 20, 100],
  ]);
});

test("a heat map's value is its opacity; what cannot be seen is not drawn", () => {
  const { log } = draw(
    [
      {
        type: "heatmap",
        z: [pack([0, NaN, 0.25, 2])],
        x0: 0,
        dx: 1,
        y0: 0,
        colorscale: [
          [0, "wrong/0"],
          [1, "wrong"],
        ],
      },
    ],
    { yaxis: { range: [-0.5, 0.5], anchor: "x" } },
  );
  const opacities = log.filter(([name]) => name === "set globalAlpha").map(([, value]) => value);
  assert.deepEqual(opacities.slice(-3), [0.25, 1, 1]);
  const [, left, top, width, height] = log.filter(([name]) => name === "fillRect")[1];
  assert.deepEqual([left, Math.round(top), width, Math.round(height)], [45, 18, 10.4, 84]);
});

test("error bars reach from y - e to y + e", () => {
  const { log } = draw([
    {
      type: "scatter",
      mode: "markers",
      x: pack([5]),
      y: pack([0.5]),
      line: { color: "gate" },
      marker: { color: "gate", size: 6 },
      error_y: { array: pack([0.25]), color: "gate" },
    },
  ]);
  const at = log.findIndex((entry) => entry[0] === "set lineWidth" && entry[1] === 1.2);
  assert.deepEqual(log.slice(at + 2, at + 4), [
    ["moveTo", 80, 85],
    ["lineTo", 80, 35],
  ]);
  assert.deepEqual(
    log.filter(([name]) => name === "arc"),
    [["arc", 80, 60, 3, 0, 2 * Math.PI]],
  );
});

test("shapes below come before the traces, others after, notes last", () => {
  const { log } = draw(
    [
      {
        type: "scatter",
        mode: "lines",
        x0: 0,
        dx: 1,
        y: pack([0, 1]),
        line: { color: "gate", width: 2, dash: "dash" },
      },
    ],
    {
      shapes: [
        { type: "line", yref: "paper", x0: 5, x1: 5, y0: 0, y1: 1, line: { color: "text", width: 3 } },
        { type: "rect", x0: 0, x1: 1, y0: 0, y1: 1, fillcolor: "wrong", line: { width: 0 }, layer: "below" },
      ],
      annotations: [
        { text: "here", xref: "x", x: 5, yref: "y domain", y: 1, xshift: 4, yshift: 3, font: { color: "text" } },
      ],
    },
  );
  const order = log.filter(
    ([name, value]) =>
      (name === "set lineWidth" && value > 1) || name === "ellipse" || name === "fill" || value === "here",
  );
  assert.deepEqual(order, [["fill"], ["set lineWidth", 2], ["set lineWidth", 3], ["fillText", "here", 84, 7]]);
  assert.deepEqual(
    log.filter(([name]) => name === "setLineDash").map(([, dash]) => dash),
    [[6, 4], [], [], []],
  );
});

test("a canvas that is not shown is left alone", () => {
  const { canvas, log } = fakeCanvas(0, 0);
  const painter = new Painter(canvas);
  painter.draw({ data: [], layout: { margin: { l: 0, r: 0, t: 0, b: 0 } } }, palette, "sans-serif");
  assert.equal(painter.axes, null);
  assert.deepEqual(log, []);
});
