// On a large screen: further panels beside the open one, each with its name, figure and sentence.
import { addElement, keepChildren, setIfChanged } from "../page/dom.js";
import { Painter } from "../plot/painter.js";

/** @import { DisplayConstants, Palette, PanelUpdate } from "../messages.js" */

const WIDE_PX = 1200; // of the display: three figures beside one another are readable

/**
 * Whether there is room for them.
 * @param {number} width  of the display, px
 */
export function isWide(width) {
  return width >= WIDE_PX;
}

/** The panels beside the open one. */
export class SidePanels {
  /**
   * @param {HTMLElement} box
   * @param {DisplayConstants} constants
   */
  constructor(box, constants) {
    this.box = box;
    this.names = new Map(constants.panels.map(({ id, label, help }) => [id, { label, help }]));
    /** @type {WeakMap<Element, Painter>} */
    this.painters = new WeakMap();
  }

  /**
   * @param {PanelUpdate[]} panels  none on a small screen
   * @param {Palette} palette
   * @param {string} font
   */
  draw(panels, palette, font) {
    setIfChanged(this.box, "hidden", !panels.length);
    keepChildren(this.box, panels.length, () => this.build());
    panels.forEach(({ id, note, figure }, i) => {
      const [name, canvas, sentence] = this.box.children[i].children;
      const { label = "", help = "" } = this.names.get(id) ?? {};
      setIfChanged(name, "text", label);
      setIfChanged(canvas, "aria-label", help);
      setIfChanged(sentence, "text", note);
      if (figure) this.painters.get(canvas)?.draw(figure, palette, font);
    });
  }

  /** Add one of them, empty. */
  build() {
    const figure = addElement("figure", "panel side-panel", this.box);
    addElement("figcaption", "", figure);
    const canvas = addElement("canvas", "trace", figure);
    canvas.setAttribute("role", "img");
    addElement("p", "note", figure);
    this.painters.set(canvas, new Painter(canvas));
  }
}
