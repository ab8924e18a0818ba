// What moves with the hand: read-outs, scope, film strip and the open panel, all drawn from one message.
// The part of a stream that no knob changes (the tape) comes once, by tape.js; the message names it.
import { once, put } from "./look.js";
import { Painter, numbers } from "./painter.js";
import { drawSpring } from "./spring.js";

const tapes = (globalThis.__knobTapes ??= new Map());
const FRAME_MS = 33; // the spring's own pace; it must leave the main thread to the knobs

const element = (tag, className, parent, text) => {
  const el = document.createElement(tag);
  if (className) el.className = className;
  if (text !== undefined) el.textContent = text;
  parent.appendChild(el);
  return el;
};

class Board {
  constructor(host, data) {
    this.view = { ...data.view };
    this.cursor = null;
    this.updates = 0;
    const box = (this.box = document.createElement("section"));
    box.className = "board";
    box.innerHTML = `<div class="readouts" role="group" aria-label="read-outs"></div>
      <figure class="scope"><figcaption><span class="title"></span><span class="legend"></span><span class="at" aria-live="off" title="Medians over the paths; the answer is the first path's, whose frames the film strip shows"></span>
        <button type="button" class="link" title="Copy a link that holds the whole setting">link</button><button type="button" class="png" title="Save scope and panel as a picture">PNG</button></figcaption>
        <div class="plot"><canvas class="trace" tabindex="0" role="img" aria-label="scope"></canvas><div class="hair" hidden></div></div>
        <div class="strip" title="The first path's frames, and what the model takes them for; a wrong answer is red and crossed"><span class="said"></span><div class="film" role="group" aria-label="film strip"></div></div></figure>
      <figure class="panel"><figcaption><div class="tabs" role="tablist" aria-label="panel"></div><span class="controls"></span></figcaption>
        <div class="body"><canvas class="trace" role="img" aria-label="panel"></canvas><div class="side"></div></div><p class="note"></p></figure>`;
    host.appendChild(box);
    const find = (q) => box.querySelector(q);
    this.scope = new Painter(find(".scope canvas"));
    this.panel = new Painter(find(".panel canvas"));
    this.hair = find(".hair");
    find(".png").onclick = () => this.save();
    find(".link").onclick = (e) => this.copy(e.currentTarget);
    this.listen(find(".scope canvas"));
    new ResizeObserver(() => this.schedule()).observe(box);
    globalThis.addEventListener("knob:tape", () => this.box.isConnected && this.schedule());
    this.tabs(data.constants);
  }

