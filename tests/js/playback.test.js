// Live mode's buttons, and the pin button.
import assert from "node:assert/strict";
import { test } from "node:test";

import { Playback } from "../../app/static/knobs/playback.js";
import { fakeDocument } from "./fake_document.js";

/** @import { Controls, ControlsConstants } from "../../app/static/messages.js" */

/** The buttons, in a box of the controls. */
function makePlayback() {
  const box = fakeDocument("transport", "pinned");
  const spec = /** @type {ControlsConstants} */ ({ help: {}, speeds: [10] });
  return new Playback(box, spec, /** @type {Controls} */ ({ speed: 10 }), () => {});
}

const values = (/** @type {boolean} */ playing) => /** @type {Controls} */ ({ playing, live: playing });

test("the pin button's tooltip says what it does now", () => {
  const playback = makePlayback();
  for (const [button, help] of [
    ["pin B", "Keep this setting as B"],
    ["unpin A", "Forget A"],
  ]) {
    playback.paint(values(false), { pinned: "", pin_button: button, pin_help: help });
    assert.deepEqual([playback.pin.textContent, playback.pin.title], [button, help]);
  }
});

test("the play button says what it does by its name alone", () => {
  const playback = makePlayback();
  for (const [playing, text] of /** @type {const} */ ([
    [true, "❚❚ pause"],
    [false, "▶ play"],
  ])) {
    playback.paint(values(playing), { pinned: "" });
    assert.deepEqual([playback.play.textContent, playback.play.getAttribute("aria-pressed")], [text, null]);
  }
});
