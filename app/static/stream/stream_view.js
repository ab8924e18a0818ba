// A stream and what the gate does to it: read-outs, scope, film strip and the open panel, all drawn from one message.
// What no knob changes of the stream is in stream_cache.js; the message names it.
import { mountOnce } from "../page/component.js";
import { addElement, find, setIfChanged } from "../page/dom.js";
import { FrameScheduler } from "../page/frame_scheduler.js";
import { Painter } from "../plot/painter.js";
import { cachedStream, onStreamCached } from "../stream_cache.js";
import { copyLink, savePicture } from "./export.js";
import { FilmStrip } from "./film_strip.js";
import { Panel } from "./panel.js";
import { writeReadouts } from "./readouts.js";
import { ScopeCursor } from "./scope_cursor.js";

/** @import { CommonMessage, FixedStream, MountArguments, Palette, Part, PartHost } from "../messages.js" */
/** @import { SocketMessage, StreamMessage, View } from "../messages.js" */
/** @import { Figure } from "../plot/figure_types.js" */

const HTML = `<div class="readouts" role="group" aria-label="read-outs"></div>
  <figure class="scope"><figcaption><span class="title"></span><span class="legend"></span><span class="at" aria-live="off" title="Medians over the paths; the answer is the first path's, whose frames the film strip shows"></span>
    <button type="button" class="link" title="Copy a link that holds the whole setting">link</button><button type="button" class="png" title="Save scope and panel as a picture">PNG</button></figcaption>
    <div class="plot"><canvas class="trace" tabindex="0" role="img" aria-label="scope"></canvas><div class="hair" hidden></div></div>
    <div class="strip" title="The first path's frames, and what the model takes them for; a wrong answer is red and crossed"><span class="said"></span><div class="film" role="group" aria-label="film strip"></div></div></figure>
  <figure class="panel"><figcaption><div class="tabs" role="tablist" aria-label="panel"></div><span class="controls"></span></figcaption>
    <div class="body"><canvas class="trace" role="img" aria-label="panel"></canvas><div class="side"></div></div><p class="note"></p></figure>`;

/** @implements {Part<StreamMessage>} */
class StreamView {
  /**
   * @param {PartHost} host
   * @param {StreamMessage} message
   */
  constructor(host, message) {
    /** @type {Palette} */
    this.palette = {};
    /** @type {(name: string, value: unknown) => void} */
    this.setState = () => {};
    /** @type {(message: SocketMessage) => boolean} */
    this.send = () => false;
    this.message = message;
    this.view = { ...message.view };
    this.font = "";
    /** @type {FixedStream | null} */
    this.stream = null;
    /** @type {Figure | null} the scope's */
    this.figure = null;
    this.box = document.createElement("section");
    this.box.className = "board";
    this.box.innerHTML = HTML;
    host.appendChild(this.box);
    const part = (/** @type {string} */ selector) => find(this.box, selector, HTMLElement);
    this.parts = { title: part(".scope .title"), legend: part(".legend"), readouts: part(".readouts") };
    this.scope = new Painter(find(this.box, ".scope canvas", HTMLCanvasElement));
    this.cursor = new ScopeCursor(this.box, this);
    this.film = new FilmStrip(part(".strip"));
    this.panel = new Panel(part(".panel"), message.spec, this);
    part(".link").onclick = () => copyLink(part(".link"));
    part(".png").onclick = () => savePicture(this);
    this.redraw = new FrameScheduler(() => {
      if (this.box.isConnected) this.draw();
    });
    new ResizeObserver(() => this.redraw.request()).observe(this.box);
    onStreamCached(() => {
      if (this.box.isConnected) this.redraw.request();
    });
  }

  /**
   * The visitor has chosen another panel, unit or frame rate.
   * @param {Partial<View>} change
   */
  changeView(change) {
    Object.assign(this.view, change, { seq: this.view.seq + 1 });
    this.send({ view: { ...this.view } });
    this.setState("view", { ...this.view });
  }

  /** @param {CommonMessage & StreamMessage} message */
  update(message) {
    this.message = message;
    if (message.view.epoch !== this.view.epoch) this.view = { ...message.view };
    this.redraw.request();
  }

  /** Draw the newest message, if its stream has come. */
  draw() {
    const { message, box } = this;
    const stream = cachedStream(message.tape);
    if (!stream) return;
    this.font ||= getComputedStyle(box).fontFamily; // reading it costs a style of the whole page
    this.stream = stream;
    this.figure = scopeFigure(stream, message);
    this.scope.draw(this.figure, this.palette, this.font);
    this.writeCaption();
    this.film.draw(stream, message, this.scope);
    writeReadouts(this.parts.readouts, message.readouts);
    this.panel.draw(message.panel);
    this.cursor.refresh();
    setIfChanged(box, "data-updates", "1"); // tests wait for it: something has been drawn
    setIfChanged(box, "data-tape", message.tape);
  }

  /** Title, alternative text and legend of the scope. */
  writeCaption() {
    const { scope } = this.message;
    const { title, legend } = this.parts;
    setIfChanged(title, "text", scope.title);
    setIfChanged(this.scope.canvas, "aria-label", scope.alt);
    const key = JSON.stringify(scope.legend);
    if (legend.dataset.key === key) return;
    legend.dataset.key = key;
    legend.replaceChildren();
    for (const [kind, text, help] of scope.legend) addElement("i", kind, legend, text).title = help;
  }
}

/**
 * The scope: the stream's fixed traces and shapes, then those of this setting.
 * @param {FixedStream} stream
 * @param {StreamMessage} message
 * @returns {Figure}
 */
function scopeFigure({ figure: { data, layout } }, { scope }) {
  return { data: [...data, ...scope.data], layout: { ...layout, shapes: scope.shapes } };
}

/**
 * The part of the Console's component.
 * @param {MountArguments<CommonMessage & StreamMessage>} component
 */
export default (component) => mountOnce(component, "stream_view.css", (host, message) => new StreamView(host, message));
