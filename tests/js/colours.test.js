// Names of the palette as CSS, and dark or light by the background.
import assert from "node:assert/strict";
import { test } from "node:test";

import { isDark } from "../../app/static/page/theme.js";
import { paletteColour, withOpacity } from "../../app/static/plot/colours.js";

test("a name, and a name with an opacity", () => {
  const palette = { gate: "#0a5bd3", text: "#1c2430" };
  assert.equal(paletteColour(palette, "gate"), "#0a5bd3");
  assert.equal(paletteColour(palette, "gate/0.2"), "rgba(10,91,211,0.2)");
  assert.equal(withOpacity("#ff8000", "1"), "rgba(255,128,0,1)");
});

test("backgrounds", () => {
  assert.equal(isDark("#ffffff"), false);
  assert.equal(isDark("#0e1117"), true);
  assert.equal(isDark("#828282"), false);
  assert.equal(isDark("#7e7e7e"), true);
  assert.equal(isDark("#0000ff"), true); // 0.114 x 255 = 29
  assert.equal(isDark("#00ff00"), false); // 0.587 x 255 = 150
});
