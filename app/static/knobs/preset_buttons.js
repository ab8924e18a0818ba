// A button for every preset; the one that matches the knobs is pressed.
import { addButton, setIfChanged } from "../page/dom.js";

/** @import { Controls, Preset } from "../messages.js" */

/** A row of buttons. */
export class PresetButtons {
  /**
   * @param {Element} row
   * @param {Preset[]} presets
   * @param {(preset: Preset) => void} onChoose
   */
  constructor(row, presets, onChoose) {
    this.row = row;
    this.onChoose = onChoose;
    this.build(presets);
  }

  /**
   * Replace the buttons.
   * @param {Preset[]} presets
   */
  build(presets) {
    this.row.replaceChildren();
    this.buttons = presets.map((preset) => {
      const button = addButton(this.row, preset.label, preset.help, () => this.onChoose(preset));
      button.dataset.preset = preset.id;
      return { button, preset };
    });
  }

  /** @param {Controls} values */
  paint(values) {
    for (const { button, preset } of this.buttons ?? [])
      setIfChanged(button, "aria-pressed", String(matches(preset, values)));
  }
}

/**
 * Whether the controls are where a preset puts them.
 * @param {Preset} preset
 * @param {Pick<Controls, "on" | "zeta" | "omega_n">} values
 */
export function matches(preset, values) {
  if (!preset.on) return !values.on;
  return values.on && preset.zeta === values.zeta && preset.omega_n === values.omega_n;
}
