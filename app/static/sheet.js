// Cards and figures that follow a hand, drawn from one message. Nothing is remounted: nodes stay, canvases are repainted.
// A figure's targets (bins, cells) may be picked: pointer, or Tab to the figure, arrows to move, Enter to pick.
import { once, put } from "./look.js";
import { Painter } from "./painter.js";

const element = (tag, className, parent, text) => {
  const el = document.createElement(tag);
  if (className) el.className = className;
  if (text !== undefined) el.textContent = text;
  parent.appendChild(el);
  return el;
};

/** Write only what changed: a text node that is rewritten would be read out again. */
const say = (el, text) => put(el, "text", text);

/** The cells of a grid {ids, names, columns, text}, row by row from the top: what may be picked, and what is written in it. */
const cells = ({ ids, names, columns, text }) =>
  ids.flatMap((id, row) =>
    columns.map((column, x) => {
      const y = ids.length - 1 - row, value = text[row * columns.length + x];
      return { id: `${id}.${column}`, label: `${names[row]} ${column}: ${value}`, x: [x - 0.5, x + 0.5], y: [y - 0.42, y + 0.42], row, value };
    }),
  );

class Figure {
  constructor(sheet, parent) {
    this.sheet = sheet;
    const box = (this.box = element("figure", "", parent));
    box.innerHTML = `<figcaption><span class="title"></span><span class="legend"></span><span class="at" aria-live="polite"></span></figcaption>
      <canvas role="img"></canvas><p class="note"></p>`;
    this.canvas = box.querySelector("canvas");
    this.painter = new Painter(this.canvas);
    [this.title, this.at, this.note] = [".title", ".at", ".note"].map((part) => box.querySelector(part));
    this.pointed = null;
    this.inView = true;
    this.stale = true;
    // What is scrolled out of sight is not painted while a hand turns; it is when it comes into sight.
    new IntersectionObserver((entries) => {
      this.inView = entries[entries.length - 1].isIntersecting;
      if (this.inView && this.stale) sheet.schedule();
    }, { rootMargin: "80px" }).observe(box);
    this.canvas.onpointermove = (e) => this.point(this.hit(e));
    this.canvas.onpointerleave = () => this.point(null);
    this.canvas.onblur = () => this.point(null);
    this.canvas.onclick = (e) => this.pick(this.hit(e));
    this.canvas.onkeydown = (e) => this.key(e);
  }

  adopt(spec) {
    this.spec = spec;
    this.targets = spec.grid ? cells(spec.grid) : (spec.targets ?? []);
    const pickable = this.targets.length > 0;
    put(this.box, "data-figure", spec.id);
    put(this.box, "data-span", spec.span ?? 12);
    put(this.canvas, "style", `height: ${spec.height ?? 260}px`);
    put(this.canvas, "aria-label", spec.alt);
    put(this.canvas, "tabIndex", pickable ? 0 : -1);
    put(this.canvas, "class", pickable ? "pickable" : "");
    say(this.title, spec.title);
    say(this.note, spec.note ?? "");
    const legend = this.box.querySelector(".legend");
    const key = JSON.stringify(spec.legend ?? []);
    if (legend.dataset.key !== key) {
      legend.dataset.key = key;
      legend.replaceChildren();
      for (const [kind, name, text] of spec.legend ?? []) element("i", kind, legend, text).style.setProperty("--mark", `var(--${name})`);
    }
  }

  draw(palette, font) {
    this.stale = false;
    this.painter.draw(this.spec.figure, palette, font);
    if (!this.painter.axes) return;
    if (this.spec.grid) this.texts(font);
    const prefix = `${this.spec.id}/`;
    const picked = this.sheet.picked.startsWith(prefix) && this.targets.find((t) => prefix + t.id === this.sheet.picked);
    if (picked) this.outline(picked, palette.text, 2.5);
    const pointed = this.pointed !== null && this.targets.find((t) => t.id === this.pointed);
    if (pointed) {
      this.outline(pointed, palette.focus, 2);
      say(this.at, pointed.label);
    }
  }

  /** What is written in a grid's cells, where it fits. */
  texts(font) {
    const { context: c, axes: { x, y } } = this.painter;
    const room = Math.abs(x.map(1) - x.map(0)) - 2;
    Object.assign(c, { font: `11px ${font}`, textAlign: "center", textBaseline: "middle", fillStyle: this.painter.colour("text") });
    for (const t of this.targets)
      if (c.measureText(t.value).width <= room) c.fillText(t.value, x.map((t.x[0] + t.x[1]) / 2), y.map((t.y[0] + t.y[1]) / 2));
  }

  frame(t) {
    const { x, y } = this.painter.axes;
    const [x0, x1] = t.x.map(x.map), [y0, y1] = t.y.map(y.map);
    return [Math.min(x0, x1), Math.min(y0, y1), Math.abs(x1 - x0), Math.abs(y1 - y0)];
  }

  outline(t, colour, width) {
    const { context: c } = this.painter;
    c.strokeStyle = colour;
    c.lineWidth = width;
    c.strokeRect(...this.frame(t));
  }

  hit(e) {
    if (!this.painter.axes) return null;
    const { left, top } = this.canvas.getBoundingClientRect();
    const [px, py] = [e.clientX - left, e.clientY - top];
    const found = this.targets.find((t) => {
      const [x, y, w, h] = this.frame(t);
      return px >= x && px < x + w && py >= y && py < y + h;
    });
    return found ? found.id : null;
  }

  point(id) {
    if (id === this.pointed) return;
    this.pointed = id;
    if (id === null) say(this.at, "");
    this.sheet.schedule();
  }

