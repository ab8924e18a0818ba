// A table of the same numbers for several methods; the first row is the present setting.
import { addElement, find, setIfChanged } from "../page/dom.js";

/** @import { ComparisonTable } from "../messages.js" */

/**
 * Write the numbers; the table is built anew only when its headings change.
 * @param {HTMLElement} box
 * @param {ComparisonTable | null} content
 */
export function writeTable(box, content) {
  box.hidden = !content;
  if (!content) return;
  const shape = JSON.stringify([content.caption, content.head, content.rows.map(({ name, help }) => [name, help])]);
  if (box.dataset.shape !== shape) {
    box.dataset.shape = shape;
    box.replaceChildren();
    buildTable(box, content);
  }
  const body = find(box, "tbody", HTMLElement);
  content.rows.forEach(({ cells }, i) =>
    cells.forEach((text, j) => setIfChanged(body.children[i].children[j + 1], "text", text)),
  );
}

/**
 * @param {HTMLElement} box
 * @param {ComparisonTable} content
 */
function buildTable(box, { caption, head, rows }) {
  const table = addElement("table", "", box);
  addElement("caption", "", table, caption);
  const headRow = addElement("tr", "", addElement("thead", "", table));
  for (const [text, title] of head) Object.assign(addElement("th", "", headRow, text), { title, scope: "col" });
  const body = addElement("tbody", "", table);
  for (const { name, help, cells } of rows) {
    const row = addElement("tr", "", body);
    row.dataset.row = name;
    Object.assign(addElement("th", "", row, name), { title: help, scope: "row" });
    cells.forEach(() => addElement("td", "", row));
  }
}
