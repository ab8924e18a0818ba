// Draw a plotly-shaped figure on a canvas, quickly enough to follow a hand.
// A figure is {data: traces, layout}; colours may be names from the palette. What it draws is the subset our figures use:
// scatter (lines, markers, hv steps, fills, error bars), bars, shapes, annotations, linear and log axes, several subplots.

const decoded = new WeakMap();
const KINDS = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, i2: Int16Array };

/** A plain list, or plotly's {dtype, bdata} typed array. */
export function numbers(a) {
  if (!a) return [];
  if (!a.bdata) return a;
  let out = decoded.get(a);
  if (!out) {
    const bytes = Uint8Array.from(atob(a.bdata), (c) => c.charCodeAt(0));
    out = new KINDS[a.dtype](bytes.buffer);
    decoded.set(a, out);
  }
  return out;
}

const isLog = (axis) => axis.type === "log";

/** Pixel mapping of one axis. Log ranges are exponents, as in plotly. */
function scale(axis, from, to) {
  const [a, b] = axis.range;
  const log = isLog(axis);
  const map = (v) => from + ((to - from) * ((log ? Math.log10(v) : v) - a)) / (b - a);
  map.invert = (px) => {
    const v = a + ((b - a) * (px - from)) / (to - from);
    return log ? 10 ** v : v;
  };
  return map;
}

function niceStep(span, count) {
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  return power * [1, 2, 5, 10].find((m) => m * power >= rough * 0.999);
}

function ticks(axis, pixels) {
  if (axis.tickvals) return axis.tickvals.map((v, i) => [v, axis.ticktext ? axis.ticktext[i] : format(v)]);
  const [a, b] = [Math.min(...axis.range), Math.max(...axis.range)];
  const out = [];
  if (isLog(axis)) {
    for (let e = Math.floor(a); e <= Math.ceil(b); e++)
      for (const m of [1, 2, 5]) {
        const v = m * 10 ** e;
        if (Math.log10(v) >= a - 1e-9 && Math.log10(v) <= b + 1e-9) out.push([v, m === 1 || b - a < 2.2 ? format(v) : ""]);
      }
    return out;
  }
  const step = axis.dtick || niceStep(b - a, pixels / (axis._vertical ? 32 : 80));
  for (let v = Math.ceil(a / step - 1e-9) * step; v <= b + 1e-9 * step; v += step) out.push([v, format(Math.abs(v) < 1e-9 ? 0 : v)]);
  return out;
}

const format = (v) => String(+v.toPrecision(4)).replace("-", "\u2212");

function tint(colour, alpha) {
  const m = /^#(..)(..)(..)$/.exec(colour);
  return m ? `rgba(${parseInt(m[1], 16)},${parseInt(m[2], 16)},${parseInt(m[3], 16)},${alpha})` : colour;
}

const DASH = { dot: [1.5, 3], dash: [6, 4], dashdot: [7, 3, 1.5, 3] };

