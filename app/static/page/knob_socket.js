// WebSocket for control values during a drag (its other end is app/server/drag_endpoint.py): values go out, updates
// come back without passing through Streamlit.

/** @import { Endpoint, Request, Update } from "../messages.js" */

const RETRY_MS = 5000; // from one attempt to connect to the next, where somebody wants to send
const LOST_MS = 500; // from one look at a server that has gone to the next: it may be back
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
    /** @type {(refused: boolean) => void} */
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
      if (code === REFUSED && this.wanted) this.onForgotten(true);
      else if (GONE.includes(code) && this.wasOpen) this.retry(socket);
    };
    return socket;
  }

  /**
   * The server has gone: connect when it is back, unless another session or another socket has taken over.
   * It is asked by HTTP: browsers make every new WebSocket wait, Streamlit's too, where some have failed.
   * @param {WebSocket} lost
   */
  retry(lost) {
    setTimeout(async () => {
      const back = !document.hidden && (await isUp(healthAddress(this.address)));
      if (!this.wanted || this.socket !== lost) return;
      if (!back) return this.retry(lost);
      this.socket = this.connect();
      this.onForgotten(false);
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
 * Where Streamlit says whether it runs: beside the endpoint.
 * @param {URL} endpoint
 */
export function healthAddress(endpoint) {
  const address = new URL("_stcore/health", endpoint);
  address.protocol = address.protocol.replace("ws", "http");
  return address;
}

/**
 * Whether a server answers.
 * @param {URL} address
 */
async function isUp(address) {
  try {
    return (await fetch(address, { cache: "no-store" })).ok;
  } catch {
    return false;
  }
}

/**
 * The session's connection, a new one or that of an earlier visit of the page. The last caller gets the updates.
 * @param {Endpoint} endpoint
 * @param {string} base  address of app/static/
 * @param {(update: Update) => void} onUpdate
 * @param {(refused: boolean) => void} onForgotten  the server does not know this session (and says so, after a while),
 *   or was gone and may not
 */
export function openSocket({ path, token }, base, onUpdate, onForgotten) {
  const sockets = (globalThis.__knobSockets ??= new Map()); // by token; global, so that browser tests can see it
  const socket = sockets.get(token) ?? new KnobSocket(socketAddress(base, path, location.href), token);
  sockets.set(token, socket);
  return Object.assign(socket, { onUpdate, onForgotten });
}
