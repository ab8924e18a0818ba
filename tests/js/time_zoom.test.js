// Which part of the stream the scope shows.
import assert from "node:assert/strict";
import { test } from "node:test";

import { moved, TimeZoom, within, zoomed } from "../../app/static/display/time_zoom.js";
import { fakeDocument } from "./fake_document.js";

/** @type {[number, number]} */
const whole = [-0.5, 239.5];

test("zooming keeps the frame under the pointer", () => {
  const [low, high] = zoomed(whole, whole, 100, 0.5) ?? [0, 0];
  assert.equal(high - low, 120);
  assert.equal((100 - low) / (high - low), (100 - whole[0]) / 240);
});

test("nothing is shown beyond the ends, and not less than eight frames", () => {
  const [low, high] = zoomed([0, 20], whole, 5, 0.001) ?? [0, 0];
  assert.deepEqual([low, high], [3, 11]);
  assert.deepEqual(within([-50, 20], whole), [-0.5, 69.5]);
  assert.deepEqual(within([230, 300], whole), [169.5, 239.5]);
  assert.deepEqual(within([100, 100], whole), [96, 104]);
});

test("as wide as the stream is all of it", () => {
  assert.equal(zoomed([10, 100], whole, 50, 10), null);
  assert.equal(within([-0.5, 239.5], whole), null);
  assert.equal(within([0, 3], [-0.5, 3.5]), null); // a stream of four frames is never zoomed
});

test("moving stops at the ends and keeps the width", () => {
  assert.deepEqual(moved([10, 50], whole, 20), [30, 70]);
  assert.deepEqual(moved([10, 50], whole, -100), [-0.5, 39.5]);
  assert.deepEqual(moved([10, 50], whole, 1000), [199.5, 239.5]);
});

test("a finger zooms by buttons, about the frame that it touched", () => {
  const box = fakeDocument("canvas", "mark", "reset", "closer", "wider");
  const [canvas, mark, reset, closer, wider] = box.children;
  /** @type {TimeZoom} */
  const zoom = new TimeZoom(
    canvas,
    mark,
    { reset, closer, wider },
    {
      axis: () => /** @type {any} */ ({ range: zoom.range ?? whole, toValue: (/** @type {number} */ pixel) => pixel }),
      whole: () => whole,
      cursor: () => null,
      changed: () => {},
    },
  );
  closer.onclick();
  assert.deepEqual(zoom.range, [39.5, 199.5]);
  wider.onclick();
  assert.equal(zoom.range, null);
  canvas.listeners.pointerdown({ pointerType: "touch", button: 0, clientX: 59.5 });
  assert.equal(zoom.drag, null, "the page scrolls");
  closer.onclick();
  assert.deepEqual(zoom.range, [19.5, 179.5]);
  assert.equal(reset.hidden, false);
});
