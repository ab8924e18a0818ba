// Messages between Python and the page, and what Streamlit calls a component with.
// Python makes them in app/components/, app/moving.py, app/panels.py, app/calibration.py and app/stream.py; it reads what the
// page sends in app/desk.py and trusts none of it.
import type { Figure, PackedNumbers, Shape, Trace } from "./plot/figure_types.js";
import type { KnobSocket } from "./page/knob_socket.js";

declare global {
  /** Open connections by session token (page/knob_socket.js). */
  var __knobSockets: Map<string, KnobSocket> | undefined;
}

// --- Mounting ---

/** Colours by name, as "#rrggbb" (app/figures/palette.py). */
export type Palette = Record<string, string>;
export type Palettes = Record<"light" | "dark", Palette>;

/** What every message has (app/components/loader.py). */
export interface CommonMessage {
  base: string; // address of app/static/
  palettes: Palettes;
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
  send(message: SocketMessage): boolean; // to Python, over the WebSocket; whether it could be sent
  update(message: CommonMessage & Message): void;
  connectionLost?(): void;
}

/** The argument of a component's default function; `send` is ours and absent where Streamlit calls. */
export interface MountArguments<Message> {
  parentElement: PartHost;
  data: Message;
  setStateValue(name: string, value: unknown): void;
  send?(message: SocketMessage): boolean;
}

// --- WebSocket (app/line.py) ---

export interface SocketAddress {
  path: string;
  token: string; // opens this session's endpoint
}

/** Python's answer to values or a view: one message for each part of the page, and a stamp that counts answers. */
export interface Answer {
  line: SocketAddress & { stamp: number };
  deck?: ControlMessage;
  board?: StreamMessage;
  sheet?: FigureGridMessage;
}

/** What the page sends; the token is added on the way. */
export interface SocketMessage {
  hand?: ControlValues;
  view?: View;
}

// --- Controls (app/components/deck.py, app/components/dials.py, app/knobs.py) ---

export type Mode = "continuous" | "reset";
export type Regime = "" | "under" | "critical" | "over";

/** What the controls are set to, as they send it. Lessons have other knobs than zeta and omega_n. */
export interface ControlValues {
  deck: string; // which controls: a random name for every time they are mounted
  seq: number; // counts messages
  epoch: number; // of the values that Python has set last; values of another epoch are ignored
  turn: number; // counts turns
  tick: number; // counts frames asked for while playing
  pin: number; // counts presses of the pin button
  live: boolean; // live mode
  play: boolean; // live mode, and not paused
  done: boolean; // no knob is being dragged
  on?: boolean;
  memory?: boolean;
  mode?: Mode;
  speed?: number; // frames/s
  zeta?: number;
  omega_n?: number;
  [knob: string]: number | string | boolean | undefined;
}

/** To the controls. */
export interface ControlMessage {
  seq: number; // of the values that this answers
  epoch: number;
  values: Partial<ControlValues>; // obeyed when the epoch is new
  body?: number; // ms that Python took
  regime: Regime;
  words: string; // on the regime
  pinned: string; // the pinned setting in words
  spec: ControlSpec;
}

export interface ControlSpec {
  knobs: KnobSpec[];
  presets: Preset[];
  switches: boolean; // whether there are memory and mode
  transport: boolean; // whether there is playback
  speeds: number[]; // frames/s
  help: Record<"memory" | "continuous" | "reset" | "play" | "stop" | "speed" | "pin", string>;
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

// --- Stream view (app/moving.py, app/panels.py, app/stream.py) ---

/** What the visitor looks at, in both directions. */
export interface View {
  panel: string;
  unit: string; // of frequencies
  fps: number; // frames/s of the visitor's camera
  epoch: number;
  seq: number;
}

/** To the stream view, with every turn. */
export interface StreamMessage {
  seq: number;
  tape: string; // id of the FixedStream
  view: View;
  caption: string;
  scope: { data: Trace[]; shapes: Shape[]; legend: [string, string, string][]; title: string; alt: string };
  film: FilmAnswers;
  panel: PanelMessage;
  readouts: Readout[];
  spec: { panels: { id: string; label: string; help: string }[]; units: string[] };
  runs: [number, number]; // of the page's script, and answers so far; for tests
}

/** The answers at the film's frames, and of the path that the film shows at every frame. */
export interface FilmAnswers {
  pred: (number | null)[]; // class; null where nothing has arrived yet
  conf: number[];
  first: number; // which path
  path: PackedNumbers; // (T,) class, -1 where nothing has arrived yet
}

export interface PanelMessage {
  id: string;
  figure: Figure | null; // null: the spring is drawn instead
  spring?: SpringMessage;
  numbers: string[][]; // rows of a table, the first is its head
  note: string;
  alt: string;
}

export interface SpringMessage {
  u: PackedNumbers; // (n,) where the mass is
  u_star: PackedNumbers; // (n,) where it is pulled to
  range: [number, number];
  first: number; // frame of the first number
  live: boolean;
  zeta: number;
  omega_n: number;
}

export interface Readout {
  id: string;
  label: string;
  now: string;
  beside: string; // small, beside the number
  rest: [string, string][]; // [name, value]
  help: string;
  better: string; // "no" where it is worse than without Knob
}

/** What no knob changes of a stream; sent once (stream_cache.js). */
export interface FixedStream {
  id: string;
  figure: Figure;
  film: { sprite: string; frames: number[] } | null;
  truth: number; // class, -1 where unknown
  classes: string[];
  short: string[]; // the same, abbreviated
}

// --- Figure grid (app/components/sheet.py, app/figures/parts.py) ---

export interface FigureGridMessage {
  seq: number;
  figures: FigureSpec[];
  cards: Card[];
  table: ComparisonTable | null;
  picked: string; // "figure/target"
  label: string;
  reveal: string; // key of the container that shows what a pick brings
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
  columns: number[];
  text: string[];
}

export interface Card {
  id: string;
  label: string;
  now: string;
  rest: [string, string][];
  help: string;
  mood?: string; // "good" or "bad"
}

export interface ComparisonTable {
  caption: string;
  head: [string, string][]; // text, help
  rows: { name: string; help: string; cells: string[] }[];
}

// --- Image picker, severity editor (app/components/gallery.py, app/components/sketch.py) ---

export interface ImagePickerMessage {
  sprite: string;
  columns: number;
  rows: number;
  items: { id: number; cell: number; label: string; ready: boolean }[];
  chosen: number;
}

export interface SeverityMessage {
  values: number[];
  epoch: number; // new values are taken when it has changed
}
