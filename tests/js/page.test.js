// The WebSocket's address, which of two updates is newer, and one drawing a frame.
import assert from "node:assert/strict";
import { test } from "node:test";

import { FrameScheduler } from "../../app/static/page/frame_scheduler.js";
import { healthAddress, socketAddress } from "../../app/static/page/knob_socket.js";
import { newerOf } from "../../app/static/page/side_by_side.js";

test("the endpoint lies two folders above app/static, also under a prefix", () => {
  assert.equal(socketAddress("/app/static/", "socket", "http://host:1/page").href, "ws://host:1/socket");
  assert.equal(socketAddress("/knob/app/static/", "socket", "https://host/knob/").href, "wss://host/knob/socket");
});

test("beside the endpoint Streamlit says whether it runs", () => {
  assert.equal(healthAddress(new URL("ws://host:1/socket")).href, "http://host:1/_stcore/health");
  assert.equal(healthAddress(new URL("wss://host/knob/socket")).href, "https://host/knob/_stcore/health");
});

test("of two updates of one session the higher answer number counts; another session's is always taken", () => {
  const numbered = (/** @type {string} */ token, /** @type {number} */ answer) => ({ token, update: { answer } });
  const shown = numbered("a", 2);
  for (const next of [numbered("a", 3), numbered("a", 2), numbered("b", 1)]) assert.equal(newerOf(shown, next), next);
  assert.equal(newerOf(shown, numbered("a", 1)), shown);
  assert.equal(newerOf(null, shown), shown);
});

test("many requests, one drawing a frame", () => {
  /** @type {(() => void)[]} */
  const frames = [];
  Object.assign(globalThis, { requestAnimationFrame: (/** @type {() => void} */ call) => frames.push(call) });
  let drawn = 0;
  const scheduler = new FrameScheduler(() => (drawn += 1));
  scheduler.request();
  scheduler.request();
  assert.deepEqual([frames.length, drawn, scheduler.pending], [1, 0, true]);
  frames[0]();
  assert.deepEqual([drawn, scheduler.pending], [1, false]);
  scheduler.request();
  assert.equal(frames.length, 2);
});
