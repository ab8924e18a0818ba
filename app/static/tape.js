// Keep what no knob changes (ghost traces, axes, the film's pixels) in the page, so that it does not travel with every turn.

const tapes = (globalThis.__knobTapes ??= new Map());
const KEPT = 3;

export default function ({ data }) {
  tapes.delete(data.id);
  tapes.set(data.id, data);
  while (tapes.size > KEPT) tapes.delete(tapes.keys().next().value);
  globalThis.dispatchEvent(new CustomEvent("knob:tape", { detail: data.id }));
}
