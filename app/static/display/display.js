// A stream and what the gate does to it: read-outs, scope, film strip and the open panel, all drawn from one message.
// What no knob changes comes once for each stream (stream_background.js); the message names the stream.
import { STALE_MS } from "../knobs/update_sender.js";
import { mountOnce } from "../page/component.js";
import { addElement, find, setIfChanged } from "../page/dom.js";
import { FrameScheduler } from "../page/frame_scheduler.js";
import { Painter } from "../plot/painter.js";
import { backgroundOf, onBackground } from "../stream_background.js";
import { copyLink, savePicture } from "./export.js";
import { FilmStrip } from "./film_strip.js";
import { Panel } from "./panel.js";
import { Readouts } from "./readouts.js";
import { ScopeCursor } from "./scope_cursor.js";
import { SidePanels, isWide } from "./side_panels.js";
import { TimeZoom } from "./time_zoom.js";

/** @import { Common, DisplayMessage, MountArguments, Palette, Part, PartHost } from "../messages.js" */
/** @import { Command, Request, StreamBackground, ViewRequest } from "../messages.js" */
/** @import { Figure } from "../plot/figure_types.js" */

const HTML = `
  <div class="numbers">
    <div class="readouts" role="group" aria-label="read-outs"></div>
    <button type="button" class="more" aria-expanded="false" title="Show or hide the other read-outs">more</button>
  </div>
  <figure class="scope">
    <figcaption>
      <span class="title"></span>
      <span class="legend"></span>
      <span class="at" aria-live="off"></span>
      <span class="tools">
        <button type="button" class="wider" title="Show more frames (−)" aria-label="zoom out">−</button>
        <button type="button" class="closer" title="Show fewer frames, about where you touched (+)"
          aria-label="zoom in">+</button>
        <button type="button" class="whole" title="Show all of the stream (double click, or 0)" hidden>show all</button>
        <button type="button" class="link" title="Copy the address of this page, which holds the setting">link</button>
        <button type="button" class="png" title="Save read-outs, scope and panel as a picture">PNG</button>
      </span>
    </figcaption>
    <div class="plot">
      <canvas class="trace" tabindex="0" role="application" aria-roledescription="chart" aria-label="scope"></canvas>
      <div class="cursor-line" hidden></div>
      <div class="zoom-mark" hidden></div>
    </div>
    <div class="strip">
      <span class="strip-label"></span>
      <div class="film-window"><div class="film" role="group" aria-label="film strip"></div></div>
    </div>
  </figure>
  <div class="panels">
  <figure class="panel">
    <figcaption>
      <div class="tabs" role="tablist" aria-label="panel"></div>
      <span class="axis-options"></span>
    </figcaption>
    <div class="body">
      <canvas class="trace" role="img" aria-label="panel"></canvas>
      <div class="side"></div>
      <div class="compare" hidden></div>
    </div>
    <p class="note"></p>
  </figure>
  <div class="side-panels" hidden></div>
  </div>`;

const CURSOR_HELP = "Medians over the paths; the answer is the first path's, whose frames the film strip shows";
const SCOPE_HELP =
  "Wheel, + and − zoom; drag to choose a stretch, or to move it; double click or 0 shows all; arrows point";
const STRIP_HELP = "The first path's frames, and what the model takes them for; a wrong answer is red and crossed";

