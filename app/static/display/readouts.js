// The read-outs above the scope: a large number each, with what it was before this turn and what it is without Knob.
// The first ones, and those with a goal, are always in sight. Some take a goal: a line of the card says whether it is
// met, and becomes a field when it is pressed.
import { addButton, addElement, keepChildren, setIfChanged } from "../page/dom.js";
import { writeValuePairs } from "../page/value_pairs.js";

/** @import { DisplayConstants, GoalConstants, ReadoutUpdate } from "../messages.js" */

const WHY_HELP = "Open Reliability: turn ωₙ, or fit the temperature there, until it keeps what it promises";

const ALWAYS = 3; // cards in sight: calm, prompt, right

/**
 * What the cards need of the display.
 * @typedef {object} ReadoutHost
 * @property {(name: string, limit: number | null) => void} setGoal  null: no goal
 * @property {(panel: string) => void} openPanel
 */

/** The row of cards. */
export class Readouts {
  /**
   * @param {HTMLElement} row
   * @param {ReadoutHost} host
   */
  constructor(row, host) {
    this.row = row;
    this.host = host;
  }

  /**
   * @param {DisplayConstants["readouts"]} constants
   * @param {ReadoutUpdate[]} readouts
   */
  draw(constants, readouts) {
    const { row } = this;
    keepChildren(row, readouts.length, () => this.addCard());
    readouts.forEach((readout, i) => {
      const card = row.children[i];
      const [label, big, rest, goal] = card.children;
      const fixed = constants.find((constant) => constant.id === readout.id);
      if (!fixed) return;
      setIfChanged(card, "data-id", readout.id);
      setIfChanged(card, "data-main", String(i < ALWAYS || (readout.goal?.limit ?? null) !== null));
      setIfChanged(card, "title", fixed.help);
      setIfChanged(card, "data-better", readout.worse ? "no" : "");
      setIfChanged(label, "text", fixed.label);
      setIfChanged(big.children[0], "text", readout.now);
      setIfChanged(big.children[1], "text", readout.beside);
      writeValuePairs(rest, readout.rest);
      this.writeGoal(goal, fixed.goal, readout);
    });
  }

  /** An empty card at the end of the row. */
  addCard() {
    const card = addElement("div", "card", this.row);
    addElement("span", "label", card);
    const big = addElement("span", "big", card);
    addElement("strong", "", big);
    addElement("small", "", big);
    addElement("span", "rest", card);
    addElement("span", "goal", card);
  }

  /**
   * The card's last line: the goal and how it stands, a way to set one, or nothing.
   * @param {Element} line
   * @param {GoalConstants | null} kind
   * @param {ReadoutUpdate} readout
   */
  writeGoal(line, kind, { goal, id, why }) {
    setIfChanged(line, "data-verdict", goal?.verdict ?? (why ? "missed" : ""));
    if (why) {
      if (line.getAttribute("data-goal") !== "why") {
        line.replaceChildren();
        addButton(line, "", WHY_HELP, () => this.host.openPanel("reliability"));
      }
      setIfChanged(line, "data-goal", "why");
      setIfChanged(line.children[0], "text", why);
      return;
    }
    if (!goal || !kind) {
      if (line.getAttribute("data-goal")) line.replaceChildren();
      setIfChanged(line, "data-goal", "");
      return;
    }
    const key = `${id} ${kind.name}`;
    if (line.getAttribute("data-goal") !== key) {
      setIfChanged(line, "data-goal", key);
      line.replaceChildren();
      addButton(line, "", "", () => this.editGoal(line));
    }
    const button = line.firstElementChild;
    if (!(button instanceof HTMLButtonElement)) return; // it is being typed
    const text = goal.words || "set a goal";
    setIfChanged(button, "text", text);
    setIfChanged(button, "aria-label", `${kind.words}: ${text}`);
    setIfChanged(button, "title", `Set a goal: ${kind.words}, ${kind.sense} …`);
    setIfChanged(button, "data-limit", goal.limit === null ? "" : String(+goal.limit.toPrecision(6)));
    button.dataset.kind = JSON.stringify(kind);
  }

  /**
   * Put a field in place of the line until a number is given (Enter, or leaving it), or not (Escape).
   * @param {Element} line
   */
  editGoal(line) {
    const button = /** @type {HTMLButtonElement} */ (line.firstElementChild);
    /** @type {GoalConstants} */
    const kind = JSON.parse(button.dataset.kind ?? "{}");
    const form = addElement("label", "", line);
    form.append(`${kind.sense} `);
    const field = addElement("input", "", form);
    field.type = "number";
    Object.assign(field, { min: kind.low, max: kind.high, step: "any", value: button.dataset.limit ?? "" });
    field.setAttribute("aria-label", `goal: ${kind.words}, ${kind.sense}`);
    form.append(` ${kind.unit}`);
    button.remove();
    let open = true;
    /** @param {boolean} keep */
    const close = (keep) => {
      if (!open) return;
      open = false;
      const limit = readGoal(field.value, kind);
      form.replaceWith(button);
      if (keep && limit !== undefined) this.host.setGoal(kind.name, limit);
    };
    field.onkeydown = (event) => {
      if (event.key !== "Enter" && event.key !== "Escape") return;
      event.preventDefault();
      close(event.key === "Enter");
      button.focus();
    };
    field.onblur = () => close(true);
    field.focus();
    field.select();
  }
}

/**
 * A goal that was typed, held within its bounds; null where the field is empty, undefined where it has no number.
 * @param {string} text
 * @param {Pick<GoalConstants, "low" | "high">} kind
 * @returns {number | null | undefined}
 */
export function readGoal(text, { low, high }) {
  if (!text.trim()) return null;
  const value = Number(text);
  return Number.isFinite(value) ? Math.min(high, Math.max(low, value)) : undefined;
}
