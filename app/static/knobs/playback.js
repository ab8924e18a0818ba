// Live mode: play and pause, leave, frames per second, and the button that pins a setting to compare with.
import { addButton, addElement, find, setIfChanged } from "../page/dom.js";

/** @import { Command, Controls, ControlsConstants, ControlsUpdate } from "../messages.js" */

const DEFAULT_SPEED = 10; // frames/s

/** Buttons, and the timer that asks for frames while playing. */
export class Playback {
  /**
   * @param {Element} box  of the controls
   * @param {ControlsConstants} spec
   * @param {Controls} values  changed here
   * @param {(settled: boolean, command?: Command) => void} onChange  `settled` is false for one more frame
   */
  constructor(box, { help, speeds }, values, onChange) {
    const row = find(box, ".transport", HTMLElement);
    this.box = box;
    this.values = values;
    this.onChange = onChange;
    this.note = find(box, ".pinned", HTMLElement);
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.timer = undefined;
    this.play = addButton(row, "", help.play, () => this.change({ playing: !values.playing, live: true }));
    this.leave = addButton(row, "■", help.stop, () => this.change({ playing: false, live: false }));
    this.leave.setAttribute("aria-label", "leave live mode");
    const select = addElement("select", "", row);
    select.title = help.speed;
    select.setAttribute("aria-label", "speed");
    for (const speed of speeds) select.add(new Option(`${speed} fps`, String(speed)));
    select.value = String(values.speed ?? DEFAULT_SPEED);
    select.onchange = () => this.change({ speed: Number(select.value) });
    this.pin = addButton(row, "", "", () => onChange(true, { act: "pin" }));
  }

  /** @param {Partial<Controls>} change */
  change(change) {
    Object.assign(this.values, change);
    this.restartTimer();
    this.onChange(true);
  }

  /** While playing, ask for one more frame at every tick; Python catches up where it was slower. */
  restartTimer() {
    clearInterval(this.timer);
    if (!this.values.playing) return;
    this.timer = setInterval(
      () => {
        if (!this.box.isConnected) clearInterval(this.timer);
        else if (!document.hidden) this.onChange(false, { act: "frames", count: 1 });
      },
      1000 / (this.values.speed || DEFAULT_SPEED),
    );
  }

  /**
   * @param {Controls} values
   * @param {Pick<ControlsUpdate, "pinned" | "pin_button" | "pin_help">} message
   */
  paint({ playing, live }, { pinned, pin_button = "", pin_help = "" }) {
    setIfChanged(this.play, "text", playing ? "❚❚ pause" : "▶ play");
    setIfChanged(this.play, "class", playing ? "play playing" : "play");
    setIfChanged(this.leave, "disabled", !live);
    setIfChanged(this.pin, "text", pin_button || "pin");
    setIfChanged(this.pin, "title", pin_help);
    setIfChanged(this.pin, "disabled", !pin_button);
    setIfChanged(this.note, "hidden", false); // an empty line is kept, or the buttons would move when it is written
    setIfChanged(this.note, "text", pinned);
  }
}
