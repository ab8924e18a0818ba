// The operator's desk: two knobs, presets, switches, transport. Everything the hand does leaves as one value, "controls": over
// the direct line where there is one, and through Streamlit when the hand has let go or there is no line.
// Pacing: the next value leaves when Python's answer to the last one has arrived (its seq), or one ahead of it once Python
// must be done with the last (its own time and some more): a run that began earlier would throw the last answer away.
import { Knob } from "./knob.js";
import { once, put } from "./look.js";

const PATIENCE_MS = 600; // an answer that does not come (a rerun in between) must not freeze the knob
const AHEAD = 2; // values on their way at most
const PACE_MS = 45;

class Deck {
  constructor(root, data) {
    this.root = root;
    this.spec = data.constants;
    this.hand = { mount: Math.random().toString(36).slice(2), seq: 0, turn: 0, frames_requested: 0, pin_presses: 0, live: false, playing: false, released: true, ...data.values, epoch: data.epoch };
    this.waiting = 0;
    this.dirty = false;
    this.build();
  }

  build() {
    const { spec, root } = this;
    const box = (this.box = document.createElement("section"));
    box.className = "deck";
    box.setAttribute("aria-label", "knobs");
    box.innerHTML = `<div class="dials"></div>
      <div class="regime" role="img"><i></i><i></i><i></i></div><p class="regime-text" aria-live="polite"></p>
      <div class="presets" role="group" aria-label="presets"></div>
      <div class="switches"></div><div class="transport"></div><p class="pinned" hidden></p>`;
    root.appendChild(box);
    this.knobs = {};
    for (const knob of spec.knobs) {
      this.knobs[knob.id] = new Knob(box.querySelector(".dials"), knob, (value, phase) => this.turned(knob, value, phase));
      this.knobs[knob.id].set(this.hand[knob.id]);
    }
    this.buildPresets();
    if (spec.switches) this.buildSwitches(box.querySelector(".switches"));
    if (spec.transport) this.buildTransport(box.querySelector(".transport"));
  }

  buildPresets() {
    const row = this.box.querySelector(".presets");
    row.replaceChildren();
    this.presets = this.spec.presets.map((preset) => {
      const b = this.button(row, preset.label, preset.help, () => this.apply(preset));
      b.dataset.preset = preset.id;
      return b;
    });
  }

  /** Another model has been trained to other values, or to none: its marks and its preset come with it. */
  retrain(spec) {
    const trained = (s) => s.knobs.map((knob) => knob.trained).join();
    if (trained(spec) === trained(this.spec)) return;
    this.spec = spec;
    for (const knob of spec.knobs) this.knobs[knob.id].remark(knob.trained);
    this.buildPresets();
  }

  button(parent, text, help, click) {
    const b = document.createElement("button");
    b.type = "button";
    b.textContent = text;
    b.title = help;
    b.onclick = click;
    parent.appendChild(b);
    return b;
  }

  buildSwitches(parent) {
    const { help } = this.spec;
    this.memory = this.button(parent, "memory", help.memory, () => this.change({ memory: !this.hand.memory }));
    this.memory.setAttribute("role", "switch");
    this.memory.className = "switch";
    const modes = document.createElement("div");
    modes.className = "modes";
    modes.setAttribute("role", "radiogroup");
    modes.setAttribute("aria-label", "mode");
    parent.appendChild(modes);
    this.modes = ["continuous", "reset"].map((mode) => {
      const b = this.button(modes, mode, help[mode], () => this.change({ mode }));
      b.setAttribute("role", "radio");
      return b;
    });
  }

  buildTransport(parent) {
    const { help, speeds } = this.spec;
    this.play = this.button(parent, "", help.play, () => this.toggle());
    this.play.className = "play";
    this.stop = this.button(parent, "■", help.stop, () => this.leave());
    this.stop.setAttribute("aria-label", "leave live mode");
    const select = (this.speed = document.createElement("select"));
    select.title = help.speed;
    select.setAttribute("aria-label", "speed");
    for (const fps of speeds) select.add(new Option(`${fps} fps`, fps));
    select.value = String(this.hand.speed ?? 10);
    select.onchange = () => { this.hand.speed = Number(select.value); this.clock(); this.push(true); };
    parent.appendChild(select);
    this.pin = this.button(parent, "pin A", help.pin, () => { this.hand.pin_presses += 1; this.push(true); });
  }

  /** A knob moved. A new turn begins when a hand takes hold: what was before it stays on the read-outs. */
  turned(knob, value, phase) {
    if (phase === "refused") return this.say(`${knob.symbol} goes from ${knob.low} to ${knob.high}`);
    if (phase === "start" || phase === "jump") this.hand.turn += 1;
    if (phase === "start") { this.hand.released = false; return undefined; }
    const moved = this.hand[knob.id] !== value || !this.hand.on;
    this.hand[knob.id] = value;
    if (phase !== "end" || moved) this.hand.on = true;
    this.hand.released = phase !== "move";
    this.paint();
    this.push();
    return undefined;
  }

  apply(preset) {
    this.hand.turn += 1;
    this.hand.on = preset.on;
    if (preset.on) Object.assign(this.hand, { zeta: preset.zeta, omega_n: preset.omega_n });
    this.hand.released = true;
    for (const [id, knob] of Object.entries(this.knobs)) knob.set(this.hand[id]);
    this.paint();
    this.push();
  }

