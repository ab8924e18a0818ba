// Deck and board: what moves with the hand on the console.
import board from "./board.js";
import deck from "./deck.js";
import { pair } from "./pair.js";
import "./quiet.js";

export default pair("console", [["controls", deck], ["display", board]]);