  pick(id) {
    if (id !== null) this.sheet.pick(`${this.spec.id}/${id}`);
  }

  key(e) {
    const own = this.targets;
    if (!own.length) return;
    const here = own.findIndex((t) => t.id === this.pointed);
    if (e.key === "Enter" || e.key === " ") {
      e.preventDefault();
      this.pick(this.pointed);
      return;
    }
    if (e.key === "Escape") return void this.point(null);
    const [dx, dy] = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] }[e.key] ?? [0, 0];
    if (!dx && !dy) return;
    e.preventDefault();
    if (here < 0) return void this.point(own[0].id);
    let next = here + dx;
    if (dy) {
      const row = own[here].row + dy;
      const place = here - own.findIndex((t) => t.row === own[here].row);
      const others = own.filter((t) => t.row === row);
      next = others.length ? own.indexOf(others[Math.min(place, others.length - 1)]) : here;
    }
    this.point(own[Math.min(own.length - 1, Math.max(0, next))].id);
  }
}

class Sheet {
  constructor(host) {
    this.updates = 0;
    this.picked = "";
    this.box = element("section", "sheet", host);
    this.cards = element("div", "cards", this.box);
    this.tableBox = element("div", "table", this.box);
    this.grid = element("div", "grid", this.box);
    this.figures = [];
    new ResizeObserver(() => this.schedule()).observe(this.box);
  }

  pick(name) {
    this.picked = name;
    this.schedule();
    this.emit("pick", name);
    if (this.message.reveal) this.reveal(this.message.reveal, 150);
  }

  /** What a pick brings may lie below the window: go there once it has come. */
  reveal(key, tries) {
    const found = document.querySelector(`.st-key-${key}`);
    if (found) this.follow(found);
    else if (tries && this.box.isConnected) setTimeout(() => this.reveal(key, tries - 1), 100);
  }

  /** Keep something in sight while it grows, until the visitor looks elsewhere. */
  follow(found) {
    this.grown?.disconnect();
    const grown = (this.grown = new ResizeObserver(() => found.scrollIntoView({ block: "center" })));
    grown.observe(found);
    const enough = () => grown.disconnect();
    for (const hand of ["wheel", "pointerdown", "keydown"]) document.addEventListener(hand, enough, { once: true, passive: true });
    setTimeout(enough, 20000);
  }

  adopt(data) {
    this.message = data;
    this.picked = data.picked;
    this.schedule();
  }

  /** Latest wins: many messages, one drawing a frame. */
  schedule() {
    if (this.asked || !this.message) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      if (this.box.isConnected) this.draw();
    });
  }

  draw() {
    const { message: m, box } = this;
    put(box, "aria-label", m.label);
    this.readouts(m.cards);
    this.table(m.table);
    while (this.figures.length < m.figures.length) this.figures.push(new Figure(this, this.grid));
    while (this.figures.length > m.figures.length) this.figures.pop().box.remove();
    const font = (this.font ??= getComputedStyle(box).fontFamily); // asking for it costs a style of the whole page
    m.figures.forEach((spec, i) => this.figures[i].adopt(spec));
    for (const figure of this.figures) {
      if (figure.inView) figure.draw(this.palette, font);
      else figure.stale = true;
    }
    this.updates += 1;
    box.dataset.updates = this.updates;
    box.dataset.seq = m.seq;
  }

  readouts(list) {
    this.cards.hidden = !list.length;
    while (this.cards.children.length > list.length) this.cards.lastChild.remove();
    while (this.cards.children.length < list.length) {
      const card = element("div", "card", this.cards);
      element("span", "label", card);
      element("strong", "", card);
      element("span", "rest", card);
    }
    list.forEach((r, i) => {
      const card = this.cards.children[i];
      put(card, "data-id", r.id);
      put(card, "data-mood", r.mood ?? "");
      put(card, "title", r.help);
      say(card.children[0], r.label);
      say(card.children[1], r.now);
      const rest = card.children[2];
      while (rest.children.length > r.rest.length) rest.lastChild.remove();
      r.rest.forEach(([name, value], j) => {
        const pair = rest.children[j] ?? element("span", "", rest);
        if (!pair.children.length) { element("i", "", pair); element("b", "", pair); }
        put(pair, "data-name", name);
        say(pair.children[0], `${name} `);
        say(pair.children[1], value);
      });
    });
  }

  /** {caption, head: [[text, help]], rows: [{name, help, cells: []}]}: the first row is what stands now. */
  table(t) {
    this.tableBox.hidden = !t;
    if (!t) return;
    const shape = JSON.stringify([t.caption, t.head, t.rows.map((r) => [r.name, r.help])]);
    if (this.tableBox.dataset.shape !== shape) {
      this.tableBox.dataset.shape = shape;
      this.tableBox.replaceChildren();
      const table = element("table", "", this.tableBox);
      element("caption", "", table, t.caption);
      const head = element("tr", "", element("thead", "", table));
      for (const [text, help] of t.head) Object.assign(element("th", "", head, text), { title: help, scope: "col" });
      const body = element("tbody", "", table);
      for (const r of t.rows) {
        const tr = element("tr", "", body);
        tr.dataset.row = r.name;
        Object.assign(element("th", "", tr, r.name), { title: r.help, scope: "row" });
        r.cells.forEach(() => element("td", "", tr));
      }
    }
    const body = this.tableBox.querySelector("tbody");
    t.rows.forEach((r, i) => r.cells.forEach((text, j) => say(body.children[i].children[j + 1], text)));
  }
}

export default (component) => once(component, "sheet.css", (host) => new Sheet(host));
