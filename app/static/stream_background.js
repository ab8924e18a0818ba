// Keep in the page what no knob changes of a stream (fixed traces, axes, the film strip's pixels), so that it is not
// sent again with every turn. The messages of a turn name the stream by its id.

/** @import { MountArguments, StreamBackground } from "./messages.js" */

const MOST = 3; // backgrounds kept

/** @type {Map<string, StreamBackground>} oldest first */
const backgrounds = new Map();
const events = new EventTarget();

/** @type {((name: string, value: unknown) => void) | null} tells Streamlit something, and so has the whole page run */
let tell = null;
let reruns = 0;

/** Whether the page's script can be run again without loading the page anew. */
export function canRerun() {
  return tell !== null;
}

/** Have the page's whole script run again; a page without a stream is loaded again. */
export function askForRerun() {
  reruns += 1;
  if (tell) tell("reruns", reruns);
  else location.reload();
}

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
export default function ({ data, setStateValue }) {
  tell = setStateValue;
  keepBackground(data);
}
