// Which memory acts, and Continuous or Reset Mode.
import { addButton, addElement, setIfChanged } from "../page/dom.js";

/** @import { ControlsConstants, Controls, MemoryKind, Mode } from "../messages.js" */

/** @type {Mode[]} */
const MODES = ["continuous", "reset"];
/** @type {MemoryKind[]} */
const MEMORIES = ["attentive", "plain", "off"];

/**
 * A group of buttons of which one is chosen.
 * @template {Mode | MemoryKind} Value
 * @param {Element} parent
 * @param {string} name  for a screen reader
 * @param {Value[]} values
 * @param {ControlsConstants["help"]} help
 * @param {(value: Value) => void} onPick
 */
function addChoice(parent, name, values, help, onPick) {
  const group = addElement("div", "modes", parent);
  group.setAttribute("role", "radiogroup");
  group.setAttribute("aria-label", name);
  return values.map((value) => {
    const label = name === "memory" && value === "off" ? "none" : value;
    const button = addButton(group, label, help[value], () => onPick(value));
    button.setAttribute("role", "radio");
    return { button, value };
  });
}

/** Two groups of radio buttons. */
export class ModeSwitches {
  /**
   * @param {Element} parent
   * @param {ControlsConstants["help"]} help
   * @param {(change: Partial<Controls>) => void} onChange
   */
  constructor(parent, help, onChange) {
    this.memories = addChoice(parent, "memory", MEMORIES, help, (memory) => onChange({ memory }));
    this.modes = addChoice(parent, "mode", MODES, help, (mode) => onChange({ mode }));
  }

  /** @param {Controls} values */
  paint({ memory, mode, on }) {
    const possible = on && mode !== "reset";
    for (const { button, value } of this.memories) {
      setIfChanged(button, "aria-checked", String(memory === value && possible));
      setIfChanged(button, "disabled", !possible);
    }
    for (const { button, value } of this.modes) setIfChanged(button, "aria-checked", String(mode === value));
  }
}