  change(what) {
    Object.assign(this.hand, what, { turn: this.hand.turn + 1, released: true });
    this.paint();
    this.push();
  }

  toggle() {
    this.hand.playing = !this.hand.playing;
    this.hand.live = true;
    this.clock();
    this.paint();
    this.push(true);
  }

  leave() {
    Object.assign(this.hand, { live: false, playing: false });
    this.clock();
    this.paint();
    this.push(true);
  }

  /** While playing, ask for one more frame at every tick; Python catches up when it was slower. */
  clock() {
    clearInterval(this.timer);
    if (!this.hand.playing) return;
    this.timer = setInterval(() => {
      if (!this.box.isConnected) return clearInterval(this.timer);
      if (document.hidden) return undefined;
      this.hand.frames_requested += 1;
      this.push(false);
      return undefined;
    }, 1000 / (this.hand.speed || 10));
  }

  /** Something changed; `settled` is what Streamlit should hear of, too. */
  push(settled = this.hand.released) {
    this.dirty = true;
    this.settled ||= settled;
    const age = performance.now() - this.sentAt;
    const ahead = this.waiting ? this.hand.seq - (this.data.seq ?? 0) : 0;
    const gap = ahead === 0 ? 0 : ahead < AHEAD && this.data.server_ms ? Math.max(PACE_MS, 1.3 * this.data.server_ms + 20) : PATIENCE_MS;
    clearTimeout(this.late);
    if (age < gap) this.late = setTimeout(() => this.flush(), gap - age);
    else this.flush();
  }

  flush() {
    clearTimeout(this.late);
    if (!this.dirty || !this.box.isConnected) return;
    this.dirty = false;
    this.hand.seq += 1;
    this.waiting = this.hand.seq;
    this.sentAt = performance.now();
    const controls = { ...this.hand };
    if (!this.tell({ controls }) || this.settled) this.emit("controls", controls);
    else this.doubt ??= setTimeout(() => this.lost(), PATIENCE_MS);
    this.settled = false;
  }

  /** The line is gone or mute, and with it perhaps the last thing said on it. */
  lost() {
    this.doubt = null;
    if (this.waiting && this.box.isConnected) this.emit("controls", { ...this.hand });
  }

  /** Python's answer: the receipt, the words, and, on a new epoch, values pushed from Python. */
  adopt(data) {
    const heard = this.data?.seq ?? 0;
    this.data = data;
    this.retrain(data.constants);
    if (data.epoch !== this.hand.epoch) {
      Object.assign(this.hand, data.values, { epoch: data.epoch, frames_requested: 0, playing: false });
      for (const [id, knob] of Object.entries(this.knobs)) {
        if (knob.drag) this.hand[id] = knob.value; // a knob in the hand obeys the hand
        else knob.set(this.hand[id]);
      }
      this.clock();
    }
    this.paint();
    if (this.waiting && data.seq >= this.waiting) this.waiting = 0;
    if (this.doubt && data.seq > heard) { // somebody is there
      clearTimeout(this.doubt);
      this.doubt = this.waiting ? setTimeout(() => this.lost(), PATIENCE_MS) : null;
    }
    if (this.dirty) this.push(this.settled);
  }

  say(text) {
    put(this.box.querySelector(".regime-text"), "text", text);
  }

  paint() {
    const { hand, data, box } = this;
    if (!data) return;
    put(box, "class", hand.on ? "deck" : "deck off");
    const order = ["under", "critical", "over"];
    box.querySelectorAll(".regime i").forEach((el, i) => {
      put(el, "text", ["under-damped", "critical", "over-damped"][i]);
      put(el, "class", hand.on && order[i] === data.regime ? `now ${order[i]}` : order[i]);
    });
    put(box.querySelector(".regime"), "aria-label", data.words);
    this.say(data.words);
    this.presets.forEach((b, i) => {
      const p = this.spec.presets[i];
      const here = p.on ? hand.on && p.zeta === hand.zeta && p.omega_n === hand.omega_n : !hand.on;
      put(b, "aria-pressed", String(here));
    });
    if (this.memory) {
      put(this.memory, "aria-checked", String(hand.memory && hand.on && hand.mode !== "reset"));
      put(this.memory, "disabled", hand.mode === "reset" || !hand.on);
      this.modes.forEach((b, i) => put(b, "aria-checked", String(hand.mode === ["continuous", "reset"][i])));
    }
    if (this.play) {
      put(this.play, "text", hand.playing ? "❚❚ pause" : "▶ play");
      put(this.play, "aria-pressed", String(hand.playing));
      put(this.stop, "disabled", !hand.live);
      put(this.pin, "text", data.pinned ? "unpin A" : "pin A");
      put(this.pin, "aria-pressed", String(Boolean(data.pinned)));
      const note = box.querySelector(".pinned");
      put(note, "hidden", false); // its line is kept free: what comes and goes must not move the buttons
      put(note, "text", data.pinned ? `A (dashed): ${data.pinned}` : "");
    }
  }
}

export default (component) => once(component, "deck.css", (host, data) => new Deck(host, data));
