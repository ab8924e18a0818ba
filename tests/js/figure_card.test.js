// What a screen reader takes a figure for.
import assert from "node:assert/strict";
import { test } from "node:test";

import { FigureCard } from "../../app/static/figures/figure_card.js";
import { fakeDocument } from "./fake_document.js";

test("a figure that can be picked from takes keys, another one is an image", () => {
  const box = fakeDocument("canvas", "title", "note");
  const [canvas, title, note] = box.children;
  const card = { box, canvas, parts: { title, note }, writeLegend: () => {} };
  for (const [targets, role] of [
    [[], "img"],
    [[{ id: "a" }], "application"],
  ]) {
    FigureCard.prototype.update.call(/** @type {any} */ (card), /** @type {any} */ ({ targets }));
    assert.equal(canvas.getAttribute("role"), role);
  }
});
