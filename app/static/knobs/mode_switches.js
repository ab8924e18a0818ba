// Memory on or off, and Continuous or Reset Mode.
import { addButton, addElement, setIfChanged } from "../page/dom.js";

/** @import { ControlsConstants, Controls, Mode } from "../messages.js" */

/** @type {Mode[]} */
const MODES = ["continuous", "reset"];

/** One switch and two radio buttons. */
export class ModeSwitches {
  /**
   * @param {Element} parent
   * @param {ControlsConstants["help"]} help
   * @param {Controls} values  the present ones
   * @param {(change: Partial<Controls>) => void} onChange
   */
  constructor(parent, help, values, onChange) {
    this.memory = addButton(parent, "memory", help.memory, () => onChange({ memory: !values.memory }));
    this.memory.setAttribute("role", "switch");
    this.memory.className = "switch";
    const group = addElement("div", "modes", parent);
    group.setAttribute("role", "radiogroup");
    group.setAttribute("aria-label", "mode");
    this.modes = MODES.map((mode) => {
      const button = addButton(group, mode, help[mode], () => onChange({ mode }));
      button.setAttribute("role", "radio");
      return { button, mode };
    });
  }

  /** @param {Controls} values */
  paint({ memory, mode, on }) {
    const possible = on && mode !== "reset";
    setIfChanged(this.memory, "aria-checked", String(Boolean(memory) && possible));
    setIfChanged(this.memory, "disabled", !possible);
    for (const entry of this.modes) setIfChanged(entry.button, "aria-checked", String(mode === entry.mode));
  }
}
