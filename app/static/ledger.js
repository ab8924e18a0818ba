// Deck and sheet: what moves with the hand on the calibration page.
import deck from "./deck.js";
import { pair } from "./pair.js";
import sheet from "./sheet.js";

export default pair("ledger", [["controls", deck], ["sheet", sheet]]);
