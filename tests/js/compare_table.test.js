// The table of pins: its order, and what becomes of a press, a name and the focus when rows change.
import assert from "node:assert/strict";
import { test } from "node:test";

import { CompareTable, nextOrder } from "../../app/static/display/compare_table.js";
import { fakeDocument } from "./fake_document.js";

/** @type {[string, number, string | undefined][]} */
let acts = [];

/** A table whose actions are kept in `acts`. */
function makeTable() {
  const box = fakeDocument();
  acts = [];
  const table = new CompareTable(box, 16, {
    order: ({ act, pin = -1, to }) => acts.push([act, pin, to]),
    changeView: () => {},
  });
  const show = (/** @type {[string, number][]} */ rows, refused = "") =>
    table.draw({
      columns: [],
      sort: "",
      refused,
      rows: rows.map(([name, id]) => ({ name, id, pinned: id >= 0, drawn: false, setting: "", cells: [] })),
    });
  const controls = (/** @type {number} */ row) =>
    /** @type {any[]} */ ([...table.body.children[row].children[0].children]);
  return { table, box, show, controls };
}

test("a heading sorts by the smallest, then by the largest, then not at all", () => {
  assert.equal(nextOrder("", "delay"), "delay");
  assert.equal(nextOrder("delay", "delay"), "-delay");
  assert.equal(nextOrder("-delay", "delay"), "");
  assert.equal(nextOrder("-delay", "flips"), "flips");
});

test("a button that is pressed while its row gets another name stays, and acts on the pin", () => {
  const { show, controls } = makeTable();
  show([["now", -1], ["A", 0]]); // prettier-ignore
  const [draw, field, , remove] = controls(1);
  assert.equal(field.maxLength, 16);
  field.value = " night ";
  field.onchange();
  assert.deepEqual([acts, field.value], [[["rename", 0, "night"]], "A"]);
  show([["now", -1], ["night", 0]]); // prettier-ignore
  assert.equal(controls(1)[0], draw);
  assert.deepEqual(
    [field.value, remove.title, field.getAttribute("aria-label")],
    ["night", "remove night", "name of night"],
  );
  draw.onclick();
  assert.deepEqual(acts[1].slice(0, 2), ["draw", 0]);
});

test("a name that is being typed is not overwritten", () => {
  const { show, controls } = makeTable();
  show([["A", 0]]);
  const [, field] = controls(0);
  field.focus();
  field.value = "ni";
  show([["A", 0]]);
  assert.equal(field.value, "ni");
});

test("why a name was refused is read out", () => {
  const { table, show } = makeTable();
  show([["A", 0]], "“home” cannot be a pin's name");
  assert.deepEqual(
    [table.refused.textContent, table.refused.getAttribute("role")],
    ["“home” cannot be a pin's name", "status"],
  );
  show([["A", 0]]);
  assert.equal(table.refused.textContent, "");
});

test("when its row is removed, the focus goes to the next pin, to the last one, to the table", () => {
  const { box, show, controls } = makeTable();
  const focused = () => box.getRootNode().activeElement;
  show([["now", -1], ["A", 0], ["B", 1], ["C", 2]]); // prettier-ignore
  controls(2)[3].focus();
  show([["now", -1], ["A", 0], ["C", 2]]); // prettier-ignore
  assert.equal(focused().title, "remove C");
  show([["now", -1], ["A", 0]]); // prettier-ignore
  assert.equal(focused().title, "remove A");
  show([["now", -1]]);
  assert.equal(focused(), box);
});
