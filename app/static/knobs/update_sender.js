// When the controls' values are sent to Python: over the WebSocket while a knob is held, and once through Streamlit
// when it is released. Controls that are mounted alone (Lessons) have no WebSocket: all of theirs goes by Streamlit.
// The next values leave when Python has answered the last ones (by their sequence number); over the WebSocket one
// message may leave ahead of the answer, so that Python computes while the page draws.

/** @import { Command, Controls } from "../messages.js" */

export const PATIENCE_MS = 600; // an answer that does not come (a rerun in between) must not freeze the knob
const AHEAD_MS = 22; // after the last message one may leave ahead of the answer
export const STALE_MS = 300; // without an answer for so long, what is shown counts as another setting's

/**
 * The ways to Python.
 * @typedef {object} Routes
 * @property {boolean} alone  there is no WebSocket
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
    /** @type {Command[]} not sent yet */
    this.commands = [];
    this.awaited = 0; // sequence number that is not answered yet; 0: none
    this.answered = values.seq; // sequence number of the last answer
    this.sentAt = -Infinity;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    this.nextSend = undefined;
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
    this.answered = this.values.seq;
    this.awaited = 0;
    this.push(true);
  }

  /**
   * Have the next message order something.
   * @param {Command} command
   */
  order(command) {
    const last = this.commands.at(-1);
    if (last?.act === "frames" && command.act === "frames") last.count = (last.count ?? 0) + (command.count ?? 0);
    else this.commands.push(command);
  }

  /** How long after the last message the next one may leave, in ms. */
  gap() {
    if (!this.awaited) return 0;
    const unanswered = this.values.seq - this.answered;
    return unanswered === 1 && !this.routes.alone ? AHEAD_MS : PATIENCE_MS;
  }

  /**
   * The values have changed: send them, now or when it is time.
   * @param {boolean} settled  whether Streamlit must know, too
   */
  push(settled) {
    this.changed = true;
    this.settled ||= settled;
    const waited = performance.now() - this.sentAt;
    const gap = this.gap();
    clearTimeout(this.nextSend);
    if (waited < gap) this.nextSend = setTimeout(() => this.flush(), gap - waited);
    else this.flush();
  }

  /** Send what has changed. What the WebSocket does not take waits until the knob is released. */
  flush() {
    clearTimeout(this.nextSend);
    if (!this.changed || !this.routes.isShown()) return;
    this.values.seq += 1;
    this.awaited = this.values.seq;
    this.sentAt = performance.now();
    if (this.staleTimeout === undefined) this.watch(true);
    const sent = this.routes.overSocket({ ...this.values, commands: this.commands });
    const told = this.settled || this.routes.alone;
    if (told) this.routes.throughStreamlit({ ...this.values, commands: sent ? [] : this.commands });
    this.changed = !sent && !told;
    if (!this.changed) this.commands = [];
    this.settled = false;
  }

  /**
   * Python has answered.
   * @param {number} seq  sequence number of the values it had
   */
  acknowledge(seq) {
    const isNew = seq > this.answered;
    this.answered = seq;
    if (this.awaited && seq >= this.awaited) this.awaited = 0;
    if (isNew || !this.awaited) this.watch(this.awaited > 0);
    if (!this.awaited) this.markStale(false);
    if (this.changed) this.push(this.settled);
  }
}
