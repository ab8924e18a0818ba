// When values are sent, with which sequence number, and by which way.
import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { PATIENCE_MS, STALE_MS, UpdateSender } from "../../app/static/knobs/update_sender.js";

/** @import { Controls } from "../../app/static/messages.js" */

let now = 0;
/** @type {[string, number, number][]} way, sequence number, zeta */
let sent = [];
let socketOpen = true;
let shown = true;
/** @type {boolean[]} */
let marks = [];

/** @param {number} ms */
const pass = (ms) => {
  now += ms;
  mock.timers.tick(ms);
};

/** @type {string[]} way and command */
let orders = [];

/** A sender whose messages are kept in `sent`. */
function makeSender(alone = false) {
  const values = /** @type {Controls} */ ({ seq: 0, zeta: 0.7 });
  const keep = (/** @type {string} */ way, /** @type {Controls} */ v) => {
    for (const { act, count = 1 } of v.commands ?? []) orders.push(`${way} ${act} ${count}`);
    return sent.push([way, v.seq, Number(v.zeta)]);
  };
  const sender = new UpdateSender(values, {
    alone,
    overSocket: (v) => socketOpen && keep("socket", v) > 0,
    throughStreamlit: (v) => keep("streamlit", v),
    isShown: () => shown,
    showStale: (stale) => marks.push(stale),
  });
  /** @param {number} zeta @param {boolean} [settled] */
  const turn = (zeta, settled = false) => {
    values.zeta = zeta;
    sender.push(settled);
  };
  return { sender, turn };
}

beforeEach(() => {
  mock.timers.reset();
  mock.restoreAll();
  mock.timers.enable({ apis: ["setTimeout"] });
  mock.method(performance, "now", () => now);
  [now, sent, orders, socketOpen, shown, marks] = [1000, [], [], true, true, []];
});

test("a drag goes over the socket only, numbered from 1, the newest values when the answer has come", () => {
  const { sender, turn } = makeSender();
  turn(0.8);
  turn(0.9);
  turn(1.0);
  assert.deepEqual(sent, [["socket", 1, 0.8]]);
  sender.acknowledge(1);
  assert.deepEqual(sent, [
    ["socket", 1, 0.8],
    ["socket", 2, 1.0],
  ]);
  sender.acknowledge(2);
  pass(5000);
  assert.equal(sent.length, 2);
});

test("one message leaves ahead of the answer", () => {
  const { sender, turn } = makeSender();
  turn(0.8);
  sender.acknowledge(1);
  pass(100);
  turn(0.9);
  turn(1.0);
  pass(21);
  assert.equal(sent.length, 2);
  pass(1);
  assert.deepEqual(sent[2], ["socket", 3, 1.0]);
  turn(1.1);
  pass(100);
  assert.equal(sent.length, 3, "two are on their way: the next one waits for an answer");
});

test("a released knob is told to Streamlit, too", () => {
  const { turn } = makeSender();
  turn(0.8, true);
  assert.deepEqual(sent, [
    ["socket", 1, 0.8],
    ["streamlit", 1, 0.8],
  ]);
});

test("that a knob was released is not forgotten while its values wait", () => {
  const { sender, turn } = makeSender();
  turn(0.8);
  turn(0.9, true);
  turn(0.9);
  sender.acknowledge(1);
  assert.deepEqual(sent.slice(1), [
    ["socket", 2, 0.9],
    ["streamlit", 2, 0.9],
  ]);
});

test("controls without a socket send everything through Streamlit, one message at a time", () => {
  socketOpen = false;
  const { sender, turn } = makeSender(true);
  turn(0.8);
  turn(0.9);
  pass(100);
  assert.deepEqual(sent, [["streamlit", 1, 0.8]]);
  sender.acknowledge(1);
  assert.deepEqual(sent[1], ["streamlit", 2, 0.9]);
});

test("where the socket takes nothing, a knob acts when it is released", () => {
  socketOpen = false;
  const { sender, turn } = makeSender();
  sender.order({ act: "begin" });
  turn(0.8);
  pass(STALE_MS);
  assert.deepEqual([sent, marks], [[], [true]]);
  turn(0.9, true);
  pass(PATIENCE_MS);
  assert.deepEqual([sent.map(([way, , zeta]) => [way, zeta]), orders], [[["streamlit", 0.9]], ["streamlit begin 1"]]);
});

test("a command goes one way, once", () => {
  const { sender, turn } = makeSender();
  sender.order({ act: "pin" });
  turn(0.8, true);
  sender.acknowledge(1);
  turn(0.9, true);
  assert.deepEqual(orders, ["socket pin 1"]);
});

test("frames that wait are asked for together", () => {
  const { sender, turn } = makeSender();
  turn(0.8);
  for (let i = 0; i < 3; i++) {
    sender.order({ act: "frames", count: 1 });
    sender.push(false);
  }
  sender.acknowledge(1);
  assert.deepEqual(orders, ["socket frames 3"]);
});

test("an older answer does not count as the newest one's", () => {
  const { sender, turn } = makeSender();
  turn(0.8);
  sender.acknowledge(1);
  turn(0.9);
  sender.acknowledge(1);
  assert.equal(sender.awaited, 2);
  sender.acknowledge(2);
  assert.equal(sender.awaited, 0);
});

test("controls that have left the page send nothing", () => {
  const { turn } = makeSender();
  shown = false;
  turn(0.8, true);
  assert.deepEqual(sent, []);
});

test("what is shown is marked as stale when no answer comes, until one does", () => {
  const { sender, turn } = makeSender();
  turn(0.8);
  pass(STALE_MS - 1);
  assert.deepEqual(marks, []);
  pass(1);
  assert.deepEqual(marks, [true]);
  sender.acknowledge(1);
  assert.deepEqual(marks, [true, false]);
  pass(2 * STALE_MS);
  assert.deepEqual(marks, [true, false]); // nothing is awaited
});

test("answers that keep coming during a drag are not stale", () => {
  const { sender, turn } = makeSender();
  for (let i = 1; i <= 5; i++) {
    turn(1 + i / 10);
    pass(STALE_MS / 2);
    sender.acknowledge(i);
  }
  assert.deepEqual(marks, []);
});

test("a new session is told the values, in its own epoch", () => {
  const { sender, turn } = makeSender();
  turn(0.8);
  socketOpen = false;
  sender.startSession(0, true);
  pass(PATIENCE_MS);
  const last = sent.at(-1);
  assert.deepEqual(last && [last[0], last[2]], ["streamlit", 0.8]);
  assert.equal(sender.values.epoch, 0);
});

test("what a new session shows of other values is stale at once, until they are answered", () => {
  const { sender } = makeSender();
  sender.startSession(0, true);
  assert.deepEqual(marks, []);
  sender.startSession(0, false);
  sender.acknowledge(0);
  assert.deepEqual(marks, [true]);
  sender.acknowledge(sender.values.seq);
  assert.deepEqual(marks, [true, false]);
});
