// Keep in the page what no knob changes of a stream (fixed traces, axes, the film's pixels), so that it is not sent again
// with every turn. The messages of a turn name the stream by its id.

/** @import { FixedStream, MountArguments } from "./messages.js" */

const MOST = 3; // streams kept

/** @type {Map<string, FixedStream>} oldest first */
const streams = new Map();
const events = new EventTarget();

/**
 * The fixed part of a stream, if it has come.
 * @param {string} id
 */
export function cachedStream(id) {
  return streams.get(id);
}

/**
 * Keep a stream and forget the oldest ones.
 * @param {FixedStream} stream
 */
export function cacheStream(stream) {
  streams.delete(stream.id);
  streams.set(stream.id, stream);
  for (const id of streams.keys()) {
    if (streams.size <= MOST) break;
    streams.delete(id);
  }
  events.dispatchEvent(new Event("cached"));
}

/**
 * Call `listener` whenever a stream has come.
 * @param {() => void} listener
 */
export function onStreamCached(listener) {
  events.addEventListener("cached", listener);
}

/**
 * The Streamlit component: it shows nothing.
 * @param {MountArguments<FixedStream>} component
 */
export default function ({ data }) {
  cacheStream(data);
}
