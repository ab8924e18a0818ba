// Which damping regime the knobs are in: under-damped, critical or over-damped, and a sentence on what that means.
import { find, setIfChanged } from "../page/dom.js";

/** @import { Regime } from "../messages.js" */

/** @type {[Regime, string][]} */
const REGIMES = [
  ["under", "under-damped"],
  ["critical", "critical"],
  ["over", "over-damped"],
];

/** Three fields, one of them lit, and a sentence below. */
export class RegimeBar {
  /** @param {Element} box */
  constructor(box) {
    this.bar = find(box, ".regime", HTMLElement);
    this.sentence = find(box, ".regime-text", HTMLElement);
  }

  /**
   * @param {Regime} regime  "" where none applies
   * @param {string} words
   */
  paint(regime, words) {
    REGIMES.forEach(([id, label], i) => {
      setIfChanged(this.bar.children[i], "text", label);
      setIfChanged(this.bar.children[i], "class", id === regime ? `now ${id}` : id);
    });
    this.bar.hidden = !words; // a lesson without both knobs has no regime
    setIfChanged(this.bar, "aria-label", words);
    this.say(words);
  }

  /** @param {string} words */
  say(words) {
    setIfChanged(this.sentence, "text", words);
  }
}
