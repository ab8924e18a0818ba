// The WebSocket to Python (app/server/drag_endpoint.py): positions of the controls go there, updates come straight back.

const lines = (globalThis.__knobLines ??= new Map()); // by token: a page that is left and entered again finds its line
const AGAIN_MS = 5000; // after a line was lost, before the next call

class Line {
  constructor(address, token) {
    Object.assign(this, { address, token });
    this.call();
  }

  call() {
    this.called = performance.now();
    this.socket = new WebSocket(this.address);
    this.socket.onmessage = (e) => this.heard(JSON.parse(e.data));
    this.socket.onclose = () => this.lost();
  }

  /** Whether it could be told. */
  tell(what) {
    const { readyState } = this.socket;
    if (readyState === WebSocket.OPEN) {
      this.socket.send(JSON.stringify({ token: this.token, ...what }));
      return true;
    }
    if (readyState === WebSocket.CLOSED && performance.now() - this.called > AGAIN_MS) this.call();
    return false;
  }
}

/** The line of a session; `heard(answer)` and `lost()` are the newest listener's. `base` is where the static files are. */
export function lineTo({ path, token }, base, heard, lost) {
  const address = new URL(`${base}../../${path}`, location.href);
  address.protocol = address.protocol.replace("http", "ws");
  const line = lines.get(token) ?? new Line(address, token);
  lines.set(token, line);
  return Object.assign(line, { heard, lost });
}