  tabs(spec) {
    const bar = this.box.querySelector(".tabs");
    for (const tab of spec.panels) {
      const b = element("button", "", bar, tab.label);
      b.type = "button";
      b.title = tab.help;
      b.dataset.panel = tab.id;
      b.setAttribute("role", "tab");
      b.onclick = () => this.look({ panel: tab.id });
      b.onkeydown = (e) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
        if (!step) return;
        const all = [...bar.children];
        const next = all[(all.indexOf(b) + step + all.length) % all.length];
        next.focus();
        next.click();
      };
    }
    const controls = this.box.querySelector(".controls");
    this.unit = element("select", "", controls);
    this.unit.setAttribute("aria-label", "frequency unit");
    this.unit.title = "The unit of the frequency axis; Hz needs the frame rate";
    for (const unit of spec.units) this.unit.add(new Option(unit, unit));
    this.unit.onchange = () => this.look({ unit: this.unit.value });
    const label = element("label", "", controls);
    this.fps = element("input", "", label);
    this.fps.type = "number";
    Object.assign(this.fps, { min: 0.1, max: 1000, step: "any" });
    this.fps.setAttribute("aria-label", "frame rate");
    label.append(" frames/s");
    label.title = "Frames a second of your camera: turns frames into seconds and cycles/frame into Hz";
    this.fps.onchange = () => {
      const fps = Number(this.fps.value);
      if (fps >= 0.1 && fps <= 1000) this.look({ frame_rate: fps });
      else this.fps.value = this.view.frame_rate;
    };
  }

  look(what) {
    Object.assign(this.view, what, { seq: (this.view.seq ?? 0) + 1 });
    this.tell({ view: { ...this.view } });
    this.emit("view", { ...this.view });
  }

  adopt(data) {
    this.message = data;
    if (data.view.epoch !== this.view.epoch) this.view = { ...data.view };
    this.schedule();
  }

  /** Latest wins: many messages, one drawing a frame. */
  schedule() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => {
      this.asked = false;
      if (this.box.isConnected) this.draw();
    });
  }

  draw() {
    const { message: m, box } = this;
    const tape = m && tapes.get(m.stream_id);
    if (!tape) return;
    this.font ??= getComputedStyle(box).fontFamily;
    this.tape = tape;
    const layout = { ...tape.figure.layout, ...m.scope.layout, shapes: [...(tape.figure.layout.shapes || []), ...(m.scope.shapes || [])] };
    this.figure = { data: [...(m.scope.ghosts === false ? [] : tape.figure.data), ...m.scope.data], layout };
    this.scope.draw(this.figure, this.palette, this.font);
    this.caption(tape, m);
    this.strip(tape, m);
    this.readouts(m.readouts, m.constants.readouts);
    this.open(m.panel);
    if (this.cursor !== null) this.point(this.cursor);
    this.updates += 1;
    put(box, "data-updates", "1"); // it has been drawn
    put(box, "data-tape", m.stream_id);
  }

  caption(tape, m) {
    const find = (q) => this.box.querySelector(q);
    put(find(".scope .title"), "text", tape.title);
    put(find(".scope canvas"), "aria-label", tape.alt);
    const legend = find(".legend");
    const key = m.scope.legend.join();
    if (legend.dataset.key === key) return;
    legend.dataset.key = key;
    legend.replaceChildren();
    for (const kind of m.scope.legend) {
      const [text, help] = m.constants.legend[kind];
      element("i", kind, legend, text).title = help;
    }
  }

  /** The frames themselves, under the instant they belong to; a wrong answer is red and crossed. */
  strip(tape, m) {
    const film = this.box.querySelector(".film");
    const { film: f } = tape;
    put(film.parentNode, "hidden", !f);
    if (!f) return;
    const truth = tape.short[tape.truth];
    put(film.previousSibling, "text", truth ? `true ${truth}\nseen as` : "seen as");
    if (film.dataset.tape !== m.stream_id || film.children.length !== f.frames.length) {
      film.dataset.tape = m.stream_id;
      film.replaceChildren();
      f.frames.forEach((t, i) => {
        const cell = element("div", "cell", film);
        const picture = element("span", "picture", cell);
        picture.style.backgroundImage = `url(${f.sprite})`;
        picture.style.backgroundSize = `${f.frames.length * 100}% 100%`;
        picture.style.backgroundPosition = `${f.frames.length > 1 ? (100 * i) / (f.frames.length - 1) : 0}% 0`;
        element("b", "", cell);
      });
    }
    const x = this.scope.axes.x;
    put(film, "style", `margin-left: ${x.from}px; margin-right: ${this.scope.size.w - x.to}px`);
    [...film.children].forEach((cell, i) => {
      const seen = m.film.predicted[i];
      const known = seen !== null && seen !== undefined;
      const wrong = known && tape.truth >= 0 && seen !== tape.truth;
      put(cell, "class", `cell${wrong ? " wrong" : ""}${known ? "" : " ahead"}`);
      put(cell.lastChild, "text", known ? (wrong ? "✕ " : "") + tape.short[seen] : "");
      const sure = known ? `: true ${tape.classes[tape.truth] ?? "unknown"}, seen as ${tape.classes[seen]}` : "";
      put(cell, "title", `frame ${f.frames[i]}${sure}${known ? ` (${(100 * m.film.confidence[i]).toFixed(0)} % sure)` : ""}`);
    });
  }

  readouts(list, fixed) {
    const row = this.box.querySelector(".readouts");
    while (row.children.length < list.length) {
      const card = element("div", "card", row);
      element("span", "label", card);
      const big = element("span", "big", card);
      element("strong", "", big);
      element("small", "", big);
      element("span", "rest", card);
    }
    list.forEach((r, i) => {
      const card = row.children[i];
      const [label, big, rest] = card.children;
      put(card, "data-id", fixed[i].id);
      put(card, "title", fixed[i].help);
      put(card, "data-better", r.worse ? "no" : "");
      put(label, "text", fixed[i].label);
      put(big.firstChild, "text", r.now);
      put(big.lastChild, "text", r.beside);
      while (rest.children.length > r.rest.length) rest.lastChild.remove();
      while (rest.children.length < r.rest.length) {
        const pair = element("span", "", rest);
        element("i", "", pair);
        element("b", "", pair);
      }
      r.rest.forEach(([name, value], k) => {
        const pair = rest.children[k];
        put(pair, "data-name", name);
        put(pair.firstChild, "text", name + " ");
        put(pair.lastChild, "text", value);
      });
    });
  }

  open(p) {
    const find = (q) => this.box.querySelector(q);
    for (const b of find(".tabs").children) {
      const on = b.dataset.panel === p.id;
      put(b, "aria-selected", String(on));
      put(b, "tabIndex", on ? 0 : -1);
      if (on) put(find(".panel canvas"), "aria-label", b.title);
    }
    put(this.unit, "hidden", p.id !== "bode");
    if (this.unit.value !== this.view.unit) this.unit.value = this.view.unit;
    const typing = this.box.getRootNode().activeElement === this.fps;
    if (!typing && this.fps.value !== String(this.view.frame_rate)) this.fps.value = this.view.frame_rate;
    put(find(".panel .note"), "text", p.note);
    this.table(find(".side"), p.numbers);
    this.spring = p.spring ? { ...p.spring, u: numbers(p.spring.u), u_star: numbers(p.spring.u_star) } : null;
    if (this.spring) this.swing();
    else this.panel.draw(p.figure, this.palette, this.font);
  }

  table(side, rows) {
    put(side, "hidden", !rows.length);
    const shape = rows.map((cells) => cells.length).join();
    if (side._shape !== shape) {
      side._shape = shape;
      side.replaceChildren();
      const table = element("table", "", side);
      rows.forEach((cells, i) => {
        const tr = element("tr", "", table);
        cells.forEach((_, j) => element(i === 0 || j === 0 ? "th" : "td", "", tr));
      });
    }
    const cells = side.querySelectorAll("th, td");
    rows.flat().forEach((text, i) => put(cells[i], "text", text));
  }

  /** Run the spring along the stream, at its own time, or hold it at the cursor. */
  swing() {
    if (this.swinging) return;
    this.swinging = true;
    let last = performance.now();
    const calm = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const beat = (now) => {
      if (!this.spring || !this.box.isConnected) {
        this.swinging = false;
        if (this.cursor === null) this.rule(null, false);
        return;
      }
      requestAnimationFrame(beat);
      if (now - last < FRAME_MS || document.hidden) return;
      const n = this.spring.u.length;
      const speed = Math.min(60, Math.max(1, this.view.frame_rate));
      if (this.spring.live) this.clock = n - 1;
      else if (this.cursor !== null) this.clock = this.cursor - this.spring.first;
      else if (!calm) this.clock = ((this.clock ?? 0) + ((now - last) / 1000) * speed) % n;
      last = now;
      drawSpring(this.panel, this.spring, Math.min(Math.max(this.clock ?? 0, 0), n - 1), this.palette, this.font);
      if (this.cursor === null && !this.spring.live) this.rule(this.clock + this.spring.first, false);
    };
    requestAnimationFrame(beat);
  }

  listen(canvas) {
    const frame = (e) => {
      const x = this.scope.axes && this.scope.axes.x;
      if (!x) return null;
      const px = e.clientX - canvas.getBoundingClientRect().left;
      return px < x.from || px > x.to ? null : Math.round(x.map.invert(px));
    };
    canvas.onpointermove = (e) => this.point(frame(e));
    canvas.onpointerleave = () => this.point(null);
    canvas.onkeydown = (e) => {
      const [a, b] = this.scope.axes.x.range;
      const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: 10, PageDown: -10 }[e.key];
      if (e.key === "Escape") return this.point(null);
      if (!step) return undefined;
      e.preventDefault();
      return this.point(Math.min(Math.floor(b), Math.max(Math.ceil(a), (this.cursor ?? Math.round((a + b) / 2)) + step)));
    };
  }

  rule(t, strong) {
    const x = this.scope.axes && this.scope.axes.x;
    if (!x) return;
    this.hair.hidden = t === null;
    this.hair.classList.toggle("strong", strong);
    if (t !== null) this.hair.style.transform = `translateX(${x.map(t).toFixed(1)}px)`;
  }

  /** The cursor: a hair line through the scope and the numbers at that frame. */
  point(t) {
    this.cursor = t;
    this.rule(t, true);
    const at = this.box.querySelector(".at");
    put(this.box.querySelector(".legend"), "hidden", t !== null); // or the caption would grow by a line
    this.mark(t);
    if (t === null) { at.textContent = ""; return; }
    const { film } = this.message, { truth, short } = this.tape;
    const parts = [`frame ${t}`];
    for (const trace of this.figure.data) {
      if (!trace.hover) continue;
      const v = numbers(trace.y)[t - (trace.x0 ?? 0)];
      if (Number.isFinite(v)) parts.push(`${trace.name} ${v.toFixed(2)}`);
    }
    const seen = numbers(film.every_frame)[t];
    const wrong = seen >= 0 && truth >= 0 && seen !== truth;
    if (seen >= 0) parts.push(`${truth >= 0 ? `true ${short[truth]}, ` : ""}seen as ${wrong ? "✕ " : ""}${short[seen]}`);
    put(at, "class", wrong ? "at wrong" : "at");
    at.textContent = parts.join("  ·  ");
  }

  /** Frame the picture of the strip that is nearest to frame t. */
  mark(t) {
    const frames = this.tape?.film?.frames ?? [];
    let here = t === null ? -1 : 0;
    frames.forEach((f, i) => { if (Math.abs(f - t) < Math.abs(frames[here] - t)) here = i; });
    [...this.box.querySelector(".film").children].forEach((cell, i) => put(cell, "data-here", String(i === here)));
  }

  /** The address holds everything once the hand has let go. */
  async copy(button) {
    try {
      await navigator.clipboard.writeText(location.href);
      button.textContent = "copied";
    } catch {
      window.prompt("Copy this link", location.href); // no clipboard without https or permission
    }
    setTimeout(() => (button.textContent = "link"), 1500);
  }

  /** Scope and panel as one picture, at twice the screen's resolution of a plain screen. */
  save() {
    const canvases = [this.scope.canvas, this.panel.canvas];
    const width = Math.max(...canvases.map((c) => c.width)), gap = 24;
    const out = document.createElement("canvas");
    out.width = width;
    out.height = canvases.reduce((sum, c) => sum + c.height + gap, gap + 20);
    const c = out.getContext("2d");
    c.fillStyle = getComputedStyle(this.box).getPropertyValue("--st-background-color") || "#ffffff";
    c.fillRect(0, 0, out.width, out.height);
    c.fillStyle = this.palette.text;
    c.font = `14px ${this.font}`;
    c.fillText(this.message.caption, 12, 22);
    let y = 20 + gap / 2;
    for (const canvas of canvases) {
      c.drawImage(canvas, 0, y);
      y += canvas.height + gap;
    }
    const link = document.createElement("a");
    link.download = "knob.png";
    link.href = out.toDataURL("image/png");
    link.click();
  }
}

export default (component) => once(component, "board.css", (host, data) => new Board(host, data));
