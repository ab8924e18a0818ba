// Component of the Console and Your stream pages: controls on the left, the stream's display on the right.
import mountControls from "./controls.js";
import { sideBySide } from "./page/side_by_side.js";
import mountDisplay from "./display/display.js";

export default sideBySide("console", [
  ["controls", mountControls],
  ["display", mountDisplay],
]);
