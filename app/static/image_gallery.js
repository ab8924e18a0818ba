// Small pictures to choose from, as one radio group: arrow keys move the focus, a click or Enter chooses.
import { mountOnce } from "./page/component.js";
import { addButton, setIfChanged } from "./page/dom.js";
import { showSpriteCell } from "./page/sprite.js";

/** @import { Common, GalleryMessage, MountArguments, Palette, Part, PartHost } from "./messages.js" */

/** @type {Record<string, number>} there are ten pictures in a row */
const KEY_STEPS = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10 };

/** @implements {Part<GalleryMessage>} */
export class ImageGallery {
  /** @param {PartHost} host */
  constructor(host) {
    /** @type {Palette} */
    this.palette = {};
    /** @type {(name: string, value: unknown) => void} */
    this.setState = () => {};
    /** @type {(name: string, value: unknown) => void} */
    this.setTrigger = () => {};
    this.send = () => false;
    this.shown = "";
    /** @type {{ id: number, button: HTMLButtonElement }[]} */
    this.buttons = [];
    this.box = document.createElement("div");
    this.box.className = "gallery";
    this.box.setAttribute("role", "radiogroup");
    this.box.setAttribute("aria-label", "image");
    host.appendChild(this.box);
  }

  /** @param {Common & GalleryMessage} message */
  update(message) {
    const ids = message.items.map((item) => item.id).join();
    if (this.shown !== ids) {
      this.shown = ids;
      this.box.replaceChildren();
      this.buttons = message.items.map((item) => ({ id: item.id, button: this.addPicture(item, message) }));
    }
    const chosen = this.buttons.find(({ id }) => id === message.chosen);
    const reached = chosen ?? this.buttons[0]; // by Tab; the arrow keys reach the others
    for (const entry of this.buttons) {
      setIfChanged(entry.button, "aria-checked", String(entry === chosen));
      setIfChanged(entry.button, "tabIndex", entry === reached ? 0 : -1);
    }
  }

  /**
   * @param {GalleryMessage["items"][number]} item
   * @param {GalleryMessage} sprite
   */
  addPicture(item, { sprite, columns, rows }) {
    const button = addButton(this.box, "", item.label, () => this.setTrigger("picked", item.id));
    button.setAttribute("role", "radio");
    button.setAttribute("aria-label", item.label);
    button.classList.toggle("ready", item.ready);
    button.dataset.id = String(item.id);
    showSpriteCell(button, sprite, item.cell, columns, rows);
    button.onkeydown = (event) => {
      const step = KEY_STEPS[event.key];
      if (!step) return;
      event.preventDefault();
      const here = this.buttons.findIndex((entry) => entry.button === button);
      this.buttons[Math.min(this.buttons.length - 1, Math.max(0, here + step))].button.focus();
    };
    return button;
  }
}

/**
 * The Streamlit component.
 * @param {MountArguments<Common & GalleryMessage>} component
 */
export default (component) => mountOnce(component, "image_gallery.css", (host) => new ImageGallery(host));
