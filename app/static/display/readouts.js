// The read-outs above the scope: a large number each, with what it was before this turn and what it is without Knob.
import { addElement, keepChildren, setIfChanged } from "../page/dom.js";
import { writeValuePairs } from "../page/value_pairs.js";

/** @import { DisplayConstants, ReadoutUpdate } from "../messages.js" */

/**
 * @param {Element} row
 * @param {DisplayConstants["readouts"]} labels
 * @param {ReadoutUpdate[]} readouts  in the same order
 */
export function writeReadouts(row, labels, readouts) {
  keepChildren(row, readouts.length, () => addCard(row));
  readouts.forEach((readout, i) => {
    const card = row.children[i];
    const [label, big, rest] = card.children;
    setIfChanged(card, "data-id", labels[i].id);
    setIfChanged(card, "title", labels[i].help);
    setIfChanged(card, "data-better", readout.worse ? "no" : "");
    setIfChanged(label, "text", labels[i].label);
    setIfChanged(big.children[0], "text", readout.now);
    setIfChanged(big.children[1], "text", readout.beside);
    writeValuePairs(rest, readout.rest);
  });
}

/** @param {Element} row */
function addCard(row) {
  const card = addElement("div", "card", row);
  addElement("span", "label", card);
  const big = addElement("span", "big", card);
  addElement("strong", "", big);
  addElement("small", "", big);
  addElement("span", "rest", card);
}