/** @implements {Part<DisplayMessage>} */
class Display {
  /**
   * @param {PartHost} host
   * @param {Common & DisplayMessage} message
   */
  constructor(host, message) {
    /** @type {Palette} */
    this.palette = {};
    /** @type {(name: string, value: unknown) => void} */
    this.setState = () => {};
    /** @type {(message: Request) => boolean} */
    this.send = () => false;
    this.message = message;
    this.session = message.session ?? "";
    this.view = { ...message.view };
    this.font = "";
    this.stale = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} until the view counts as not answered */
    this.staleTimer = undefined;
    /** @type {StreamBackground | null} */
    this.background = null;
    /** @type {Figure | null} the scope's */
    this.figure = null;
    this.box = document.createElement("section");
    this.box.className = "display";
    this.box.innerHTML = HTML;
    host.appendChild(this.box);
    const part = (/** @type {string} */ selector) => find(this.box, selector, HTMLElement);
    this.parts = { title: part(".scope .title"), legend: part(".legend") };
    this.readouts = new Readouts(part(".readouts"), this);
    const more = part(".more");
    more.onclick = () => {
      const open = part(".readouts").classList.toggle("open");
      more.setAttribute("aria-expanded", String(open));
      more.textContent = open ? "less" : "more";
    };
    part(".at").title = CURSOR_HELP;
    part(".strip").title = STRIP_HELP;
    this.scope = new Painter(find(this.box, ".scope canvas", HTMLCanvasElement));
    this.scope.canvas.title = SCOPE_HELP;
    this.cursor = new ScopeCursor(this.box, this);
    const buttons = { reset: part(".whole"), closer: part(".closer"), wider: part(".wider") };
    this.zoom = new TimeZoom(this.scope.canvas, part(".zoom-mark"), buttons, {
      axis: () => this.cursor.axis,
      whole: () => this.background?.figure.layout.xaxis.range ?? null,
      cursor: () => this.cursor.frame,
      changed: () => this.redraw.request(),
    });
    this.film = new FilmStrip(part(".strip"));
    this.panel = new Panel(part(".panel"), message.constants, this);
    this.sidePanels = new SidePanels(part(".side-panels"), message.constants);
    part(".link").onclick = () => copyLink(part(".link"));
    part(".png").onclick = () => savePicture(this);
    this.redraw = new FrameScheduler(() => {
      if (this.box.isConnected) this.draw();
    });
    new ResizeObserver(() => this.resized()).observe(this.box);
    onBackground(() => {
      if (this.box.isConnected) this.redraw.request();
    });
  }

  /** The display has another size: draw it anew, with as many panels as there is room for. */
  resized() {
    const wide = isWide(this.box.clientWidth);
    if (this.box.clientWidth && wide !== this.view.wide) this.changeView({ wide });
    this.redraw.request();
  }

  /**
   * The visitor has chosen another panel, unit or frame rate, or orders something.
   * @param {Partial<ViewRequest>} change
   * @param {Command[]} commands
   */
  changeView(change, commands = []) {
    Object.assign(this.view, change, { seq: this.view.seq + 1 });
    const sent = this.send({ view: { ...this.view, commands } });
    this.setState("view", { ...this.view, commands: sent ? [] : commands });
    this.watchView();
  }

  /** What is drawn counts as another view's (temperature, goals, panel) if Python does not answer soon. */
  watchView() {
    const { view } = this.message;
    if (view.epoch === this.view.epoch && view.seq < this.view.seq) {
      this.staleTimer ??= setTimeout(() => this.showStale(true), STALE_MS);
      return;
    }
    clearTimeout(this.staleTimer);
    this.staleTimer = undefined;
    this.showStale(false);
  }

  /** @param {boolean} stale */
  showStale(stale) {
    if (stale === this.stale) return;
    this.stale = stale;
    const detail = { part: "view", stale };
    this.box.dispatchEvent(new CustomEvent("knob-stale", { bubbles: true, composed: true, detail }));
  }

  /**
   * A goal was set on a card; null: there is none any more.
   * @param {string} name
   * @param {number | null} limit
   */
  setGoal(name, limit) {
    const goals = { ...this.view.goals };
    if (limit === null) delete goals[name];
    else goals[name] = limit;
    this.changeView({ goals });
  }

  /**
   * A button was pressed: the temperature is to be fitted, or something done to a pin in the table.
   * @param {Command} command
   */
  order(command) {
    this.changeView({}, [command]);
  }

  /** @param {string} panel */
  openPanel(panel) {
    this.changeView({ panel });
  }

  /** @param {Common & DisplayMessage} message */
  update(message) {
    this.message = message;
    const { session = "" } = message;
    if (session !== this.session) {
      this.session = session; // the server was started again, and knows the view of the link only
      this.changeView({ epoch: message.view.epoch });
    } else if (message.view.epoch !== this.view.epoch) this.view = { ...message.view };
    this.watchView();
    this.redraw.request();
  }

  /** Draw the newest message, if the stream's background has come. */
  draw() {
    const { message, box } = this;
    const background = backgroundOf(message.stream_id);
    if (!background) return;
    this.font ||= getComputedStyle(box).fontFamily; // reading it costs a style of the whole page
    this.background = background;
    this.zoom.follow(message.stream_id);
    this.figure = scopeFigure(background, message, this.zoom.range);
    this.scope.draw(this.figure, this.palette, this.font);
    this.writeCaption(background);
    this.film.draw(background, message, this.scope);
    this.readouts.draw(message.constants.readouts, message.readouts);
    this.panel.draw(message.panel);
    this.sidePanels.draw(message.side_panels, this.palette, this.font);
    this.cursor.refresh();
    setIfChanged(box, "class", message.waiting ? "display waiting" : "display"); // another stream is being made
    setIfChanged(box, "data-updates", "1"); // tests wait for it: something has been drawn
    setIfChanged(box, "data-stream", message.stream_id);
  }

  /**
   * Title, alternative text and legend of the scope.
   * @param {StreamBackground} background
   */
  writeCaption(background) {
    const { scope, constants } = this.message;
    const { title, legend } = this.parts;
    setIfChanged(title, "text", background.title);
    setIfChanged(this.scope.canvas, "aria-label", background.alt);
    const key = [...scope.legend, scope.pin].join();
    if (legend.dataset.key === key) return;
    legend.dataset.key = key;
    legend.replaceChildren();
    for (const kind of scope.legend) {
      const [text, help] = constants.legend[kind];
      addElement("i", kind, legend, kind === "pin" ? scope.pin : text).title = help;
    }
  }
}

/**
 * The scope: traces that no knob changes, then those of this setting.
 * @param {StreamBackground} background
 * @param {DisplayMessage} message
 * @param {[number, number] | null} range  frames that are shown; null: all
 * @returns {Figure}
 */
function scopeFigure({ figure: { data, layout } }, { scope }, range) {
  /** @type {Figure["layout"]} */
  const merged = { ...layout, shapes: [...(layout.shapes ?? []), ...scope.shapes] };
  for (const [name, change] of Object.entries(scope.axes))
    Object.assign(merged, { [name]: { .../** @type {Record<string, any>} */ (layout)[name], ...change } });
  if (range) merged.xaxis = { ...layout.xaxis, range };
  return { data: [...data, ...scope.data], layout: merged };
}

/**
 * The part of the Console's component.
 * @param {MountArguments<Common & DisplayMessage>} component
 */
export default (component) => mountOnce(component, "display.css", (host, message) => new Display(host, message));
