// A goal as it is typed on a card.
import assert from "node:assert/strict";
import { test } from "node:test";

import { readGoal } from "../../app/static/display/readouts.js";

test("a number is held within its bounds, nothing means no goal, and what is no number changes nothing", () => {
  const kind = { low: 0, high: 100 };
  assert.equal(readGoal("1.5", kind), 1.5);
  assert.equal(readGoal("-3", kind), 0);
  assert.equal(readGoal("1e9", kind), 100);
  assert.equal(readGoal("  ", kind), null);
  assert.equal(readGoal("abc", kind), undefined);
  assert.equal(readGoal("1e999", kind), undefined);
});
