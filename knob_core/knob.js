// Knob: one damped spring between a classifier and its answer. The twin of knob.py, which has the equations.
// Both must give the answers of truth.csv.
//
//     const knob = new Knob({ zeta: 1, omega_n: 0.4 });
//     const p = knob.next(logits);           // an array of K logits; null for a frame that did not come
//     const q = knob.next(z_static, z_dyn, u_star);   // of a model with two branches and a gate

export const SAFE = { a: 2, b: 2, d: 0, tau: 1, eps: 0.05, t_0: 0, f: 0.4, o: [], s: [] };
const FLOOR = 1e-9, KEPT = 0.95, TINY = 1e-300, DRIVE = 700;

const sum = (x) => x.reduce((total, value) => total + value, 0);
const largest = (x) => x.reduce((top, value, i) => (value > x[top] ? i : top), 0);

function softmax(z) {
  const top = Math.max(...z), e = z.map((value) => Math.exp(value - top)), total = sum(e);
  return e.map((value) => value / total);
}

function mixed(z_static, z_dyn, u) {
  if (!z_dyn) return z_static;
  const g = 1 / (1 + Math.exp(-u));
  return z_static.map((z, i) => g * z_dyn[i] + (1 - g) * z);
}

/** (1 - s) answer + s p: s is f, or less where the answer's class would not stay on top. */
function shared(answer, p, f) {
  const top = largest(answer);
  let tie = 1;
  for (let i = 0; i < p.length; i++) {
    const ahead = answer[top] - answer[i], against = p[i] - p[top];
    if (against > 0) tie = Math.min(tie, ahead / (ahead + against));
  }
  const s = Math.min(f, KEPT * tie);
  return answer.map((value, i) => (1 - s) * value + s * p[i]);
}

export class Knob {
  constructor({ zeta = 1, omega_n = 0.4, ...weights } = {}) {
    Object.assign(this, { zeta, omega_n, weights: { ...SAFE, ...weights } });
    this.reset();
  }

  /** Forget every frame; the next one begins a new stream. */
  reset() {
    this.m = null; // of each class
    this.v = null;
    this.u = 0; // of the gate
    this.u_v = 0;
    this.held = null; // the last frame that came
    this.omega = this.omega_n; // the natural frequency that acted, rad/frame
  }

  /** Probabilities of the next frame; null before any frame came. */
  next(z_static, z_dyn = null, u_star = 0, dt = 1) {
    const w = this.weights, came = z_static !== null;
    if (came) this.held = { z_static, z_dyn, u_star };
    if (!this.held) return null;
    const frame = this.held, classes = frame.z_static.length;
    const distribution = (u) =>
      softmax(mixed(frame.z_static, frame.z_dyn, u).map((z, i) => (z + (w.o[i] ?? 0)) / w.tau));
    let p = distribution(frame.u_star);
    const first = this.m === null, before = first ? p : this.m;
    const q = 1 + sum(p.map((x) => x * Math.log(Math.max(x, TINY)))) / Math.log(classes);
    const told = (1 - w.eps) ** 2, overlap = sum(before.map((m, i) => m * p[i]));
    const l = came ? Math.max(0, -Math.log(Math.max(classes * told * overlap + 1 - told, TINY))) : 0;
    const drive = w.a + w.b * l + w.d * q + (w.s[largest(before)] ?? 0);
    const { zeta } = this, cap = zeta + Math.hypot(zeta, 1);
    const turned = Math.exp(Math.min(Math.max(drive, -DRIVE), DRIVE));
    const h = Math.min(0.5 * this.omega_n * dt * turned, cap), gain = 2 / (1 / h + 2 * zeta + h);
    const follow = (x, v, y) => {
      const e = y - x;
      return [x + gain * (v + h * e), (1 - gain * h) * (v + gain * (e - (2 * zeta + h) * v))];
    };
    this.omega = (2 * h) / dt;
    if (frame.z_dyn) {
      [this.u, this.u_v] = follow(this.u, this.u_v, frame.u_star);
      p = distribution(this.u);
    }
    const m = first ? p : this.m, v = first ? p.map(() => 0) : this.v;
    const moved = m.map((value, i) => follow(value, v[i], p[i]));
    this.m = moved.map(([x]) => x);
    this.v = moved.map(([, speed]) => speed);
    const kept = this.m.map((value) => Math.max(value, FLOOR)), top = Math.max(...kept);
    const answer = kept.map((value) => (value / top) ** Math.exp(w.t_0)), total = sum(answer);
    return shared(answer.map((value) => value / total), p, w.f);
  }
}
