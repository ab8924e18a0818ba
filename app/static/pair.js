// Two components as one element, side by side: a turn then costs the page one element instead of seven. While a hand turns,
// Python's updates come over the WebSocket and are shown without Streamlit's knowledge.
import { lineTo } from "./line.js";
import { styled } from "./look.js";

/** `parts` are [name, mount] from left to right; a message has one entry for each, under its name. */
export const pair = (name, parts) => (component) => {
  const { parentElement: host, data } = component;
  host._component = component;
  if (!host._places) {
    const grid = document.createElement("div");
    grid.className = name;
    host._places = parts.map(([part]) => {
      const place = document.createElement("div");
      place.className = part + "-place";
      grid.appendChild(place);
      return place.attachShadow({ mode: "open" });
    });
    styled(host, data.base, name + ".css");
    host.appendChild(grid);
  }
  host._line = lineTo(data.endpoint, data.base,
    (update) => host.isConnected && show(host, parts, update),
    () => host._places.forEach((place) => place._part?.lost?.()));
  show(host, parts, data.update);
};

/** Show an update, unless a newer one of the same session is shown already; what no knob changes comes from the mount. */
function show(host, parts, update) {
  const shown = host._shown, { token } = host._component.data.endpoint;
  if (shown && shown.token === token && shown.update.answer > update.answer) ({ update } = shown);
  host._shown = { token, update };
  const { data, setStateValue, setTriggerValue } = host._component;
  const shared = { base: data.base, palettes: data.palettes };
  const tell = (what) => host._line.tell(what);
  // The picture, on the right, first: the deck's receipt lets the next turn go.
  for (let i = parts.length - 1; i >= 0; i--) {
    const [part, mount] = parts[i];
    mount({ parentElement: host._places[i], data: { ...shared, constants: data.constants[part], ...update[part] }, setStateValue, setTriggerValue, tell });
  }
}
