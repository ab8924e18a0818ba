// Component of the Calibration page: controls on the left, cards, table and figures on the right.
import mountControls from "./controls.js";
import mountFigureGrid from "./figure_grid.js";
import { sideBySide } from "./page/side_by_side.js";

export default sideBySide("calibration", [
  ["deck", mountControls],
  ["sheet", mountFigureGrid],
]);
