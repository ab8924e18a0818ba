// Component of the Calibration page: controls on the left, cards, table and figures on the right.
import mountControls from "./controls.js";
import mountFigureSheet from "./figure_sheet.js";
import { sideBySide } from "./page/side_by_side.js";

export default sideBySide("calibration", [
  ["controls", mountControls],
  ["sheet", mountFigureSheet],
]);
