// The film strip: some frames of the stream under the instants they belong to, with the model's answers.
import { addElement, find, setIfChanged } from "../page/dom.js";
import { showSpriteCell } from "../page/sprite.js";
import { unpack } from "../plot/packed_numbers.js";

/** @import { DisplayUpdate, StreamBackground } from "../messages.js" */
/** @import { Painter } from "../plot/painter.js" */

/** Pictures with a word below each. */
export class FilmStrip {
  /** @param {HTMLElement} strip */
  constructor(strip) {
    this.strip = strip;
    this.truth = find(strip, ".strip-label", HTMLElement);
    this.film = find(strip, ".film", HTMLElement);
    this.window = find(strip, ".film-window", HTMLElement);
    /** @type {number[]} */
    this.frames = [];
  }

  /**
   * @param {StreamBackground} background
   * @param {DisplayUpdate} message
   * @param {Painter} scope  above the strip: pictures stand below their frames
   */
  draw(background, { stream_id, film: answers }, scope) {
    setIfChanged(this.strip, "hidden", !background.film);
    this.frames = background.film?.frames ?? [];
    if (!background.film || !scope.axes) return;
    const truth = unpack(background.truth);
    const only = truth.every((label) => label === truth[0]) ? background.short[truth[0]] : "";
    setIfChanged(this.truth, "text", only ? `true ${only}\nseen as` : "seen as");
    this.placePictures(stream_id, background.film.sprite);
    const { from, to, toPixel } = scope.axes.x;
    setIfChanged(this.window, "style", `margin-left: ${from}px; margin-right: ${scope.size.width - to}px`);
    const [first, last] = [toPixel(-0.5), toPixel(truth.length - 0.5)]; // of the stream, wherever the axis begins
    const zoomed = last - first > to - from + 1;
    setIfChanged(this.film, "style", zoomed ? `margin-left: ${first - from}px; width: ${last - first}px` : "");
    this.frames.forEach((frame, i) => {
      const cell = this.film.children[i];
      const { short, classes } = background;
      const names = { truth: truth[frame], short, classes };
      const answer = describeAnswer(names, frame, answers.predicted[i], answers.confidence[i]);
      setIfChanged(cell, "class", answer.className);
      setIfChanged(cell.children[1], "text", answer.text);
      setIfChanged(cell, "title", answer.title);
    });
  }

  /**
   * One cell for every frame, each with its part of the sprite; again only when the stream is another.
   * @param {string} id
   * @param {string} sprite
   */
  placePictures(id, sprite) {
    const { film, frames } = this;
    if (film.dataset.stream === id && film.children.length === frames.length) return;
    film.dataset.stream = id;
    film.replaceChildren();
    frames.forEach((_, i) => {
      const cell = addElement("div", "cell", film);
      showSpriteCell(addElement("span", "picture", cell), sprite, i, frames.length, 1);
      addElement("b", "", cell);
    });
  }

  /**
   * Outline the picture that is nearest to a frame; null: none.
   * @param {number | null} frame
   */
  outline(frame) {
    const here = frame === null ? -1 : nearest(this.frames, frame);
    [...this.film.children].forEach((cell, i) => setIfChanged(cell, "data-here", String(i === here)));
  }
}

/**
 * Which of rising numbers is nearest to `value`; the first of two that are equally near.
 * @param {number[]} numbers
 * @param {number} value
 */
export function nearest(numbers, value) {
  let best = 0;
  numbers.forEach((number, i) => {
    if (Math.abs(number - value) < Math.abs(numbers[best] - value)) best = i;
  });
  return best;
}

/**
 * What a cell of the strip shows: a wrong answer is red and crossed, a frame that has not arrived is faint.
 * @param {{ truth: number, short: string[], classes: string[] }} background  truth: class, -1 where unknown
 * @param {number} frame
 * @param {number | null} seen  class that the model answers; null: the frame has not arrived
 * @param {number} confidence
 */
export function describeAnswer({ truth, short, classes }, frame, seen, confidence) {
  if (seen === null) return { className: "cell ahead", text: "", title: `frame ${frame}` };
  const wrong = truth >= 0 && seen !== truth;
  const answer = `true ${classes[truth] ?? "unknown"}, seen as ${classes[seen]}`;
  return {
    className: wrong ? "cell wrong" : "cell",
    text: (wrong ? "✕ " : "") + short[seen],
    title: `frame ${frame}: ${answer} (${(100 * confidence).toFixed(0)} % sure)`,
  };
}
