// A wall of small pictures to choose from: one radio group, arrows move, the choice is sent when it is made.
import { once } from "./look.js";

class Gallery {
  constructor(host, data) {
    this.box = document.createElement("div");
    this.box.className = "gallery";
    this.box.setAttribute("role", "radiogroup");
    this.box.setAttribute("aria-label", "image");
    host.appendChild(this.box);
  }

  adopt(data) {
    const { box } = this;
    const { sprite, columns, rows, items, chosen } = data;
    const id = items.map((i) => i.id).join();
    if (box.dataset.id !== id) {
      box.dataset.id = id;
      box.replaceChildren();
      for (const item of items) {
        const b = document.createElement("button");
        b.type = "button";
        b.setAttribute("role", "radio");
        b.title = item.label;
        b.setAttribute("aria-label", item.label);
        const [x, y] = [item.cell % columns, Math.floor(item.cell / columns)];
        b.style.backgroundImage = `url(${sprite})`;
        b.style.backgroundSize = `${columns * 100}% ${rows * 100}%`;
        b.style.backgroundPosition = `${columns > 1 ? (100 * x) / (columns - 1) : 0}% ${rows > 1 ? (100 * y) / (rows - 1) : 0}%`;
        b.classList.toggle("ready", item.ready);
        b.dataset.id = item.id;
        b.onclick = () => this.emit("picked", item.id);
        b.onkeydown = (e) => {
          const step = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: 10, ArrowUp: -10 }[e.key];
          if (!step) return;
          e.preventDefault();
          const all = [...box.children];
          all[Math.min(all.length - 1, Math.max(0, all.indexOf(b) + step))].focus();
        };
        box.appendChild(b);
      }
    }
    for (const b of box.children) b.setAttribute("aria-checked", String(Number(b.dataset.id) === chosen));
  }
}

export default (component) => once(component, "gallery.css", (host, data) => new Gallery(host, data));
