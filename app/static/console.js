// Deck and board as one component: a turn then costs the page one element instead of seven, which doubles the rate.
import board from "./board.js";
import deck from "./deck.js";
import { styled } from "./look.js";

export default async function ({ parentElement, data, setStateValue, setTriggerValue }) {
  const host = parentElement;
  if (!host._places) {
    const grid = document.createElement("div");
    grid.className = "console";
    host._places = ["deck", "board"].map((name) => {
      const place = document.createElement("div");
      place.className = name + "-place";
      grid.appendChild(place);
      return place.attachShadow({ mode: "open" });
    });
    styled(host, data.base, "console.css");
    host.appendChild(grid);
  }
  const shared = { base: data.base, palettes: data.palettes };
  const give = (mount, place, part) =>
    mount({ parentElement: host._places[place], data: { ...shared, ...part }, setStateValue, setTriggerValue });
  give(board, 1, data.board); // the picture first: the deck's receipt lets the next turn go
  give(deck, 0, data.deck);
}
