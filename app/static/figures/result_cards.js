// Large numbers above the figures, each with what it was before; green or red, and in
// a word, where it has become better or worse.
import { addElement, keepChildren, setIfChanged } from "../page/dom.js";
import { writeValuePairs } from "../page/value_pairs.js";

/** @import { Card } from "../messages.js" */

/**
 * @param {HTMLElement} row
 * @param {Card[]} cards
 */
export function writeCards(row, cards) {
  row.hidden = !cards.length;
  keepChildren(row, cards.length, () => {
    const card = addElement("div", "card", row);
    addElement("span", "label", card);
    addElement("strong", "", card);
    addElement("span", "rest", card);
  });
  cards.forEach((content, i) => {
    const card = row.children[i];
    const [label, number, rest] = card.children;
    setIfChanged(card, "data-id", content.id);
    setIfChanged(card, "data-mood", content.mood ?? "");
    setIfChanged(card, "data-change", content.change ?? "");
    setIfChanged(card, "title", content.help);
    setIfChanged(label, "text", content.label);
    setIfChanged(number, "text", content.now);
    writeValuePairs(rest, content.rest);
  });
}
