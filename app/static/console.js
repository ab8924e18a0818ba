// Component of the Console and Your stream pages: controls on the left, the stream's view on the right.
import mountControls from "./controls.js";
import "./page/host_messages.js";
import { sideBySide } from "./page/side_by_side.js";
import mountStreamView from "./stream/stream_view.js";

export default sideBySide("console", [
  ["deck", mountControls],
  ["board", mountStreamView],
]);
