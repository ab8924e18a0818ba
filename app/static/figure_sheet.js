// Cards, a table and figures that follow the knobs, drawn from one message. Elements stay in the page and are drawn
// again; none is mounted anew. On the Lessons page it is mounted alone.
import { writeTable } from "./figures/comparison_table.js";
import { FigureCard } from "./figures/figure_card.js";
import { writeCards } from "./figures/result_cards.js";
import { scrollToContainer } from "./figures/scroll_to_result.js";
import { mountOnce } from "./page/component.js";
import { addElement, setIfChanged } from "./page/dom.js";
import { FrameScheduler } from "./page/frame_scheduler.js";

/** @import { Common, MountArguments, Palette, Part, PartHost, SheetUpdate } from "./messages.js" */

/** @implements {Part<SheetUpdate>} */
class FigureSheet {
  /**
   * @param {PartHost} host
   * @param {SheetUpdate} message
   */
  constructor(host, message) {
    /** @type {Palette} */
    this.palette = {};
    /** @type {(name: string, value: unknown) => void} */
    this.setState = () => {};
    this.send = () => false;
    this.message = message;
    this.picked = "";
    this.picks = 0;
    this.updates = 0; // drawings so far; tests read it
    this.font = "";
    this.box = addElement("section", "figure-sheet", host);
    this.cards = addElement("div", "cards", this.box);
    this.table = addElement("div", "table", this.box);
    this.grid = addElement("div", "grid", this.box);
    /** @type {FigureCard[]} */
    this.figures = [];
    this.redraw = new FrameScheduler(() => {
      if (this.box.isConnected) this.draw();
    });
    new ResizeObserver(() => this.redraw.request()).observe(this.box);
  }

  /**
   * A bin or cell was picked: tell Python, and scroll to what it answers.
   * @param {string} name  "figure/target"
   */
  pick(name) {
    this.picked = name;
    this.redraw.request();
    this.picks += 1;
    this.setState("pick", this.message.count_picks ? `${name}#${this.picks}` : name);
    if (this.message.reveal) scrollToContainer(this.message.reveal, () => this.box.isConnected);
  }

  /** @param {Common & SheetUpdate} message */
  update(message) {
    this.message = message;
    this.picked = message.picked;
    this.redraw.request();
  }

  /** Draw the newest message. */
  draw() {
    const { message, box, figures } = this;
    setIfChanged(box, "aria-label", message.label);
    writeCards(this.cards, message.cards);
    writeTable(this.table, message.table);
    while (figures.length < message.figures.length) figures.push(new FigureCard(this, this.grid));
    while (figures.length > message.figures.length) figures.pop()?.box.remove();
    this.font ||= getComputedStyle(box).fontFamily; // reading it costs a style of the whole page
    message.figures.forEach((spec, i) => figures[i].update(spec));
    for (const figure of figures) {
      if (figure.inView) figure.draw(this.palette, this.font);
      else figure.stale = true;
    }
    this.updates += 1;
    box.dataset.updates = String(this.updates);
    box.dataset.seq = String(message.seq);
  }
}

/**
 * The Streamlit component.
 * @param {MountArguments<Common & SheetUpdate>} component
 */
export default (component) =>
  mountOnce(component, "figure_sheet.css", (host, message) => new FigureSheet(host, message));
