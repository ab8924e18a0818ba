// A goal as it is typed on a card, and as its button is called.
import assert from "node:assert/strict";
import { test } from "node:test";

import { readGoal, Readouts } from "../../app/static/display/readouts.js";
import { fakeDocument } from "./fake_document.js";

/** @import { DisplayConstants, ReadoutUpdate } from "../../app/static/messages.js" */

test("a number is held within its bounds, nothing means no goal, and what is no number changes nothing", () => {
  const kind = { low: 0, high: 100 };
  assert.equal(readGoal("1.5", kind), 1.5);
  assert.equal(readGoal("-3", kind), 0);
  assert.equal(readGoal("1e9", kind), 100);
  assert.equal(readGoal("  ", kind), null);
  assert.equal(readGoal("abc", kind), undefined);
  assert.equal(readGoal("1e999", kind), undefined);
});

test("the buttons that set goals are called by what they limit", () => {
  const row = fakeDocument();
  const constants = ["excess flips", "right answers"].map((words, i) => ({
    id: `${i}`,
    goal: { name: `${i}`, words },
  }));
  const readouts = constants.map(({ id }) => ({
    id,
    rest: [],
    goal: { limit: null, verdict: "", words: "" },
    why: "",
  }));
  new Readouts(row, { setGoal: () => {}, openPanel: () => {} }).draw(
    /** @type {DisplayConstants["readouts"]} */ (/** @type {unknown} */ (constants)),
    /** @type {ReadoutUpdate[]} */ (/** @type {unknown} */ (readouts)),
  );
  const names = row
    .querySelectorAll("button")
    .map((/** @type {Element} */ button) => button.getAttribute("aria-label"));
  assert.deepEqual(names, ["excess flips: set a goal", "right answers: set a goal"]);
});
