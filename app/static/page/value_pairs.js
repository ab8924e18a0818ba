// A row of names with their values, as in "before 0.12  A 0.10", below the large number of a read-out.
import { addElement, keepChildren, setIfChanged } from "./dom.js";

/**
 * Write [name, value] pairs into `row`, one <span><i>name</i><b>value</b></span> each; present elements are kept.
 * @param {Element} row
 * @param {[string, string][]} pairs
 */
export function writeValuePairs(row, pairs) {
  keepChildren(row, pairs.length, () => {
    const pair = addElement("span", "", row);
    addElement("i", "", pair);
    addElement("b", "", pair);
  });
  pairs.forEach(([name, value], k) => {
    const pair = row.children[k];
    setIfChanged(pair, "data-name", name);
    setIfChanged(pair.children[0], "text", `${name} `);
    setIfChanged(pair.children[1], "text", value);
  });
}
