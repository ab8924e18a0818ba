// Messages between Python and the page, with the names of app/console/protocol.py, and what Streamlit calls a component
// with. Python trusts nothing that the page sends.
import type { Axis, Figure, PackedNumbers, Shape, Trace } from "./plot/figure_types.js";
import type { KnobSocket } from "./page/knob_socket.js";

declare global {
  /** Open connections by session token (page/knob_socket.js). */
  var __knobSockets: Map<string, KnobSocket> | undefined;
}

// --- Mounting ---

/** Colours by name, as "#rrggbb" (knob_core/palette.py). */
export type Palette = Record<string, string>;
export type Palettes = Record<"light" | "dark", Palette>;

/** What every message has (app/widgets/browser_component.py). */
export interface Common {
  base: string; // address of app/static/
  palettes: Palettes;
  session?: string; // of a component with an endpoint: another one after the server was started again
}

/** Where a component lives: Streamlit's shadow root for it, or one of ours. */
export type PartHost = (ShadowRoot | HTMLElement) & {
  _part?: Part<any> | null; // browser tests read it; null while it is being built
};

/** One component in the page. */
export interface Part<Message> {
  box: HTMLElement;
  palette: Palette;
  setState(name: string, value: unknown): void; // to Python, through Streamlit
  setTrigger?(name: string, value: unknown): void; // the same for one run of the script: Python forgets it afterwards
  send(message: Request): boolean; // to Python, over the WebSocket; whether it could be sent
  update(message: Common & Message): void;
  connectionLost?(): void;
}

/** The argument of a component's default function; `send` is ours and absent where Streamlit calls. */
export interface MountArguments<Message> {
  parentElement: PartHost;
  data: Message;
  setStateValue(name: string, value: unknown): void;
  setTriggerValue?(name: string, value: unknown): void; // absent where we call
  send?(message: Request): boolean;
}

// --- Page to Python ---

export type Mode = "continuous" | "reset";
export type MemoryKind = "attentive" | "plain" | "off";
export type Regime = "" | "under" | "critical" | "over";

/** What all controls are set to. Lessons have other knobs than zeta and omega_n. */
export interface Controls {
  mount: string; // random name of the mounted component; sequence numbers count within it
  seq: number; // counts messages
  epoch: number; // of the values that Python has set last; values of another epoch are ignored
  turn: number; // turns begun so far
  released: boolean; // no knob is held
  on?: boolean;
  memory?: MemoryKind;
  mode?: Mode;
  zeta?: number;
  omega_n?: number; // rad/frame
  pin_presses: number; // how often the pin button was pressed
  live: boolean; // live mode is on
  playing: boolean;
  frames_requested: number; // frames asked for so far in live mode
  speed?: number; // frames/s of live mode
  [knob: string]: number | string | boolean | undefined;
}

/** What the visitor looks at; Python sends it back as it took it. */
export interface ViewRequest {
  panel: string;
  unit: string; // of the frequency axis
  sort: string; // column of the table of pins, "-" before it for the largest first; "": as they were pinned
  frame_rate: number; // frames/s of the visitor's camera
  temperature: number; // of the answer
  fit_presses: number; // how often the button that fits the temperature was pressed
  wide: boolean; // there is room for further panels beside the open one
  goals: Record<string, number>; // limits by the goal's name, in the card's unit; absent: no goal
  pin_action: PinAction;
  epoch: number;
  seq: number;
}

/** What was last done to a pin in the table. */
export interface PinAction {
  number: number; // actions so far; each is taken once
  act: "" | "draw" | "rename" | "remove" | "turn";
  pin: number; // its id
  to: string; // its new name
}

/** One message on the WebSocket. */
export interface Request {
  token?: string; // opens the session's endpoint; page/knob_socket.js adds it
  controls?: Controls;
  view?: ViewRequest;
}

// --- Python to page: with every turn ---

/** One answer, with a message for each part of the component. */
export interface Update {
  answer: number; // answers so far; of two updates the higher one counts
  controls: ControlsUpdate;
  display?: DisplayUpdate;
  sheet?: SheetUpdate;
}

