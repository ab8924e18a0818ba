// The face of a knob as SVG: coloured zones, tick marks, a mark at the trained value, the body and its pointer.

/** @import { KnobSpec } from "../messages.js" */
/** @import { KnobScale } from "./knob_scale.js" */

const SVG = "http://www.w3.org/2000/svg";
const CENTRE = 60;
const ZONE_RADIUS = 50;
const TICK_RADII = [44.5, 40.5];

/**
 * The point at an angle (degrees clockwise from twelve o'clock) and a radius around the centre.
 * @param {number} degrees
 * @param {number} radius
 * @returns {[number, number]}
 */
export function polar(degrees, radius) {
  const angle = ((degrees - 90) * Math.PI) / 180;
  return [CENTRE + radius * Math.cos(angle), CENTRE + radius * Math.sin(angle)];
}

/**
 * An SVG path along a circle, clockwise from one angle to another.
 * @param {number} from  degrees
 * @param {number} to  degrees
 * @param {number} radius
 */
export function arcPath(from, to, radius) {
  const [x0, y0] = polar(from, radius).map((v) => v.toFixed(2));
  const [x1, y1] = polar(to, radius).map((v) => v.toFixed(2));
  return `M${x0} ${y0}A${radius} ${radius} 0 ${to - from > 180 ? 1 : 0} 1 ${x1} ${y1}`;
}

/**
 * @param {string} tag
 * @param {Record<string, string | number>} attributes
 * @param {SVGElement} parent
 */
function addSvg(tag, attributes, parent) {
  const el = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) el.setAttribute(name, String(value));
  parent.appendChild(el);
  return /** @type {SVGElement} */ (el);
}

/** What is drawn in a knob's <svg>. */
export class KnobFace {
  /**
   * @param {SVGSVGElement} svg
   * @param {KnobSpec} spec
   * @param {KnobScale} scale
   */
  constructor(svg, spec, scale) {
    this.scale = scale;
    for (const [from, to, kind] of spec.zones) {
      const d = arcPath(scale.degrees(from), scale.degrees(to), ZONE_RADIUS);
      addSvg("path", { d, class: `zone ${kind}` }, svg);
    }
    for (const value of spec.ticks) {
      const [[x1, y1], [x2, y2]] = TICK_RADII.map((radius) => polar(scale.degrees(value), radius));
      addSvg("line", { x1, y1, x2, y2, class: "tick" }, svg);
    }
    this.trained = addSvg("g", {}, svg);
    this.markTrained(spec.trained ?? null);
    addSvg("circle", { cx: CENTRE, cy: CENTRE, r: 36, class: "body" }, svg);
    addSvg("circle", { cx: CENTRE, cy: CENTRE, r: 28, class: "cap" }, svg);
    this.pointer = addSvg("line", { x1: 60, y1: 43, x2: 60, y2: 28, class: "pointer" }, svg);
  }

  /**
   * Mark the value that training found; null: no mark.
   * @param {number | null} value
   */
  markTrained(value) {
    this.trained.replaceChildren();
    if (!value) return;
    const transform = `translate(0 1.5) rotate(${this.scale.degrees(value)} 60 58.5)`;
    const arrow = addSvg("path", { d: "M60 5.5l3.4 -5h-6.8z", class: "trained", transform }, this.trained);
    addSvg("title", {}, arrow).textContent = `the trained value, ${value}`;
  }

  /**
   * Turn the pointer to a value.
   * @param {number} value
   */
  pointTo(value) {
    this.pointer.setAttribute("transform", `rotate(${this.scale.degrees(value).toFixed(2)} ${CENTRE} ${CENTRE})`);
  }
}
