// WebSocket for control values during a drag (its other end is app/server/drag_endpoint.py): values go out, updates
// come back without passing through Streamlit.

/** @import { Endpoint, Request, Update } from "../messages.js" */

const RETRY_MS = 5000; // from one attempt to connect to the next, where somebody wants to send
const LOST_MS = 1000; // the same, where the server has gone: it may be back
const REFUSED = 1008; // the server does not know the token
const GONE = [1005, 1006, 1012]; // not closed at all, or by a server that stops

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
    this.onForgotten = () => {};
    this.attempted = 0;
    this.wasOpen = false; // a proxy that lets none through is not asked again and again
    this.wanted = true; // no newer session has come
    this.socket = this.connect();
  }

  /**
   * Open a connection.
   * @returns {WebSocket}
   */
  connect() {
    this.attempted = performance.now();
    const socket = new WebSocket(this.address);
    socket.onopen = () => {
      this.wasOpen = true;
      socket.send(JSON.stringify({ token: this.token })); // or the server closes it after a while
    };
    socket.onmessage = (event) => this.onUpdate(JSON.parse(event.data));
    socket.onclose = ({ code }) => {
      this.onLost();
      if (code === REFUSED && this.wanted) this.onForgotten();
      else if (GONE.includes(code) && this.wasOpen) this.retry(socket);
    };
    return socket;
  }

  /**
   * The server has gone: try again until it is back, unless another session or another socket has taken over.
   * @param {WebSocket} lost
   */
  retry(lost) {
    setTimeout(() => {
      if (!this.wanted || this.socket !== lost) return;
      if (document.hidden) this.retry(lost);
      else this.socket = this.connect();
    }, LOST_MS);
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
 * @param {() => void} onForgotten  the server is back and does not know this session
 */
export function openSocket({ path, token }, base, onUpdate, onLost, onForgotten) {
  const sockets = (globalThis.__knobSockets ??= new Map()); // by token; global, so that browser tests can see it
  const socket = sockets.get(token) ?? new KnobSocket(socketAddress(base, path, location.href), token);
  sockets.set(token, socket);
  return Object.assign(socket, { onUpdate, onLost, onForgotten });
}