export interface ControlsUpdate {
  seq: number; // of the Controls that this answers
  epoch: number;
  values: Partial<Controls>; // obeyed when the epoch is new
  server_ms?: number; // how long Python took
  regime: Regime;
  words: string; // what the setting does
  pinned: string; // the drawn pin and its setting in words
  pin_button?: string; // what the button does now; "": there is no room for one more
  pin_help?: string; // the same in a sentence
}

export interface DisplayUpdate {
  seq: number;
  stream_id: string; // which StreamBackground belongs to it
  view: ViewRequest;
  waiting: boolean; // another stream is chosen and not there yet
  caption: string; // for the saved picture
  scope: ScopeUpdate;
  film: FilmUpdate;
  panel: PanelUpdate;
  side_panels: PanelUpdate[]; // beside it, where the view is wide
  readouts: ReadoutUpdate[]; // the cards of this stream, from left to right
  runs: [number, number]; // of the page's script, and answers so far; for tests
}

/** Traces and shapes over those of the StreamBackground. */
export interface ScopeUpdate {
  data: Trace[];
  axes: Record<`yaxis${string}`, Partial<Axis>>; // entries in place of the background's, where a row is added
  shapes: Shape[];
  legend: string[]; // keys of DisplayConstants.legend
  pin: string; // name of the pin that is drawn; "": none
}

/** The model's answers to the frames of the first path. */
export interface FilmUpdate {
  predicted: (number | null)[]; // class at the film's frames; null where none has arrived yet
  confidence: number[];
}

export interface PanelUpdate {
  id: string;
  figure: Figure | null; // null: the spring or the table of pins is shown instead
  spring?: SpringUpdate;
  compare?: CompareUpdate;
  numbers: string[][]; // a table; its first row and first column are headings
  note: string;
  temperature?: boolean; // the temperature is set and fitted here
}

/** Settings side by side, over the whole stream. */
export interface CompareUpdate {
  columns: [string, string, string][]; // id, label, help
  sort: string; // as in ViewRequest
  rows: CompareRow[];
  refused: string; // why a pin did not get its new name; "": it did
}

export interface CompareRow {
  name: string;
  id: number; // of the pin; -1 where it is none
  pinned: boolean; // false: the present setting, and the row without Knob
  drawn: boolean;
  setting: string; // all but the knobs, in words
  cells: string[]; // one a column
}

export interface SpringUpdate {
  u: PackedNumbers; // (T,) where the mass is
  u_star: PackedNumbers; // (T,) where it is pulled to
  range: [number, number];
  first: number; // frame of the first number
  live: boolean;
  zeta: number;
  omega_n: number;
}

export interface ReadoutUpdate {
  id: string; // of DisplayConstants.readouts
  now: string;
  beside: string; // small, after the number
  rest: [string, string][]; // [name, value]
  worse: boolean; // clearly worse than without Knob
  goal: GoalUpdate | null; // null: this read-out takes none
  why: string; // what is wrong with the number and what helps; "" where all is well
}

/** A card's goal and how it stands. */
export interface GoalUpdate {
  limit: number | null; // in the card's unit; null: no goal is set
  verdict: "" | "met" | "missed" | "unknown";
  words: string; // such as "≤ 1: ✓ met by 0.4"
}

// --- Python to page: when a component is mounted ---

/** The data of a component with two parts. */
export interface Mount {
  base: string; // address of app/static/
  palettes: Palettes;
  endpoint: Endpoint;
  constants: Constants;
  update: Update;
}

/** What no knob changes, for each part of the component. */
export interface Constants {
  controls: ControlsConstants;
  display?: DisplayConstants;
  sheet?: object;
}

/** Where the WebSocket is. */
export interface Endpoint {
  path: string; // below the server's base path
  token: string; // opens this session's endpoint
}

/** What a part gets: what no knob changes, and its part of an update. */
export type ControlsMessage = ControlsUpdate & { constants: ControlsConstants };
export type DisplayMessage = DisplayUpdate & { constants: DisplayConstants };

