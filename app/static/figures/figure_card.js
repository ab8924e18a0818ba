// One figure with its title, legend and note; parts of it (bins, cells) can be picked by pointer or keyboard.
import { addElement, find, setIfChanged } from "../page/dom.js";
import { Painter } from "../plot/painter.js";
import { cellTargets, pixelBox, targetAfterKey, targetAt } from "./targets.js";

/** @import { FigureSpec, Palette, Target } from "../messages.js" */

/**
 * What a figure needs of the sheet it is on.
 * @typedef {object} SheetHost
 * @property {string} picked  "figure/target"
 * @property {(name: string) => void} pick
 * @property {{ request: () => void }} redraw
 */

/** A figure that is kept and drawn again. */
export class FigureCard {
  /**
   * @param {SheetHost} sheet
   * @param {Element} parent
   */
  constructor(sheet, parent) {
    this.sheet = sheet;
    this.box = addElement("figure", "", parent);
    this.box.innerHTML = `
      <figcaption>
        <span class="title"></span>
        <span class="legend"></span>
        <span class="at" aria-live="polite"></span>
      </figcaption>
      <canvas></canvas>
      <p class="note"></p>`;
    const part = (/** @type {string} */ selector) => find(this.box, selector, HTMLElement);
    this.parts = { title: part(".title"), legend: part(".legend"), pointedAt: part(".at"), note: part(".note") };
    this.canvas = find(this.box, "canvas", HTMLCanvasElement);
    this.painter = new Painter(this.canvas);
    /** @type {FigureSpec | null} */
    this.spec = null;
    /** @type {Target[]} */
    this.targets = [];
    /** @type {string | null} id of the target under the pointer or chosen by keys */
    this.pointed = null;
    this.inView = true;
    this.stale = true; // not drawn since its last message
    this.watchVisibility();
    this.listen();
  }

  /** While a knob turns, a figure that is scrolled out of sight is not drawn; it is when it comes into sight. */
  watchVisibility() {
    const observer = new IntersectionObserver(
      (entries) => {
        this.inView = entries[entries.length - 1].isIntersecting;
        if (this.inView && this.stale) this.sheet.redraw.request();
      },
      { rootMargin: "80px" },
    );
    observer.observe(this.box);
  }

  /** Pointer and keys. */
  listen() {
    const { canvas } = this;
    canvas.onpointermove = (event) => this.point(this.targetUnder(event));
    canvas.onpointerleave = canvas.onblur = () => this.point(null);
    canvas.onclick = (event) => this.pick(this.targetUnder(event));
    canvas.onkeydown = (event) => this.key(event);
  }

  /**
   * Title, legend, note and targets of a newer message; `draw` draws the figure.
   * @param {FigureSpec} spec
   */
  update(spec) {
    this.spec = spec;
    this.targets = spec.grid ? cellTargets(spec.grid) : (spec.targets ?? []);
    const pickable = this.targets.length > 0;
    setIfChanged(this.box, "data-figure", spec.id);
    setIfChanged(this.box, "data-span", spec.span);
    setIfChanged(this.canvas, "style", `height: ${spec.height}px`);
    setIfChanged(this.canvas, "aria-label", spec.alt);
    setIfChanged(this.canvas, "tabIndex", pickable ? 0 : -1);
    setIfChanged(this.canvas, "role", pickable ? "application" : "img"); // a screen reader keeps keys from an image
    setIfChanged(this.canvas, "aria-roledescription", "chart");
    setIfChanged(this.canvas, "class", pickable ? "pickable" : "");
    setIfChanged(this.parts.title, "text", spec.title);
    setIfChanged(this.parts.note, "text", spec.note);
    this.writeLegend(spec.legend ?? []);
  }

  /** @param {[string, string, string][]} entries  kind of mark, colour, text */
  writeLegend(entries) {
    const { legend } = this.parts;
    const key = JSON.stringify(entries);
    if (legend.dataset.key === key) return;
    legend.dataset.key = key;
    legend.replaceChildren();
    for (const [kind, colour, text] of entries)
      addElement("i", kind, legend, text).style.setProperty("--mark", `var(--${colour})`);
  }

  /**
   * @param {Palette} palette
   * @param {string} font  CSS font family
   */
  draw(palette, font) {
    const { spec, painter, targets } = this;
    if (!spec) return;
    this.stale = false;
    painter.draw(spec.figure, palette, font);
    if (!painter.axes) return;
    if (spec.grid && !spec.grid.dense) this.writeCells(palette, font);
    const picked = this.pickedTarget();
    if (picked) this.outline(picked, palette.text, 2.5);
    const pointed = targets.find((target) => target.id === this.pointed);
    if (pointed) {
      this.outline(pointed, palette.focus, 2);
      setIfChanged(this.parts.pointedAt, "text", pointed.label);
    }
  }

  /**
   * The numbers in a heat map's cells, where they fit.
   * @param {Palette} palette
   * @param {string} font
   */
  writeCells(palette, font) {
    const { context: c, axes } = this.painter;
    if (!axes || !this.spec?.grid) return;
    const { x, y } = axes;
    const room = Math.abs(x.toPixel(1) - x.toPixel(0)) - 2;
    c.font = `11px ${font}`;
    c.textAlign = "center";
    c.textBaseline = "middle";
    c.fillStyle = palette.text;
    const { text } = this.spec.grid;
    this.targets.forEach((target, i) => {
      const [[x0, x1], [y0, y1]] = [target.x, target.y];
      if (c.measureText(text[i]).width <= room) c.fillText(text[i], x.toPixel((x0 + x1) / 2), y.toPixel((y0 + y1) / 2));
    });
  }

  /**
   * @param {Target} target
   * @param {string} colour
   * @param {number} width
   */
  outline(target, colour, width) {
    const { context: c, axes } = this.painter;
    if (!axes) return;
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.strokeRect(...pixelBox(target, axes));
  }

  /**
   * The id of the target under the pointer, or null.
   * @param {MouseEvent} event
   */
  targetUnder(event) {
    const { axes } = this.painter;
    if (!axes) return null;
    const { left, top } = this.canvas.getBoundingClientRect();
    return targetAt(this.targets, axes, event.clientX - left, event.clientY - top)?.id ?? null;
  }

  /** The target that was picked last, where it is one of this figure's. */
  pickedTarget() {
    return this.targets.find((target) => `${this.spec?.id}/${target.id}` === this.sheet.picked);
  }

  /** @param {string | null} id */
  point(id) {
    if (id === this.pointed) return;
    this.pointed = id;
    if (id === null) setIfChanged(this.parts.pointedAt, "text", "");
    this.sheet.redraw.request();
  }

  /** @param {string | null} id */
  pick(id) {
    if (id !== null && this.spec) this.sheet.pick(`${this.spec.id}/${id}`);
  }

  /**
   * Arrows point, Enter and space pick, Escape points at nothing.
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (!this.targets.length) return;
    if (event.key === "Escape") {
      this.point(null);
      return;
    }
    const picks = event.key === "Enter" || event.key === " ";
    const here = this.pointed ?? this.pickedTarget()?.id ?? null;
    const next = picks ? this.pointed : targetAfterKey(this.targets, here, event.key);
    if (!picks && next === null) return;
    event.preventDefault();
    if (picks) this.pick(next);
    else this.point(next);
  }
}
