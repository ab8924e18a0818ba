// The controls: knobs, presets, switches and playback. Everything that they are set to is one value, ControlValues, which
// is sent to Python as a whole. On the Lessons page they are mounted alone, with the lesson's own knobs.
import { Knob } from "./knobs/knob.js";
import { ModeSwitches } from "./knobs/mode_switches.js";
import { Playback } from "./knobs/playback.js";
import { PresetButtons } from "./knobs/preset_buttons.js";
import { RegimeBar } from "./knobs/regime_bar.js";
import { UpdateSender } from "./knobs/update_sender.js";
import { mountOnce } from "./page/component.js";
import { find, setIfChanged } from "./page/dom.js";

/** @import { CommonMessage, ControlMessage, ControlSpec, ControlValues, KnobSpec, MountArguments } from "./messages.js" */
/** @import { Palette, Part, PartHost, Preset, SocketMessage } from "./messages.js" */
/** @import { Phase } from "./knobs/knob.js" */

/** @implements {Part<ControlMessage>} */
class Controls {
  /**
   * @param {PartHost} host
   * @param {ControlMessage} message
   */
  constructor(host, message) {
    const { spec } = message;
    this.spec = spec;
    /** @type {Palette} */
    this.palette = {};
    /** @type {(name: string, value: unknown) => void} */
    this.setState = () => {};
    /** @type {(message: SocketMessage) => boolean} */
    this.send = () => false;
    this.values = initialValues(message);
    this.sender = new UpdateSender(this.values, {
      overSocket: (hand) => this.send({ hand }),
      throughStreamlit: (hand) => this.setState("hand", hand),
      isShown: () => this.box.isConnected,
    });
    this.box = document.createElement("section");
    this.box.className = "deck";
    this.box.setAttribute("aria-label", "knobs");
    this.box.innerHTML = `<div class="dials"></div>
      <div class="regime" role="img"><i></i><i></i><i></i></div><p class="regime-text" aria-live="polite"></p>
      <div class="presets" role="group" aria-label="presets"></div>
      <div class="switches"></div><div class="transport"></div><p class="pinned" hidden></p>`;
    host.appendChild(this.box);
    const part = (/** @type {string} */ name) => find(this.box, name, HTMLElement);
    this.knobs = Object.fromEntries(spec.knobs.map((knob) => [knob.id, this.addKnob(part(".dials"), knob)]));
    this.regime = new RegimeBar(this.box);
    this.presets = new PresetButtons(part(".presets"), spec.presets, (preset) => this.apply(preset));
    this.switches = spec.switches
      ? new ModeSwitches(part(".switches"), spec.help, this.values, (change) => this.change(change))
      : null;
    this.playback = spec.transport
      ? new Playback(this.box, spec, this.values, (settled) => this.played(settled))
      : null;
  }

  /**
   * @param {Element} parent
   * @param {KnobSpec} spec
   */
  addKnob(parent, spec) {
    const knob = new Knob(parent, spec, (value, phase) => this.turned(spec, value, phase));
    knob.set(this.knobValue(spec.id));
    return knob;
  }

  /**
   * A knob was turned. At the start of a turn `turn` is counted: Python then keeps the read-outs as "before".
   * @param {KnobSpec} knob
   * @param {number} value
   * @param {Phase} phase
   */
  turned(knob, value, phase) {
    const { values } = this;
    if (phase === "refused") {
      this.regime.say(`${knob.symbol} goes from ${knob.low} to ${knob.high}`);
      return;
    }
    if (phase === "start" || phase === "jump") values.turn += 1;
    if (phase === "start") {
      values.done = false;
      return;
    }
    const moved = values[knob.id] !== value || !values.on;
    values[knob.id] = value;
    if (phase !== "end" || moved) values.on = true;
    values.done = phase !== "move";
    this.changed();
  }

  /**
   * Set the knobs to a preset; "off" leaves them where they are.
   * @param {Preset} preset
   */
  apply({ on, zeta, omega_n }) {
    this.change(on ? { on, zeta, omega_n } : { on });
  }

  /**
   * Set some values at once, as a turn of its own.
   * @param {Partial<ControlValues>} change
   */
  change(change) {
    Object.assign(this.values, change, { turn: this.values.turn + 1, done: true });
    for (const [id, knob] of Object.entries(this.knobs)) knob.set(this.knobValue(id));
    this.changed();
  }

  /** @param {string} id */
  knobValue(id) {
    return Number(this.values[id]);
  }

  /** Show and send the values. */
  changed() {
    this.paint();
    this.sender.push(this.values.done);
  }

  /**
   * Playback was changed, or asks for one more frame.
   * @param {boolean} settled
   */
  played(settled) {
    if (settled) this.paint();
    this.sender.push(settled);
  }

  /** The WebSocket has closed. */
  connectionLost() {
    this.sender.connectionLost();
  }

  /**
   * Python's answer: its receipt, words on the regime, and, in a new epoch, values that Python has set.
   * @param {CommonMessage & ControlMessage} message
   */
  update(message) {
    this.message = message;
    this.showTrained(message.spec);
    if (message.epoch !== this.values.epoch) this.takeValues(message);
    this.paint();
    this.sender.acknowledge(message.seq, message.body);
  }

  /**
   * Take the values that Python has set; a knob that is being dragged keeps its own.
   * @param {ControlMessage} message
   */
  takeValues({ values, epoch }) {
    Object.assign(this.values, values, { epoch, tick: 0, play: false });
    for (const [id, knob] of Object.entries(this.knobs)) {
      if (knob.drag) this.values[id] = knob.value;
      else knob.set(this.knobValue(id));
    }
    this.playback?.restartTimer();
  }

  /**
   * Another model was trained to other values, or to none: show its marks and its preset.
   * @param {ControlSpec} spec
   */
  showTrained(spec) {
    const trained = (/** @type {ControlSpec} */ { knobs }) => knobs.map((knob) => knob.trained).join();
    if (trained(spec) === trained(this.spec)) return;
    this.spec = spec;
    for (const knob of spec.knobs) this.knobs[knob.id].face.markTrained(knob.trained ?? null);
    this.presets.build(spec.presets);
  }

  /** Show everything that depends on the values and on the last message. */
  paint() {
    const { values, message } = this;
    if (!message) return;
    setIfChanged(this.box, "class", values.on ? "deck" : "deck off");
    this.regime.paint(values.on ? message.regime : "", message.words);
    this.presets.paint(values);
    this.switches?.paint(values);
    this.playback?.paint(values, message.pinned);
  }
}

/**
 * The values at first: Python's, and counters at zero. A random name tells these controls' messages from those of others.
 * @param {ControlMessage} message
 * @returns {ControlValues}
 */
function initialValues({ values, epoch }) {
  const counters = { seq: 0, turn: 0, tick: 0, pin: 0 };
  const name = Math.random().toString(36).slice(2);
  return { deck: name, ...counters, live: false, play: false, done: true, ...values, epoch };
}

/**
 * The Streamlit component.
 * @param {MountArguments<CommonMessage & ControlMessage>} component
 */
export default (component) => mountOnce(component, "controls.css", (host, message) => new Controls(host, message));
