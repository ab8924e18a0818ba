// Two components as one Streamlit element, side by side: a turn of a knob then costs the page one element instead of seven.
// While a knob turns, Python's answers come over the WebSocket and are shown without Streamlit.
import { openSocket } from "./knob_socket.js";
import { loadStylesheet } from "./theme.js";

/** @import { Answer, CommonMessage, MountArguments, PartHost } from "../messages.js" */
/** @import { KnobSocket } from "./knob_socket.js" */

/**
 * A part's name, which is also its key in an answer, and the function that mounts it.
 * @typedef {[string, (component: MountArguments<any>) => void]} NamedPart
 */

/** @type {WeakMap<PartHost, Pair>} */
const pairs = new WeakMap();

/** Both parts in one host. */
class Pair {
  /**
   * @param {string} name  of the pair: its class and its stylesheet
   * @param {NamedPart[]} parts  from left to right
   * @param {MountArguments<CommonMessage & Answer>} component
   */
  constructor(name, parts, component) {
    this.parts = parts;
    this.host = component.parentElement;
    this.component = component;
    /** @type {Answer | null} */
    this.shown = null;
    /** @type {KnobSocket | null} */
    this.socket = null;
    const grid = document.createElement("div");
    grid.className = name;
    /** @type {PartHost[]} */
    this.places = parts.map(([part]) => {
      const place = document.createElement("div");
      place.className = `${part}-place`;
      grid.appendChild(place);
      return place.attachShadow({ mode: "open" });
    });
    loadStylesheet(this.host, component.data.base, `${name}.css`);
    this.host.appendChild(grid);
  }

  /**
   * A message from Streamlit.
   * @param {MountArguments<CommonMessage & Answer>} component
   */
  update(component) {
    this.component = component;
    const { line, base } = component.data;
    this.socket = openSocket(
      line,
      base,
      (answer) => {
        if (this.host.isConnected) this.show(answer);
      },
      () => this.places.forEach((place) => place._part?.connectionLost?.()),
    );
    this.show(component.data);
  }

  /**
   * Show an answer, unless a newer one is shown already.
   * @param {Answer} answer
   */
  show(answer) {
    if (this.shown && isNewer(this.shown, answer)) answer = this.shown;
    this.shown = answer;
    const { data, setStateValue } = this.component;
    const { base, palettes } = data;
    /** @type {Record<string, any>} */
    const messages = answer;
    // From right to left: the picture first, because the controls send the next values when they have their answer.
    for (let i = this.parts.length - 1; i >= 0; i--) {
      const [part, mount] = this.parts[i];
      mount({
        parentElement: this.places[i],
        data: { base, palettes, ...messages[part] },
        setStateValue,
        send: (message) => this.socket?.send(message) ?? false,
      });
    }
  }
}

/**
 * Whether answer `a` was made after answer `b` of the same session.
 * @param {Answer} a
 * @param {Answer} b
 */
export function isNewer(a, b) {
  return a.line.token === b.line.token && a.line.stamp > b.line.stamp;
}

/**
 * A component made of two parts; its message has one entry for each part, under the part's name.
 * @param {string} name
 * @param {NamedPart[]} parts
 * @returns {(component: MountArguments<CommonMessage & Answer>) => void}
 */
export function sideBySide(name, parts) {
  return (component) => {
    let pair = pairs.get(component.parentElement);
    if (!pair) pairs.set(component.parentElement, (pair = new Pair(name, parts, component)));
    pair.update(component);
  };
}
