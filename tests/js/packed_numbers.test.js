// Numbers as Python sends them.
import assert from "node:assert/strict";
import { test } from "node:test";

import { unpack } from "../../app/static/plot/packed_numbers.js";

test("what numpy packs is what comes out", () => {
  // base64.b64encode(np.array([0, 1.5, -2, np.nan], "<f4").tobytes())
  const floats = unpack({ dtype: "f4", bdata: "AAAAAAAAwD8AAADAAADAfw==" });
  assert.deepEqual([...floats], [0, 1.5, -2, NaN]);
  // base64.b64encode(np.array([-1, 0, 9], "<i2").tobytes())
  assert.deepEqual([...unpack({ dtype: "i2", bdata: "//8AAAkA" })], [-1, 0, 9]);
});

test("it is unpacked once", () => {
  const packed = /** @type {const} */ ({ dtype: "i2", bdata: "//8AAAkA" });
  assert.equal(unpack(packed), unpack(packed));
});
