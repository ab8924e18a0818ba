// Draw s(t) by hand: sweep the pointer over the sheet; with keys, arrows move along and up and down. Sent when the hand lets go.
import { once } from "./look.js";

const TOP = 5; // severity

class Sketch {
  constructor(host, data) {
    this.values = [...data.values];
    this.at = 0;
    this.box = document.createElement("div");
    this.box.className = "sketch";
    this.box.innerHTML = `<canvas tabindex="0" role="slider" title="Sweep over the sheet; with keys, arrows move along and up and down" aria-label="severity by hand" aria-valuemin="0" aria-valuemax="5"></canvas>`;
    host.appendChild(this.box);
    this.canvas = this.box.firstChild;
    this.listen();
    new ResizeObserver(() => this.paint()).observe(this.box);
  }

  adopt(data) {
    if (data.epoch !== this.epoch && !this.drawing) {
      this.epoch = data.epoch;
      this.values = [...data.values];
    }
    this.paint();
  }

  listen() {
    const { canvas } = this;
    const place = (e) => {
      const r = canvas.getBoundingClientRect();
      const n = this.values.length;
      const i = Math.min(n - 1, Math.max(0, Math.floor(((e.clientX - r.left) / r.width) * n)));
      return [i, Math.min(TOP, Math.max(0, TOP * (1.04 - (1.08 * (e.clientY - r.top)) / r.height)))];
    };
    canvas.onpointerdown = (e) => {
      canvas.setPointerCapture(e.pointerId);
      e.preventDefault();
      canvas.focus({ preventScroll: true });
      this.drawing = place(e);
      this.values[this.drawing[0]] = this.drawing[1];
      this.paint();
    };
    canvas.onpointermove = (e) => {
      if (!this.drawing) return;
      const [i0, v0] = this.drawing, [i1, v1] = (this.drawing = place(e));
      const steps = Math.max(1, Math.abs(i1 - i0));
      for (let k = 0; k <= steps; k++) this.values[Math.round(i0 + ((i1 - i0) * k) / steps)] = v0 + ((v1 - v0) * k) / steps;
      this.at = i1;
      this.paint();
    };
    canvas.onpointerup = canvas.onpointercancel = () => {
      if (!this.drawing) return;
      this.drawing = null;
      this.send();
    };
    canvas.onkeydown = (e) => {
      const n = this.values.length;
      if (e.key === "ArrowRight") this.at = Math.min(n - 1, this.at + 1);
      else if (e.key === "ArrowLeft") this.at = Math.max(0, this.at - 1);
      else if (e.key === "ArrowUp" || e.key === "ArrowDown")
        this.values[this.at] = Math.min(TOP, Math.max(0, this.values[this.at] + (e.key === "ArrowUp" ? 0.25 : -0.25)));
      else return;
      e.preventDefault();
      this.paint();
      clearTimeout(this.later);
      this.later = setTimeout(() => this.send(), 500);
    };
  }

  send() {
    this.emit("drawn", this.values.map((v) => +v.toFixed(2)));
  }

  paint() {
    const { canvas } = this;
    const ratio = window.devicePixelRatio || 1;
    const [w, h] = [canvas.clientWidth, canvas.clientHeight];
    if (!w || !this.palette) return;
    canvas.width = w * ratio;
    canvas.height = h * ratio;
    const c = canvas.getContext("2d");
    c.scale(ratio, ratio);
    const n = this.values.length;
    const y = (v) => (h * (1.04 - v / TOP)) / 1.08;
    c.strokeStyle = this.palette.grid;
    for (let v = 0; v <= TOP; v++) {
      c.beginPath();
      c.moveTo(0, y(v));
      c.lineTo(w, y(v));
      c.stroke();
    }
    c.strokeStyle = this.palette.severity;
    c.lineWidth = 2.5;
    c.beginPath();
    this.values.forEach((v, i) => {
      c.lineTo((w * i) / n, y(v));
      c.lineTo((w * (i + 1)) / n, y(v));
    });
    c.stroke();
    c.fillStyle = this.palette.gate;
    c.fillRect((w * (this.at + 0.5)) / n - 1, 0, 2, h);
    canvas.setAttribute("aria-valuenow", this.values[this.at].toFixed(2));
    canvas.setAttribute("aria-valuetext", `frame part ${this.at + 1} of ${n}: severity ${this.values[this.at].toFixed(2)}`);
  }
}

export default (component) => once(component, "sketch.css", (host, data) => new Sketch(host, data));
