// The saved picture's legend.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { SAMPLES } from "../../app/static/display/export.js";

test("every kind of the legend that Python names has a sample", () => {
  const python = readFileSync(new URL("../../app/console/display.py", import.meta.url), "utf8");
  const legend = /LEGEND = \{[^\n]*\n(.*?)\n\}/s.exec(python)?.[1] ?? "";
  const kinds = [...legend.matchAll(/^ {4}"(\w+)":/gm)].map(([, kind]) => kind);
  assert.deepEqual(Object.keys(SAMPLES).sort(), kinds.sort());
});