export class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d");
    this.painted = 0;
    // Asking the canvas for its size in the middle of a drawing would make the browser lay the page out there and then.
    new ResizeObserver(([entry]) => {
      this.measured = [entry.contentRect.width, entry.contentRect.height];
    }).observe(canvas);
  }

  /** A colour of the palette by name, "name/0.2" for a tint of it; anything else is CSS. */
  colour(name) {
    if (!name) return this.palette.text;
    const [base, alpha] = name.split("/");
    const hex = this.palette[base] || base;
    return alpha ? tint(hex, alpha) : hex;
  }

  /** Draw the figure; `palette` is the theme's table of names. */
  draw(figure, palette, font) {
    this.palette = palette;
    this.font = font;
    const size = this.clear();
    if (!size) return;
    const [w, h] = size;
    const { layout } = figure;
    const m = { l: 44, r: 10, t: 8, b: 26, ...layout.margin };
    const box = { x: m.l, y: m.t, w: w - m.l - m.r, h: h - m.t - m.b };
    this.size = { w, h, box };
    this.axes = {};
    for (const [name, axis] of Object.entries(layout)) {
      if (!/^[xy]axis\d*$/.test(name)) continue;
      const vertical = name[0] === "y";
      const [d0, d1] = axis.domain || [0, 1];
      const [from, to] = vertical ? [box.y + box.h * (1 - d0), box.y + box.h * (1 - d1)] : [box.x + box.w * d0, box.x + box.w * d1];
      const id = name[0] + name.slice(5);
      this.axes[id] = { ...axis, id, _vertical: vertical, from, to };
    }
    for (const pair of this.pairs(layout)) this.equalise(pair);
    for (const axis of Object.values(this.axes)) axis.map = scale(axis, axis.from, axis.to);
    for (const pair of this.pairs(layout)) this.frame(...pair);
    for (const shape of layout.shapes || []) if (shape.layer === "below") this.shape(shape);
    let previous = null;
    for (const trace of figure.data) {
      this.clipped(trace, () => this.trace(trace, previous));
      previous = trace;
    }
    for (const shape of layout.shapes || []) if (shape.layer !== "below") this.shape(shape);
    for (const note of layout.annotations || []) this.annotation(note);
    this.painted += 1;
  }

  /** An empty sheet at the screen's resolution; [width, height] in CSS pixels, or nothing where it is not shown. */
  clear() {
    const { canvas, context: c } = this;
    const [w, h] = (this.measured ??= [canvas.clientWidth, canvas.clientHeight]);
    if (!w || !h) {
      this.measured = undefined;
      return null;
    }
    const ratio = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
      canvas.width = Math.round(w * ratio);
      canvas.height = Math.round(h * ratio);
    }
    c.setTransform(ratio, 0, 0, ratio, 0, 0);
    c.clearRect(0, 0, w, h);
    return [w, h];
  }

  pairs(layout) {
    const out = [];
    for (const [id, y] of Object.entries(this.axes)) if (id[0] === "y") out.push([this.axes[y.anchor || "x" + id.slice(1)], y]);
    return out.filter(([x]) => x);
  }

  /** scaleanchor: the same number of pixels a unit on both axes (pole maps have round circles). */
  equalise([x, y]) {
    if (!y.scaleanchor) return;
    const [px, py] = [Math.abs(x.to - x.from), Math.abs(y.to - y.from)];
    const [ux, uy] = [x.range[1] - x.range[0], y.range[1] - y.range[0]];
    const unit = Math.min(px / ux, py / uy);
    for (const [axis, p, u] of [[x, px, ux], [y, py, uy]]) {
      const middle = (axis.range[0] + axis.range[1]) / 2;
      const half = p / unit / 2;
      axis.range = u > 0 ? [middle - half, middle + half] : [middle + half, middle - half];
    }
  }

  frame(x, y) {
    const c = this.context;
    c.lineWidth = 1;
    c.font = `11px ${this.font}`;
    const [left, right, bottom, top] = [x.from, x.to, y.from, y.to];
    if (!x.hidden || !y.hidden) {
      c.fillStyle = this.colour("plot");
      c.fillRect(left, top, right - left, bottom - top);
    }
    c.strokeStyle = this.colour("grid");
    c.fillStyle = this.colour("muted");
    const rule = (axis, ...ends) => {
      if (axis.showgrid === false) return;
      c.beginPath();
      c.moveTo(ends[0], ends[1]);
      c.lineTo(ends[2], ends[3]);
      c.stroke();
    };
    for (const [v, text] of ticks(x, right - left)) {
      const px = Math.round(x.map(v)) + 0.5;
      c.globalAlpha = text ? 1 : 0.5;
      rule(x, px, top, px, bottom);
      c.globalAlpha = 1;
      if (x.showticklabels === false || (x.anchor && x.anchor !== y.id)) continue;
      const half = c.measureText(text).width / 2;
      c.textAlign = "center";
      c.textBaseline = "top";
      c.fillText(text, Math.min(px, this.size.w - half - 1), bottom + 5);
    }
    for (const [v, text] of ticks(y, bottom - top)) {
      const py = Math.round(y.map(v)) + 0.5;
      rule(y, left, py, right, py);
      if (y.showticklabels === false) continue;
      c.textAlign = "right";
      c.textBaseline = "middle";
      c.fillText(text, left - 6, py);
    }
    const title = (axis) => axis.title && (axis.title.text ?? axis.title);
    c.fillStyle = this.colour("muted");
    if (title(x)) {
      c.textAlign = "center";
      c.textBaseline = "bottom";
      c.fillText(title(x), (left + right) / 2, this.size.h - 1);
    }
    if (title(y)) {
      c.save();
      c.translate(left - (y.titlegap || 34), (top + bottom) / 2);
      c.rotate(-Math.PI / 2);
      c.textAlign = "center";
      c.textBaseline = "bottom";
      if (y.title.font) {
        c.fillStyle = this.colour(y.title.font.color);
        c.font = `600 11px ${this.font}`;
      }
      c.fillText(title(y), 0, 0);
      c.restore();
    }
  }

  of(trace) {
    return [this.axes[trace.xaxis || "x"], this.axes[trace.yaxis || "y"]];
  }

  clipped(trace, paint) {
    const [x, y] = this.of(trace);
    if (!x || !y) return;
    const c = this.context;
    c.save();
    c.beginPath();
    const slack = trace.cliponaxis === false ? 8 : 0.5;
    c.rect(x.from - slack, y.to - slack, x.to - x.from + 2 * slack, y.from - y.to + 2 * slack);
    c.clip();
    paint();
    c.restore();
  }

  points(trace) {
    const [ax, ay] = this.of(trace);
    const [x, y] = [numbers(trace.x), numbers(trace.y)];
    const n = y.length;
    const out = new Float64Array(2 * n);
    const [x0, dx] = [trace.x0 ?? 0, trace.dx ?? 1];
    for (let i = 0; i < n; i++) {
      out[2 * i] = ax.map(trace.x ? x[i] : x0 + dx * i);
      out[2 * i + 1] = y[i] == null ? NaN : ay.map(y[i]);
    }
    return out;
  }

  path(p, shape) {
    const c = this.context;
    let pen = false;
    for (let i = 0; i < p.length; i += 2) {
      if (!Number.isFinite(p[i + 1]) || !Number.isFinite(p[i])) { pen = false; continue; }
      if (!pen) c.moveTo(p[i], p[i + 1]);
      else {
        if (shape === "hv") c.lineTo(p[i], p[i - 1]);
        c.lineTo(p[i], p[i + 1]);
      }
      pen = true;
    }
  }

  trace(trace, previous) {
    const c = this.context;
    if (trace.visible === false) return;
    if (trace.type === "bar") return this.bars(trace);
    if (trace.type === "heatmap") return this.heat(trace);
    const p = this.points(trace);
    const mode = trace.mode || "lines";
    const line = trace.line || {};
    c.lineJoin = "round";
    if (trace.fill && trace.fill !== "none") this.fill(trace, previous, p);
    if (trace.error_y) this.errors(trace, p);
    if (mode.includes("lines") && line.width !== 0) {
      c.beginPath();
      this.path(p, line.shape);
      c.strokeStyle = this.colour(line.color);
      c.lineWidth = line.width || 1.5;
      c.setLineDash(DASH[line.dash] || []);
      c.stroke();
      c.setLineDash([]);
    }
    if (mode.includes("markers")) this.markers(trace.marker || {}, p);
    return undefined;
  }

  /** Down to the previous trace or to zero, stretch by stretch where the line has gaps. */
  fill(trace, previous, p) {
    const c = this.context;
    const q = trace.fill === "tonexty" && previous ? this.points(previous) : null;
    const zero = this.of(trace)[1].map(0);
    c.fillStyle = this.colour(trace.fillcolor);
    const there = (i) => Number.isFinite(p[i + 1]) && (!q || Number.isFinite(q[i + 1]));
    for (let i = 0; i < p.length; ) {
      while (i < p.length && !there(i)) i += 2;
      let j = i;
      c.beginPath();
      for (; j < p.length && there(j); j += 2) c.lineTo(p[j], p[j + 1]);
      for (let k = j - 2; k >= i; k -= 2) c.lineTo(p[k], q ? q[k + 1] : zero);
      c.fill();
      i = j;
    }
  }

  errors(trace, p) {
    const c = this.context;
    const ay = this.of(trace)[1];
    const [y, e] = [numbers(trace.y), numbers(trace.error_y.array)];
    c.strokeStyle = this.colour(trace.error_y.color || (trace.marker || {}).color);
    c.lineWidth = 1.2;
    c.beginPath();
    for (let i = 0; i < y.length; i++) {
      if (!Number.isFinite(p[2 * i + 1]) || !Number.isFinite(e[i])) continue;
      c.moveTo(p[2 * i], ay.map(y[i] - e[i]));
      c.lineTo(p[2 * i], ay.map(y[i] + e[i]));
    }
    c.stroke();
  }

  markers(marker, p) {
    const c = this.context;
    const r = (marker.size || 6) / 2;
    const list = Array.isArray(marker.color);
    for (let i = 0; i < p.length; i += 2) {
      const [x, y] = [p[i], p[i + 1]];
      if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
      const colour = this.colour(list ? marker.color[i / 2] : marker.color);
      c.strokeStyle = c.fillStyle = colour;
      c.lineWidth = (marker.line || {}).width || 1.6;
      c.beginPath();
      if (marker.symbol === "x") {
        c.moveTo(x - r, y - r); c.lineTo(x + r, y + r);
        c.moveTo(x - r, y + r); c.lineTo(x + r, y - r);
        c.stroke();
      } else if (marker.symbol === "line-ns") {
        c.moveTo(x, y - r); c.lineTo(x, y + r);
        c.stroke();
      } else if (marker.symbol === "triangle-down") {
        c.moveTo(x - r, y - r); c.lineTo(x + r, y - r); c.lineTo(x, y + r);
        c.fill();
      } else {
        c.arc(x, y, r, 0, 2 * Math.PI);
        if (marker.symbol === "circle-open") c.stroke(); else c.fill();
      }
    }
  }

  bars(trace) {
    const c = this.context;
    const [ax, ay] = this.of(trace);
    const [x, y] = [numbers(trace.x), numbers(trace.y)];
    const width = numbers(trace.width);
    const zero = ay.map(trace.base ?? 0);
    const marker = trace.marker || {};
    for (let i = 0; i < y.length; i++) {
      if (!Number.isFinite(y[i])) continue;
      const half = (width.length ? width[i] : typeof trace.width === "number" ? trace.width : 0.8) / 2;
      const [l, r] = [ax.map(x[i] - half), ax.map(x[i] + half)];
      c.fillStyle = this.colour(Array.isArray(marker.color) ? marker.color[i] : marker.color);
      c.fillRect(l, ay.map(y[i]), Math.max(1, r - l), zero - ay.map(y[i]));
    }
  }

  /** Rows of cells; a value in [0, 1] is how strongly the scale's second colour shows. */
  heat(trace) {
    const c = this.context;
    const [ax, ay] = this.of(trace);
    const [x0, dx] = [trace.x0 ?? 0, trace.dx ?? 1];
    c.fillStyle = this.colour(trace.colorscale[1][1]);
    trace.z.forEach((row, j) => {
      const z = numbers(row);
      const [bottom, top] = [ay.map((trace.y0 ?? 0) + j - 0.42), ay.map((trace.y0 ?? 0) + j + 0.42)];
      for (let i = 0; i < z.length; i++) {
        if (!(z[i] > 0.004)) continue;
        const [l, r] = [ax.map(x0 + dx * (i - 0.5)), ax.map(x0 + dx * (i + 0.5))];
        c.globalAlpha = Math.min(1, z[i]);
        c.fillRect(l, top, r - l + 0.4, bottom - top);
      }
    });
    c.globalAlpha = 1;
  }

  /** A shape's or note's position: data of an axis, or "paper"/"x domain" fractions. */
  place(value, ref, letter) {
    if (!ref || ref === "paper") {
      const { box } = this.size;
      return letter === "x" ? box.x + box.w * value : box.y + box.h * (1 - value);
    }
    const [name, domain] = ref.split(" ");
    const axis = this.axes[name];
    if (!axis) return NaN;
    return domain ? axis.from + (axis.to - axis.from) * value : axis.map(value);
  }

  shape(s) {
    const c = this.context;
    const [x0, x1] = [this.place(s.x0, s.xref || "x", "x"), this.place(s.x1, s.xref || "x", "x")];
    const [y0, y1] = [this.place(s.y0, s.yref || "y", "y"), this.place(s.y1, s.yref || "y", "y")];
    const line = s.line || {};
    c.beginPath();
    if (s.type === "rect") c.rect(x0, y0, x1 - x0, y1 - y0);
    else if (s.type === "circle") c.ellipse((x0 + x1) / 2, (y0 + y1) / 2, Math.abs(x1 - x0) / 2, Math.abs(y1 - y0) / 2, 0, 0, 2 * Math.PI);
    else { c.moveTo(x0, y0); c.lineTo(x1, y1); }
    if (s.fillcolor) { c.fillStyle = this.colour(s.fillcolor); c.fill(); }
    if (line.width !== 0) {
      c.strokeStyle = this.colour(line.color);
      c.lineWidth = line.width || 1;
      c.setLineDash(DASH[line.dash] || []);
      c.stroke();
      c.setLineDash([]);
    }
  }

  annotation(a) {
    const c = this.context;
    const font = a.font || {};
    c.font = `${font.weight || 400} ${font.size || 11}px ${this.font}`;
    c.fillStyle = this.colour(font.color);
    c.textAlign = a.xanchor || "center";
    c.textBaseline = a.yanchor || "middle";
    c.fillText(a.text, this.place(a.x, a.xref, "x") + (a.xshift || 0), this.place(a.y, a.yref, "y") - (a.yshift || 0));
  }
}
