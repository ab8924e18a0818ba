// The table that compares settings: one row each, one column a measure. A heading sorts; a pin is drawn, renamed,
// turned to or removed in its row.
import { addButton, addElement, focusedBeside, keepChildren, setIfChanged } from "../page/dom.js";

/** @import { CompareRow, Command, CompareUpdate, ViewRequest } from "../messages.js" */

const SETTING = "memory, mode";

/**
 * What the table needs of the display.
 * @typedef {object} CompareHost
 * @property {(command: Command) => void} order
 * @property {(change: Partial<ViewRequest>) => void} changeView
 */

/**
 * The order that a press on a heading asks for: smallest first, then largest first, then as pinned.
 * @param {string} sort  the present one
 * @param {string} column
 */
export function nextOrder(sort, column) {
  if (sort === column) return `-${column}`;
  return sort === `-${column}` ? "" : column;
}

/** The table, in a box that scrolls. */
export class CompareTable {
  /**
   * @param {HTMLElement} box
   * @param {number} longest  characters of a pin's name
   * @param {CompareHost} host
   */
  constructor(box, longest, host) {
    this.box = box;
    this.longest = longest;
    this.host = host;
    this.sort = "";
    this.columns = "";
    box.tabIndex = 0; // so that it can be scrolled by keyboard
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "compared settings");
    this.refused = addElement("p", "refused", box);
    this.refused.setAttribute("role", "status"); // read out when it is written
    const table = addElement("table", "", box);
    this.head = addElement("tr", "", addElement("thead", "", table));
    this.body = addElement("tbody", "", table);
  }

  /** @param {CompareUpdate | null} message  null: another panel is open */
  draw(message) {
    setIfChanged(this.box, "hidden", message === null);
    if (!message) return;
    this.sort = message.sort;
    const focused = this.focusPlace();
    this.writeHead(message);
    keepChildren(this.body, message.rows.length, () => this.addRow(message.columns.length));
    message.rows.forEach((row, i) => this.writeRow(this.body.children[i], row, message.columns.length));
    if (focused && !this.focusPlace()) this.focusNear(focused);
    setIfChanged(this.refused, "text", message.refused);
  }

  /** @param {CompareUpdate} message */
  writeHead({ columns, sort }) {
    const key = columns.map(([id]) => id).join();
    if (key !== this.columns) {
      this.columns = key;
      this.head.replaceChildren();
      addElement("th", "", this.head, "name").scope = "col";
      addElement("th", "words", this.head, SETTING).scope = "col";
      for (const [id, , help] of columns) {
        const cell = addElement("th", "", this.head);
        cell.scope = "col";
        const button = addButton(cell, "", `${help}. Press to sort`, () => {
          this.host.changeView({ sort: nextOrder(this.sort, id) });
        });
        button.dataset.column = id;
      }
    }
    columns.forEach(([id, label], i) => {
      const cell = this.head.children[i + 2];
      const order = sort === id ? "ascending" : sort === `-${id}` ? "descending" : "none";
      setIfChanged(cell, "aria-sort", order);
      const mark = order === "ascending" ? " ▲" : order === "descending" ? " ▼" : "";
      setIfChanged(cell.children[0], "text", `${label}${mark}`);
    });
  }

  /** @param {number} columns */
  addRow(columns) {
    const row = addElement("tr", "", this.body);
    addElement("th", "", row).scope = "row";
    for (let i = 0; i <= columns; i++) addElement("td", i ? "" : "words", row);
  }

  /**
   * @param {Element} element
   * @param {CompareRow} row
   * @param {number} columns
   */
  writeRow(element, row, columns) {
    while (element.children.length > columns + 2) element.lastElementChild?.remove();
    while (element.children.length < columns + 2) addElement("td", "", element);
    this.writeName(element.children[0], row);
    setIfChanged(element, "class", row.pinned ? (row.drawn ? "drawn" : "") : "fixed");
    setIfChanged(element.children[1], "text", row.setting);
    row.cells.forEach((text, i) => setIfChanged(element.children[i + 2], "text", text));
  }

  /**
   * The first cell: a name alone, or a pin's switch, name and buttons. They stay while the cell is of the same pin: a
   * press that begins while a name is given must not find them gone.
   * @param {Element} cell
   * @param {CompareRow} row
   */
  writeName(cell, { name, id, pinned, drawn }) {
    const key = pinned ? `pin ${id}` : name;
    if (cell.getAttribute("data-row") !== key) {
      cell.setAttribute("data-row", key);
      cell.replaceChildren();
      if (pinned) this.addPin(cell, id);
      else addElement("span", "", cell, name);
    }
    if (pinned) this.writePin(cell, name, drawn);
  }

  /**
   * @param {Element} cell
   * @param {number} id
   */
  addPin(cell, id) {
    const { host } = this;
    addButton(cell, "┄", "", () => host.order({ act: "draw", pin: id }));
    const field = addElement("input", "", cell);
    field.maxLength = this.longest;
    field.title = "Another name for this setting";
    field.onchange = () => {
      const name = field.getAttribute("data-name") ?? "";
      const to = field.value.trim();
      field.value = name; // until Python has taken the other one
      if (to && to !== name) host.order({ act: "rename", pin: id, to });
    };
    field.onkeydown = (event) => {
      if (event.key === "Enter") field.blur();
    };
    addButton(cell, "⟲", "", () => host.order({ act: "turn", pin: id }));
    addButton(cell, "✕", "", () => host.order({ act: "remove", pin: id }));
  }

  /**
   * What a pin's controls say of its name.
   * @param {Element} cell
   * @param {string} name
   * @param {boolean} drawn
   */
  writePin(cell, name, drawn) {
    const [draw, field, turn, remove] = cell.children;
    setIfChanged(draw, "aria-pressed", String(drawn));
    for (const [button, label] of /** @type {const} */ ([
      [draw, `draw ${name}, dashed, or no longer`],
      [turn, `turn the knobs to ${name}`],
      [remove, `remove ${name}`],
    ])) {
      setIfChanged(button, "title", label);
      setIfChanged(button, "aria-label", label);
    }
    setIfChanged(field, "aria-label", `name of ${name}`);
    setIfChanged(field, "data-name", name);
    if (field instanceof HTMLInputElement && field.value !== name && focusedBeside(field) !== field) field.value = name;
  }

  /** Where the focus is: [row, place in its first cell], or null. */
  focusPlace() {
    const focused = focusedBeside(this.box);
    const cell = focused?.parentElement;
    const row = [...this.body.children].findIndex((el) => el.children[0] === cell);
    return cell && focused && row >= 0 ? [row, [...cell.children].indexOf(focused)] : null;
  }

  /**
   * The row that had the focus was removed: on to the next pin, to the last one, or to the table.
   * @param {number[]} place  as of `focusPlace`
   */
  focusNear([row, place]) {
    const cells = [...this.body.children].map((el) => el.children[0]);
    const isPin = (/** @type {Element} */ cell) => cell.children.length > 1;
    const cell = cells.slice(row).find(isPin) ?? cells.findLast(isPin);
    const next = cell?.children[place] ?? this.box;
    if (next instanceof HTMLElement) next.focus();
  }
}