export interface ControlsConstants {
  knobs: KnobSpec[];
  presets: Preset[];
  switches: boolean; // memory and mode are shown
  transport: boolean; // live mode and pin are shown
  speeds: number[]; // frames/s
  help: Record<MemoryKind | "continuous" | "reset" | "play" | "stop" | "speed", string>;
}

export interface KnobSpec {
  id: string;
  symbol: string;
  name: string;
  low: number;
  high: number;
  home: number;
  unit: string;
  words: [string, string]; // at the low and the high end
  ticks: number[];
  zones: [number, number, string][]; // from, to, kind
  help: string;
  even_below?: number; // steps are even below this value, ratios above; for a knob that begins at 0
  trained?: number | null; // the value that training found
}

export interface Preset {
  id: string;
  label: string;
  help: string;
  on: boolean;
  zeta?: number; // absent in "off"
  omega_n?: number;
}

export interface DisplayConstants {
  panels: { id: string; label: string; help: string }[];
  units: string[];
  readouts: ReadoutConstants[];
  legend: Record<string, [string, string]>; // kind -> label, help
  limits: LimitConstants;
}

/** What fields take; Python holds what comes back to the same. */
export interface LimitConstants {
  frame_rate: [number, number]; // frames/s
  temperature: [number, number];
  name: number; // characters of a pin's name
}

/** A card's label and help, and the goal that it takes. */
export interface ReadoutConstants {
  id: string;
  label: string;
  help: string;
  goal: GoalConstants | null;
}

/** One kind of goal (knob_core/goals.py); numbers in the card's unit. */
export interface GoalConstants {
  name: string;
  sense: string; // "at most" or "at least"
  words: string; // what is limited
  unit: string;
  low: number;
  high: number;
}

/** What no knob changes of a stream's display; sent once for each stream. */
export interface StreamBackground {
  id: string;
  title: string;
  alt: string; // of the scope
  figure: Figure;
  film: FilmStrip | null;
  truth: PackedNumbers; // (T,) class of every frame, -1 where unknown
  classes: string[];
  short: string[]; // the same, abbreviated
}

/** Pictures side by side in one image. */
export interface FilmStrip {
  sprite: string; // data URL
  frames: number[];
}

// --- Figure sheet (app/widgets/figure_sheet.py, app/figures/figure_parts.py) ---

export interface SheetUpdate {
  seq: number;
  figures: FigureSpec[];
  cards: Card[];
  table: ComparisonTable | null;
  picked: string; // "figure/target"
  label: string;
  reveal: string; // key of the container that shows what a pick brings
  count_picks?: boolean; // the same target may be picked again: a pick ends with "#" and its number
  runs?: [number, number];
}

/** A figure with what stands around it. */
export interface FigureSpec {
  id: string;
  figure: Figure;
  title: string;
  alt: string;
  note: string;
  span: number; // of 12 columns
  height: number; // pixels
  legend?: [string, string, string][]; // kind of mark, colour, text
  targets?: Target[];
  grid?: CellGrid;
}

/** A rectangle in data coordinates that can be picked. */
export interface Target {
  id: string;
  label: string;
  x: [number, number];
  y: [number, number];
  row: number; // for the arrow keys
}

/** Cells of a heat map, each with a text, all of which can be picked; row by row from the top. */
export interface CellGrid {
  ids: string[]; // of rows
  names: string[]; // of rows
  columns: (number | string)[];
  text: string[];
  dense?: boolean; // rows touch, and no text is written in the cells
}

export interface Card {
  id: string;
  label: string;
  now: string;
  rest: [string, string][];
  help: string;
  mood?: string; // "good" or "bad"
  change?: string; // against the previous setting: "better", "worse" or ""
}

export interface ComparisonTable {
  caption: string;
  head: [string, string][]; // text, help
  rows: { name: string; help: string; cells: string[] }[];
}

// --- Image gallery, severity sketch (app/widgets/image_gallery.py, app/widgets/severity_sketch.py) ---

export interface GalleryMessage {
  sprite: string;
  columns: number;
  rows: number;
  items: { id: number; cell: number; label: string; ready: boolean }[];
  chosen: number;
}

export interface SketchMessage {
  values: number[]; // severities
  epoch: number; // new values are taken when it has changed
}
