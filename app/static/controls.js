// The controls: knobs, presets, switches and playback. Everything that they are set to is one value, `Controls`, which
// is sent to Python as a whole. On the Lessons page they are mounted alone, with the lesson's own knobs.
import { Knob, writeTurn } from "./knobs/knob.js";
import { ModeSwitches } from "./knobs/mode_switches.js";
import { Playback } from "./knobs/playback.js";
import { PresetButtons } from "./knobs/preset_buttons.js";
import { RegimeBar } from "./knobs/regime_bar.js";
import { UpdateSender } from "./knobs/update_sender.js";
import { mountOnce } from "./page/component.js";
import { find, setIfChanged } from "./page/dom.js";

/** @import { Command, Common, Controls, ControlsConstants, ControlsMessage, KnobSpec } from "./messages.js" */
/** @import { MountArguments, Palette, Part, PartHost, Preset, Request } from "./messages.js" */
/** @import { Phase } from "./knobs/knob.js" */

const SETTING = ["zeta", "omega_n", "on", "memory", "mode"]; // of the values: what the curves depend on
const ACROSS = { bubbles: true, composed: true }; // an event that leaves the shadow root

/** @implements {Part<ControlsMessage>} */
class ControlPanel {
  /**
   * @param {PartHost} host
   * @param {Common & ControlsMessage} message
   */
  constructor(host, message) {
    const { constants } = message;
    this.constants = constants;
    /** @type {Palette} */
    this.palette = {};
    /** @type {(name: string, value: unknown) => void} */
    this.setState = () => {};
    /** @type {(message: Request) => boolean} */
    this.send = () => false;
    this.values = initialValues(message);
    this.session = message.session ?? "";
    this.sender = new UpdateSender(this.values, {
      alone: !this.session,
      overSocket: (controls) => this.send({ controls }),
      throughStreamlit: (controls) => this.setState("controls", controls),
      isShown: () => this.box.isConnected,
      showStale: (stale) => this.showStale(stale),
    });
    this.box = document.createElement("section");
    this.box.className = "controls";
    this.box.setAttribute("aria-label", "knobs");
    this.box.innerHTML = `
      <div class="dials"></div>
      <div class="regime" role="img"><i></i><i></i><i></i></div>
      <p class="regime-text" aria-live="polite"></p>
      <div class="presets" role="group" aria-label="presets"></div>
      <button class="more" type="button" aria-expanded="false" hidden>Memory, mode, live</button>
      <div class="switches"></div>
      <div class="transport"></div>
      <p class="pinned" hidden></p>`;
    host.appendChild(this.box);
    const part = (/** @type {string} */ name) => find(this.box, name, HTMLElement);
    this.knobs = Object.fromEntries(constants.knobs.map((knob) => [knob.id, this.addKnob(part(".dials"), knob)]));
    this.listenToMore(find(this.box, ".more", HTMLButtonElement));
    this.regime = new RegimeBar(this.box);
    this.presets = new PresetButtons(part(".presets"), constants.presets, (preset) => this.apply(preset));
    this.switches = constants.switches
      ? new ModeSwitches(part(".switches"), constants.help, (change) => this.change(change))
      : null;
    this.playback = constants.transport
      ? new Playback(this.box, constants, this.values, (settled, command) => this.played(settled, command))
      : null;
  }

  /** @param {boolean} stale  what is drawn is, or is no longer, that of an earlier setting */
  showStale(stale) {
    const detail = { part: "controls", stale };
    this.box.dispatchEvent(new CustomEvent("knob-stale", { ...ACROSS, detail }));
  }

  /**
   * On a phone, a button shows and hides the switches and playback; elsewhere the stylesheet leaves it out.
   * @param {HTMLButtonElement} button
   */
  listenToMore(button) {
    button.hidden = !this.constants.switches && !this.constants.transport;
    button.title = "Show or hide memory, mode and live playback";
    button.onclick = () => button.setAttribute("aria-expanded", String(button.ariaExpanded !== "true"));
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
   * A knob was turned.
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
    if (phase === "start" || phase === "jump") this.sender.order({ act: "begin" });
    writeTurn(values, knob.id, value, phase);
    if (phase !== "start") this.changed();
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
   * @param {Partial<Controls>} change
   */
  change(change) {
    Object.assign(this.values, change, { released: true });
    this.sender.order({ act: "begin" });
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
    this.sender.push(this.values.released);
  }

  /**
   * Playback was changed, or orders something.
   * @param {boolean} settled
   * @param {Command} [command]
   */
  played(settled, command) {
    if (command) this.sender.order(command);
    if (settled) this.paint();
    this.sender.push(settled);
  }

  /**
   * Python's answer: its receipt, words on the regime, and, in a new epoch, values that Python has set.
   * @param {Common & ControlsMessage} message
   */
  update(message) {
    this.message = message;
    this.showTrained(message.constants);
    const { session = "" } = message;
    if (session !== this.session) this.startSession(session, message);
    else if (message.epoch !== this.values.epoch) this.takeValues(message);
    this.paint();
    this.sender.acknowledge(message.seq);
  }

  /**
   * The server was started again, and what it has of the values is as old as the link: the visitor's own count.
   * @param {string} session
   * @param {ControlsMessage} message
   */
  startSession(session, { epoch, values }) {
    this.session = session;
    const same = SETTING.every((name) => values[name] === this.values[name]);
    Object.assign(this.values, { live: false, playing: false });
    this.playback?.restartTimer();
    this.sender.startSession(epoch, same);
  }

  /**
   * Take the values that Python has set; a knob that is being dragged keeps its own.
   * @param {ControlsMessage} message
   */
  takeValues({ values, epoch }) {
    Object.assign(this.values, values, { epoch, playing: false });
    for (const [id, knob] of Object.entries(this.knobs)) {
      if (knob.drag) this.values[id] = knob.value;
      else knob.set(this.knobValue(id));
    }
    this.playback?.restartTimer();
  }

  /**
   * Another model was trained to other values, or to none: show its marks and its preset.
   * @param {ControlsConstants} constants
   */
  showTrained(constants) {
    const trained = (/** @type {ControlsConstants} */ { knobs }) => knobs.map((knob) => knob.trained).join();
    if (trained(constants) === trained(this.constants)) return;
    this.constants = constants;
    for (const knob of constants.knobs) this.knobs[knob.id].face.markTrained(knob.trained ?? null);
    this.presets.build(constants.presets);
  }

  /** Show everything that depends on the values and on the last message. */
  paint() {
    const { values, message } = this;
    if (!message) return;
    setIfChanged(this.box, "class", values.on ? "controls" : "controls off");
    this.regime.paint(values.on ? message.regime : "", message.words);
    this.presets.paint(values);
    this.switches?.paint(values);
    this.playback?.paint(values, message);
  }
}

/**
 * The values at first: Python's, numbered from the last message that it took.
 * @param {ControlsMessage} message
 * @returns {Controls}
 */
function initialValues({ values, epoch, seq }) {
  return { live: false, playing: false, released: true, ...values, epoch, seq };
}

/**
 * The Streamlit component.
 * @param {MountArguments<Common & ControlsMessage>} component
 */
export default (component) => mountOnce(component, "controls.css", (host, message) => new ControlPanel(host, message));
