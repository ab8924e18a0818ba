import assert from "node:assert/strict";
import { test } from "node:test";
import { isWide } from "../../app/static/display/side_panels.js";

test("a display on a screen of 1920 pixels is wide, on one of 1280 it is not", () => {
  assert.ok(isWide(1400));
  assert.ok(!isWide(950));
});
