// Keep in the page what no knob changes of a stream (fixed traces, axes, the film's pixels), so that it is not sent
// again with every turn. The messages of a turn name the stream by its id.

/** @import { MountArguments, StreamBackground } from "./messages.js" */

const MOST = 3; // backgrounds kept

/** @type {Map<string, StreamBackground>} oldest first */
const backgrounds = new Map();
const events = new EventTarget();

/**
 * A stream's background, if it has come.
 * @param {string} id  of the stream
 */
export function backgroundOf(id) {
  return backgrounds.get(id);
}

/**
 * Keep a stream's background and forget the oldest ones.
 * @param {StreamBackground} background
 */
export function keepBackground(background) {
  backgrounds.delete(background.id);
  backgrounds.set(background.id, background);
  for (const id of backgrounds.keys()) {
    if (backgrounds.size <= MOST) break;
    backgrounds.delete(id);
  }
  events.dispatchEvent(new Event("kept"));
}

/**
 * Call `listener` whenever a background has come.
 * @param {() => void} listener
 */
export function onBackground(listener) {
  events.addEventListener("kept", listener);
}

/**
 * The Streamlit component: it shows nothing.
 * @param {MountArguments<StreamBackground>} component
 */
export default function ({ data }) {
  keepBackground(data);
}
