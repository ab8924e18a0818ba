// When the controls' values are sent to Python, and by which way.
// During a drag they go over the WebSocket; when the knob is released, or without a WebSocket, through Streamlit.
// Pacing: the next values leave when Python has answered the last ones (by their sequence number), or one message ahead
// of the answer once Python must be done. Over the WebSocket that is about its own time, so that it computes while the
// page draws; through Streamlit it is longer, since a run that starts too early drops the last answer.

/** @import { Controls } from "../messages.js" */

export const PATIENCE_MS = 600; // an answer that does not come (a rerun in between) must not freeze the knob
const MOST_UNANSWERED = 2; // messages on their way
const MIN_GAP_MS = { socket: 22, streamlit: 45 };
export const STALE_MS = 300; // without an answer for so long, what is shown counts as another setting's

/**
 * How long after the last message the next one may leave, in ms.
 * @param {number} unanswered  messages on their way
 * @param {number} serverMs  how long Python took for its last answer; 0: not known
 * @param {boolean} overSocket  whether the last message went over the WebSocket
 */
export function sendingGap(unanswered, serverMs, overSocket) {
  if (unanswered === 0) return 0;
  if (unanswered >= MOST_UNANSWERED || !serverMs) return PATIENCE_MS;
  if (overSocket) return Math.max(MIN_GAP_MS.socket, 1.2 * serverMs + 4);
  return Math.max(MIN_GAP_MS.streamlit, 1.3 * serverMs + 20);
}

/**
 * The two ways to Python.
 * @typedef {object} Routes
 * @property {(values: Controls) => boolean} overSocket  whether it could be sent
 * @property {(values: Controls) => void} throughStreamlit
 * @property {() => boolean} isShown  whether the controls are still in the page
 * @property {(stale: boolean) => void} showStale  what is shown is, or is no longer, that of an earlier setting
 */

/** Sends values that change; every message has the next sequence number. */
export class UpdateSender {
  /**
   * @param {Controls} values  changed by the controls; its `seq` is counted here
   * @param {Routes} routes
   */
  constructor(values, routes) {
    this.values = values;
    this.routes = routes;
    this.changed = false; // something is not sent yet
    this.settled = false; // of what is not sent yet, Streamlit must know something
    this.awaited = 0; // sequence number that is not answered yet; 0: none
    this.answered = 0; // sequence number of the last answer
    this.serverMs = 0;
    this.overSocket = false; // the last message went over the WebSocket alone
    this.sentAt = -Infinity;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.nextSend = undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} until the WebSocket counts as dead */
    this.socketTimeout = undefined;
    this.stale = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} until what is shown counts as stale */
    this.staleTimeout = undefined;
  }

  /**
   * Wait for an answer, anew; or for none.
   * @param {boolean} waiting
   */
  watch(waiting) {
    clearTimeout(this.staleTimeout);
    this.staleTimeout = waiting ? setTimeout(() => this.markStale(true), STALE_MS) : undefined;
  }

  /** @param {boolean} stale */
  markStale(stale) {
    if (stale !== this.stale) this.routes.showStale(stale);
    this.stale = stale;
  }

  /**
   * Another session answers from now on, since the server was started again: it knows nothing of these values.
   * @param {number} epoch  of the new session
   * @param {boolean} same  whether what it shows is of these values, by chance or by the link
   */
  startSession(epoch, same) {
    if (!same) this.markStale(true);
    this.values.epoch = epoch;
    this.answered = 0;
    this.awaited = 0;
    this.push(true);
  }

  /**
   * The values have changed: send them, now or when it is time.
   * @param {boolean} settled  whether Streamlit must know, too
   */
  push(settled) {
    this.changed = true;
    this.settled ||= settled;
    const waited = performance.now() - this.sentAt;
    const unanswered = this.awaited ? this.values.seq - this.answered : 0;
    const gap = sendingGap(unanswered, this.serverMs, this.overSocket);
    clearTimeout(this.nextSend);
    if (waited < gap) this.nextSend = setTimeout(() => this.flush(), gap - waited);
    else this.flush();
  }

  /** Send what has changed. */
  flush() {
    clearTimeout(this.nextSend);
    if (!this.changed || !this.routes.isShown()) return;
    this.changed = false;
    this.values.seq += 1;
    this.awaited = this.values.seq;
    this.sentAt = performance.now();
    if (this.staleTimeout === undefined) this.watch(true);
    const values = { ...this.values };
    this.overSocket = this.routes.overSocket(values) && !this.settled;
    if (!this.overSocket) this.routes.throughStreamlit(values);
    else this.socketTimeout ??= setTimeout(() => this.connectionLost(), PATIENCE_MS);
    this.settled = false;
  }

  /** The WebSocket is closed or does not answer, and the last values may be lost: send them through Streamlit. */
  connectionLost() {
    clearTimeout(this.socketTimeout);
    this.socketTimeout = undefined;
    if (this.awaited && this.routes.isShown()) this.routes.throughStreamlit({ ...this.values });
  }

  /**
   * Python has answered.
   * @param {number} seq  sequence number of the values it had
   * @param {number} [serverMs]  how long it took
   */
  acknowledge(seq, serverMs = 0) {
    const isNew = seq > this.answered;
    this.answered = seq;
    this.serverMs = serverMs;
    if (this.awaited && seq >= this.awaited) this.awaited = 0;
    if (isNew || !this.awaited) this.watch(this.awaited > 0);
    if (!this.awaited) this.markStale(false);
    if (this.socketTimeout !== undefined && isNew) {
      clearTimeout(this.socketTimeout);
      this.socketTimeout = this.awaited ? setTimeout(() => this.connectionLost(), PATIENCE_MS) : undefined;
    }
    if (this.changed) this.push(this.settled);
  }
}
