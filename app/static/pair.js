// Two components as one element, side by side: a turn then costs the page one element instead of seven, which doubles the rate.
import { styled } from "./look.js";

/** `parts` are [name, mount] from left to right; a message has one entry for each, under its name. */
export const pair = (name, parts) => ({ parentElement: host, data, setStateValue, setTriggerValue }) => {
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
  const shared = { base: data.base, palettes: data.palettes };
  // The picture, on the right, first: the deck's receipt lets the next turn go.
  for (let i = parts.length - 1; i >= 0; i--) {
    const [part, mount] = parts[i];
    mount({ parentElement: host._places[i], data: { ...shared, ...data[part] }, setStateValue, setTriggerValue });
  }
};
