// WebSocket for control values during a drag (its other end is app/server/drag_endpoint.py): values go out, updates
// come back without passing through Streamlit.

/** @import { Endpoint, Request, Update } from "../messages.js" */

const RETRY_MS = 5000; // from one attempt to connect to the next

/** One session's connection. */
export class KnobSocket {
  /**
   * @param {URL} address
   * @param {string} token  opens this session's endpoint
   */
  constructor(address, token) {
    this.address = address;
    this.token = token;
    /** @type {(update: Update) => void} */
    this.onUpdate = () => {};
    this.onLost = () => {};
    this.attempted = 0;
    this.socket = this.connect();
  }

  /**
   * Open a connection.
   * @returns {WebSocket}
   */
  connect() {
    this.attempted = performance.now();
    const socket = new WebSocket(this.address);
    socket.onopen = () => socket.send(JSON.stringify({ token: this.token })); // or the server closes it after a while
    socket.onmessage = (event) => this.onUpdate(JSON.parse(event.data));
    socket.onclose = () => this.onLost();
    return socket;
  }

  /**
   * Send a message; whether it could be sent.
   * @param {Request} message
   */
  send(message) {
    const { readyState } = this.socket;
    if (readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify({ token: this.token, ...message }));
      return true;
    }
    if (readyState === WebSocket.CLOSED && performance.now() - this.attempted > RETRY_MS) this.socket = this.connect();
    return false;
  }
}

/**
 * The address of the endpoint: two folders above app/static/, with ws: for http: and wss: for https:.
 * @param {string} base  address of app/static/
 * @param {string} path
 * @param {string} page  address of the page
 */
export function socketAddress(base, path, page) {
  const address = new URL(`${base}../../${path}`, page);
  address.protocol = address.protocol.replace("http", "ws");
  return address;
}

/**
 * The session's connection, a new one or that of an earlier visit of the page. The last caller gets the updates.
 * @param {Endpoint} endpoint
 * @param {string} base  address of app/static/
 * @param {(update: Update) => void} onUpdate
 * @param {() => void} onLost
 */
export function openSocket({ path, token }, base, onUpdate, onLost) {
  const sockets = (globalThis.__knobSockets ??= new Map()); // by token; global, so that browser tests can see it
  const socket = sockets.get(token) ?? new KnobSocket(socketAddress(base, path, location.href), token);
  sockets.set(token, socket);
  return Object.assign(socket, { onUpdate, onLost });
}
