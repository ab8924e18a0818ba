import assert from "node:assert/strict";
import { test } from "node:test";

import { nextOrder } from "../../app/static/display/compare_table.js";

test("a heading sorts by the smallest, then by the largest, then not at all", () => {
  assert.equal(nextOrder("", "delay"), "delay");
  assert.equal(nextOrder("delay", "delay"), "-delay");
  assert.equal(nextOrder("-delay", "delay"), "");
  assert.equal(nextOrder("-delay", "flips"), "flips");
});
