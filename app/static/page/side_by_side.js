// Two components as one Streamlit element, side by side: a turn of a knob then costs the page one element instead of
// seven. While a knob turns, Python's updates come over the WebSocket and are shown without Streamlit.
import { askForRerun, canRerun } from "../stream_background.js";
import { openSocket } from "./knob_socket.js";
import { addElement, find } from "./dom.js";
import { loadStylesheet } from "./theme.js";

/** @import { Mount, MountArguments, PartHost, Update } from "../messages.js" */
/** @import { KnobSocket } from "./knob_socket.js" */

/**
 * A part's name, which is also its key in an update, and the function that mounts it.
 * @typedef {[string, (component: MountArguments<any>) => void]} NamedPart
 */

const ASK_MS = 200; // from one look at Streamlit to the next, while a new session is wanted
const AGAIN_MS = 1500; // a run that was asked for has begun by then
const MOST_ASKED = 20; // a script that fails every time is not run for ever
const STALE = "Waiting for the server: curves and numbers are of an earlier setting";

/** @type {WeakMap<PartHost, Pair>} */
const pairs = new WeakMap();

/** Both parts in one host. */
class Pair {
  /**
   * @param {string} name  of the pair: its class and its stylesheet
   * @param {NamedPart[]} parts  from left to right
   * @param {MountArguments<Mount>} component
   */
  constructor(name, parts, component) {
    this.parts = parts;
    this.host = component.parentElement;
    this.component = component;
    /** @type {{ token: string, update: Update } | null} */
    this.shown = null;
    /** @type {KnobSocket | null} */
    this.socket = null;
    /** @type {ReturnType<typeof setInterval> | undefined} */
    this.asking = undefined;
    const grid = document.createElement("div");
    grid.className = `pair ${name}`;
    /** @type {PartHost[]} */
    this.places = parts.map(([part]) => {
      const place = document.createElement("div");
      place.className = `${part}-place`;
      grid.appendChild(place);
      return place.attachShadow({ mode: "open" });
    });
    const note = addElement("p", "stale-note", grid, STALE);
    note.hidden = true;
    note.setAttribute("role", "status");
    /** @type {Set<string>} parts that wait for an answer */
    const waiting = new Set();
    grid.addEventListener("knob-stale", (event) => {
      if (!(event instanceof CustomEvent)) return;
      if (event.detail.stale) waiting.add(event.detail.part);
      else waiting.delete(event.detail.part);
      note.hidden = !waiting.size;
      grid.classList.toggle("stale", waiting.size > 0);
    });
    const stylesheets = ["side_by_side.css", `${name}.css`];
    grid.style.display = "none"; // a part that measures itself must have its place
    Promise.all(stylesheets.map((file) => loadStylesheet(this.host, component.data.base, file))).then(() =>
      grid.style.removeProperty("display"),
    );
    this.host.appendChild(grid);
  }

  /**
   * A message from Streamlit.
   * @param {MountArguments<Mount>} component
   */
  update(component) {
    this.component = component;
    const { endpoint, base, update } = component.data;
    clearInterval(this.asking); // whatever was asked for has come
    if (this.socket && this.socket.token !== endpoint.token) this.socket.wanted = false;
    this.socket = openSocket(
      endpoint,
      base,
      (newer) => {
        if (this.host.isConnected) this.show(newer);
      },
      (refused) => {
        if (refused || canRerun()) this.askForSession();
      },
    );
    this.show(update);
  }

  /**
   * The server was perhaps started again: have the page's script run, in a new session, as soon as Streamlit is back.
   * Not while it runs: that would begin it anew.
   */
  askForSession() {
    clearInterval(this.asking);
    let left = MOST_ASKED;
    let askedAt = -Infinity;
    this.asking = setInterval(() => {
      const now = performance.now();
      if (!this.host.isConnected || left === 0) clearInterval(this.asking);
      else if (isStreamlitIdle() && now - askedAt > AGAIN_MS) {
        left -= 1;
        askedAt = now;
        askForRerun();
      }
    }, ASK_MS);
  }

  /**
   * Show an update, unless a newer one of the same session is shown already.
   * @param {Update} update
   */
  show(update) {
    const { data, setStateValue } = this.component;
    const { base, palettes } = data;
    this.shown = newerOf(this.shown, { token: data.endpoint.token, update });
    /** @type {Record<string, any>} */
    const updates = this.shown.update;
    /** @type {Record<string, any>} */
    const constants = data.constants;
    // From right to left: the picture first, because the controls send the next values when they have their answer.
    for (let i = this.parts.length - 1; i >= 0; i--) {
      const [part, mount] = this.parts[i];
      mount({
        parentElement: this.places[i],
        data: { base, palettes, session: data.endpoint.token, constants: constants[part], ...updates[part] },
        setStateValue,
        send: (message) => this.socket?.send(message) ?? false,
      });
    }
  }
}

/** Whether Streamlit is connected to its server, and runs no script: its outermost element says so. */
function isStreamlitIdle() {
  const app = find(document, '[data-testid="stApp"]', HTMLElement);
  return app.dataset.testConnectionState === "CONNECTED" && app.dataset.testScriptState === "notRunning";
}

/**
 * The update with the higher answer number; the second one where they are equal or of two sessions.
 * @template {{ token: string, update: { answer: number } }} Numbered
 * @param {Numbered | null} shown
 * @param {Numbered} next
 * @returns {Numbered}
 */
export function newerOf(shown, next) {
  return shown && shown.token === next.token && shown.update.answer > next.update.answer ? shown : next;
}

/**
 * A component made of two parts; its constants and updates have one entry for each part, under its name.
 * @param {string} name
 * @param {NamedPart[]} parts
 * @returns {(component: MountArguments<Mount>) => void}
 */
export function sideBySide(name, parts) {
  return (component) => {
    let pair = pairs.get(component.parentElement);
    if (!pair) pairs.set(component.parentElement, (pair = new Pair(name, parts, component)));
    pair.update(component);
  };
}
