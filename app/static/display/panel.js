// The panel below the scope: tabs, a figure or the spring, a small table and a sentence.
import { addButton, addElement, find, focusedBeside, setIfChanged } from "../page/dom.js";
import { Painter } from "../plot/painter.js";
import { CompareTable } from "./compare_table.js";
import { SpringAnimation } from "./spring_animation.js";

/** @import { DisplayConstants, PanelUpdate, ViewRequest } from "../messages.js" */
/** @import { CompareHost } from "./compare_table.js" */
/** @import { SpringHost } from "./spring_animation.js" */

/**
 * What the panel needs of the display.
 * @typedef {SpringHost & CompareHost & { changeView: (change: Partial<ViewRequest>) => void }} PanelHost
 */

/** One of Step, Bode, Poles, Reliability, Spring and Compare. */
export class Panel {
  /**
   * @param {HTMLElement} box
   * @param {DisplayConstants} constants
   * @param {PanelHost} host
   */
  constructor(box, constants, host) {
    this.box = box;
    this.host = host;
    this.tabs = find(box, ".tabs", HTMLElement);
    this.note = find(box, ".note", HTMLElement);
    this.side = find(box, ".side", HTMLElement);
    this.tableShape = "";
    this.canvas = find(box, "canvas", HTMLCanvasElement);
    this.painter = new Painter(this.canvas);
    this.spring = new SpringAnimation(this.painter, host);
    this.compare = new CompareTable(find(box, ".compare", HTMLElement), constants.limits.name, host);
    const options = find(box, ".axis-options", HTMLElement);
    for (const { id, label, help } of constants.panels) this.addTab(id, label, help);
    this.unit = this.addUnitMenu(options, constants.units);
    this.temperature = this.addTemperature(options, constants.limits.temperature);
    this.frameRate = this.addFrameRateField(options, constants.limits.frame_rate);
  }

  /**
   * @param {string} id
   * @param {string} label
   * @param {string} help
   */
  addTab(id, label, help) {
    const tab = addButton(this.tabs, label, help, () => this.host.changeView({ panel: id }));
    tab.dataset.panel = id;
    tab.setAttribute("role", "tab");
    tab.onkeydown = ({ key }) => {
      const step = key === "ArrowRight" ? 1 : key === "ArrowLeft" ? -1 : 0;
      if (!step) return;
      const all = [...this.tabs.querySelectorAll("button")];
      const next = all[(all.indexOf(tab) + step + all.length) % all.length];
      next.focus();
      next.click();
    };
  }

  /**
   * @param {Element} parent
   * @param {string[]} units
   */
  addUnitMenu(parent, units) {
    const menu = addElement("select", "", parent);
    menu.setAttribute("aria-label", "frequency unit");
    menu.title = "The unit of the frequency axis; Hz needs the frame rate";
    for (const unit of units) menu.add(new Option(unit, unit));
    menu.onchange = () => this.host.changeView({ unit: menu.value });
    return menu;
  }

  /**
   * A field for a number of the view, which is sent when it is within its limits.
   * @param {Element} label
   * @param {"frame_rate" | "temperature"} name
   * @param {[number, number]} limits
   */
  addNumberField(label, name, [min, max]) {
    const field = addElement("input", "", label);
    field.type = "number";
    Object.assign(field, { min, max, step: "any" });
    field.onchange = () => {
      const value = Number(field.value);
      if (value >= min && value <= max) this.host.changeView({ [name]: value });
      else field.value = String(this.host.view[name]);
    };
    return field;
  }

  /**
   * @param {Element} parent
   * @param {[number, number]} limits
   */
  addFrameRateField(parent, limits) {
    const label = addElement("label", "", parent);
    const field = this.addNumberField(label, "frame_rate", limits);
    field.setAttribute("aria-label", "frame rate");
    label.append(" frames/s");
    label.title = "Frames a second of your camera: turns frames into seconds and cycles/frame into Hz";
    return field;
  }

  /**
   * A field for the temperature, and a button that fits it to the stream's labels.
   * @param {Element} parent
   * @param {[number, number]} limits
   */
  addTemperature(parent, limits) {
    const group = addElement("span", "temperature", parent);
    const label = addElement("label", "", group, "temperature ");
    label.title = "The answer is softmax(z / temperature): above 1 more modest, below 1 surer; no answer changes";
    const field = this.addNumberField(label, "temperature", limits);
    const help = "Find the temperature with the best likelihood over this stream's labels";
    addButton(group, "fit", help, () => this.host.order({ act: "fit" }));
    return { group, field };
  }

  /** @param {PanelUpdate} message */
  draw(message) {
    const { view, palette, font } = this.host;
    for (const tab of this.tabs.querySelectorAll("button")) {
      const open = tab.dataset.panel === message.id;
      setIfChanged(tab, "aria-selected", String(open));
      setIfChanged(tab, "tabIndex", open ? 0 : -1);
      if (open) setIfChanged(this.canvas, "aria-label", tab.title);
    }
    setIfChanged(this.unit, "hidden", message.id !== "bode");
    setIfChanged(this.temperature.group, "hidden", !message.temperature);
    if (this.unit.value !== view.unit) this.unit.value = view.unit;
    const typed = focusedBeside(this.box);
    for (const [field, value] of /** @type {const} */ ([
      [this.frameRate, view.frame_rate],
      [this.temperature.field, view.temperature],
    ]))
      if (typed !== field && field.value !== String(value)) field.value = String(value);
    setIfChanged(this.note, "text", message.note);
    this.writeTable(message.numbers);
    this.compare.draw(message.compare ?? null);
    setIfChanged(this.canvas, "hidden", message.compare !== undefined);
    this.spring.show(message.spring ?? null);
    if (message.figure) this.painter.draw(message.figure, palette, font);
  }

  /**
   * The table beside the figure; its first row and its first column are headings.
   * @param {string[][]} rows
   */
  writeTable(rows) {
    const { side } = this;
    setIfChanged(side, "hidden", !rows.length);
    const heading = (/** @type {string} */ text, /** @type {number} */ i, /** @type {number} */ j) =>
      (i === 0 || j === 0) && text !== ""; // an empty cell is no heading
    const shape = rows.map((cells, i) => cells.map((text, j) => Number(heading(text, i, j))).join("")).join();
    if (this.tableShape !== shape) {
      this.tableShape = shape;
      side.replaceChildren();
      const table = addElement("table", "", side);
      rows.forEach((cells, i) => {
        const row = addElement("tr", "", table);
        cells.forEach((text, j) => addElement(heading(text, i, j) ? "th" : "td", "", row));
      });
    }
    const cells = side.querySelectorAll("th, td");
    rows.flat().forEach((text, i) => setIfChanged(cells[i], "text", text));
  }
}
