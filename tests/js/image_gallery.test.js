// The gallery: one stop of the Tab key, and a pick that can be made again.
import assert from "node:assert/strict";
import { test } from "node:test";

import { fakeDocument } from "./fake_document.js";

/** @import { Common, GalleryMessage } from "../../app/static/messages.js" */

Object.assign(globalThis, { history: { pushState: () => {}, replaceState: () => {} } });
const { ImageGallery } = await import("../../app/static/image_gallery.js");

/** @param {number} chosen */
const message = (chosen) => {
  const items = [7, 8, 9].map((id, cell) => ({ id, cell, label: `image ${id}`, ready: true }));
  return /** @type {Common & GalleryMessage} */ ({ sprite: "", columns: 10, rows: 1, items, chosen });
};

test("Tab reaches the chosen picture alone, or the first one", () => {
  const gallery = new ImageGallery(fakeDocument());
  const stops = () => gallery.buttons.map(({ button }) => button.tabIndex);
  gallery.update(message(8));
  assert.deepEqual(stops(), [-1, 0, -1]);
  gallery.update(message(9));
  assert.deepEqual(stops(), [-1, -1, 0]);
  gallery.update(message(500)); // one that is not shown
  assert.deepEqual(stops(), [0, -1, -1]);
});

test("a pick is an event: Python forgets it after its run, so that it can be made again", () => {
  const gallery = new ImageGallery(fakeDocument());
  gallery.update(message(8));
  /** @type {unknown[]} */
  const sent = [];
  gallery.setTrigger = (name, value) => sent.push([name, value]);
  gallery.setState = () => assert.fail("a state stays");
  for (let i = 0; i < 2; i++) gallery.buttons[0].button.click();
  assert.deepEqual(sent, [["picked", 7], ["picked", 7]]); // prettier-ignore
});
