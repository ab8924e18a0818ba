// Draw a plotly-shaped figure on a canvas, fast enough to follow a drag. It draws the subset of plotly that our figures
// use: features.js lists it.
import { placeAxes, subplots } from "./axes.js";
import { drawSubplot } from "./axis_drawing.js";
import { drawBars } from "./bars.js";
import { paletteColour } from "./colours.js";
import { drawHeatmap } from "./heatmap.js";
import { drawRibbon } from "./ribbon.js";
import { drawScatter } from "./scatter.js";
import { drawAnnotation, drawShape } from "./shapes.js";

/** @import { Palette } from "../messages.js" */
/** @import { Figure, PlacedAxis, Plot, Trace } from "./figure_types.js" */

/** A canvas that figures are drawn on. */
export class Painter {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    const context = canvas.getContext("2d");
    if (!context) throw new Error("this browser has no 2d canvas");
    this.canvas = canvas;
    this.context = context;
    /** @type {Palette} */
    this.palette = {};
    this.font = "";
    this.size = { width: 0, height: 0, inner: { x: 0, y: 0, width: 0, height: 0 } };
    /** @type {Record<string, PlacedAxis> | null} of the figure drawn last */
    this.axes = null;
    this.ratio = 0; // pixels of the canvas for one of CSS; 0: the screen's
    /** @type {[number, number] | null} width and height in CSS pixels */
    this.measured = null;
    // Reading the canvas's size while drawing would make the browser lay out the page at once; this reports it before.
    new ResizeObserver(([entry]) => {
      this.measured = [entry.contentRect.width, entry.contentRect.height];
    }).observe(canvas);
  }

  /**
   * Draw a figure in place of the last one; nothing where the canvas is not shown.
   * @param {Figure} figure
   * @param {Palette} palette  colours of the theme
   * @param {string} font  CSS font family
   */
  draw(figure, palette, font) {
    this.palette = palette;
    this.font = font;
    const cleared = this.clear();
    if (!cleared) return;
    const [width, height] = cleared;
    const { margin, shapes = [], annotations = [] } = figure.layout;
    const inner = {
      x: margin.l,
      y: margin.t,
      width: width - margin.l - margin.r,
      height: height - margin.t - margin.b,
    };
    this.size = { width, height, inner };
    this.axes = placeAxes(figure.layout, inner);
    /** @type {Plot} */
    const plot = {
      context: this.context,
      axes: this.axes,
      size: this.size,
      font,
      classes: figure.layout.classes ?? [],
      colour: (name) => paletteColour(palette, name),
    };
    for (const [x, y] of subplots(this.axes)) drawSubplot(plot, x, y);
    for (const shape of shapes) if (shape.layer === "below") drawShape(plot, shape);
    figure.data.forEach((trace, i) => drawTrace(plot, trace, figure.data[i - 1] ?? null));
    for (const shape of shapes) if (shape.layer !== "below") drawShape(plot, shape);
    for (const annotation of annotations) drawAnnotation(plot, annotation);
  }

  /**
   * An empty canvas at the screen's resolution: [width, height] in CSS pixels, or null where it is not shown.
   * @returns {[number, number] | null}
   */
  clear() {
    const { canvas, context } = this;
    const [width, height] = (this.measured ??= [canvas.clientWidth, canvas.clientHeight]);
    if (!width || !height) {
      this.measured = null;
      return null;
    }
    const ratio = this.ratio || window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, width, height);
    return [width, height];
  }
}

/**
 * Draw one trace inside its subplot.
 * @param {Plot} plot
 * @param {Trace} trace
 * @param {Trace | null} previous
 */
function drawTrace(plot, trace, previous) {
  const { context: c, axes } = plot;
  const [x, y] = [axes[trace.xaxis ?? "x"], axes[trace.yaxis ?? "y"]];
  c.save();
  c.beginPath();
  c.rect(x.from - 0.5, y.to - 0.5, x.to - x.from + 1, y.from - y.to + 1);
  c.clip();
  if (trace.type === "bar") drawBars(plot, trace, x, y);
  else if (trace.type === "heatmap") drawHeatmap(plot, trace, x, y);
  else if (trace.type === "ribbon") drawRibbon(plot, trace, x, y);
  else drawScatter(plot, trace, previous, x, y);
  c.restore();
}
