// Made by tools/message_types.py from app/console/protocol.py, which says what each field means; do not edit.
import type { MemoryKind, Mode, Regime } from "./component_types.js";
import type { Axis, Figure, PackedNumbers, Shape, Trace } from "./plot/figure_types.js";

export type * from "./component_types.js";
export interface ControlValues {
  zeta?: number;
  omega_n?: number;
  on?: boolean;
  memory?: MemoryKind;
  mode?: Mode;
  live?: boolean;
  playing?: boolean;
  speed?: number;
  [knob: string]: any;
}
export interface Controls extends ControlValues {
  seq: number;
  epoch: number;
  released: boolean;
  commands?: Command[];
}
export interface Command {
  act: "begin" | "frames" | "pin" | "fit" | "draw" | "rename" | "remove" | "turn";
  count?: number;
  pin?: number;
  to?: string;
}
export interface ViewRequest {
  panel: string;
  unit: string;
  sort: string;
  frame_rate: number;
  temperature: number;
  wide: boolean;
  goals: Record<string, number>;
  commands?: Command[];
  epoch: number;
  seq: number;
}
export interface Request {
  token?: string;
  controls?: Controls;
  view?: ViewRequest;
}
export interface Update {
  answer: number;
  controls: ControlsUpdate;
  display?: DisplayUpdate;
  sheet?: SheetUpdate;
}
export interface ControlsUpdate {
  seq: number;
  epoch: number;
  values: ControlValues;
  regime: Regime;
  words: string;
  pinned: string;
  pin_button?: string;
  pin_help?: string;
}
export interface DisplayUpdate {
  seq: number;
  stream_id: string;
  view: ViewRequest;
  waiting: boolean;
  caption: string;
  scope: ScopeUpdate;
  film: FilmUpdate;
  panel: PanelUpdate;
  side_panels: PanelUpdate[];
  readouts: ReadoutUpdate[];
  runs: number[];
}
export interface ScopeUpdate {
  data: Trace[];
  axes: Record<`yaxis${string}`, Partial<Axis>>;
  shapes: Shape[];
  legend: string[];
  pin: string;
}
export interface FilmUpdate {
  predicted: (number | null)[];
  confidence: number[];
}
export interface PanelUpdate {
  id: string;
  figure: Figure | null;
  spring?: SpringUpdate;
  compare?: CompareUpdate;
  numbers: string[][];
  note: string;
  temperature?: boolean;
}
export interface CompareUpdate {
  columns: [string, string, string][];
  sort: string;
  rows: CompareRow[];
  refused: string;
}
export interface CompareRow {
  name: string;
  id: number;
  pinned: boolean;
  drawn: boolean;
  setting: string;
  cells: string[];
}
export interface SpringUpdate {
  u: PackedNumbers;
  u_star: PackedNumbers;
  range: [number, number];
  first: number;
  live: boolean;
  zeta: number;
  omega_n: number;
}
export interface ReadoutUpdate {
  id: string;
  now: string;
  beside: string;
  rest: [string, string][];
  worse: boolean;
  goal: GoalUpdate | null;
  why: string;
}
export interface GoalUpdate {
  limit: number | null;
  verdict: "" | "met" | "missed" | "unknown";
  words: string;
}
export interface Mount {
  base: string;
  palettes: Record<string, Record<string, string>>;
  endpoint: Endpoint;
  constants: Constants;
  update: Update;
}
export interface Endpoint {
  path: string;
  token: string;
}
export interface Constants {
  controls: ControlsConstants;
  display?: DisplayConstants;
  sheet?: Record<string, any>;
}
export interface ControlsConstants {
  knobs: KnobSpec[];
  presets: Preset[];
  switches: boolean;
  transport: boolean;
  speeds: number[];
  help: Record<string, string>;
}
export interface KnobSpec {
  id: string;
  symbol: string;
  name: string;
  low: number;
  high: number;
  home: number;
  unit: string;
  words: [string, string];
  ticks: number[];
  zones: [number, number, string][];
  help: string;
  even_below?: number;
  trained?: number | null;
}
export interface Preset {
  id: string;
  label: string;
  help: string;
  on: boolean;
  zeta?: number;
  omega_n?: number;
}
export interface DisplayConstants {
  panels: Record<string, string>[];
  units: string[];
  readouts: ReadoutConstants[];
  legend: Record<string, [string, string]>;
  limits: LimitConstants;
}
export interface LimitConstants {
  frame_rate: [number, number];
  temperature: [number, number];
  name: number;
}
export interface ReadoutConstants {
  id: string;
  label: string;
  help: string;
  goal: GoalConstants | null;
}
export interface GoalConstants {
  name: string;
  sense: string;
  words: string;
  unit: string;
  low: number;
  high: number;
}
export interface StreamBackground {
  id: string;
  title: string;
  alt: string;
  figure: Figure;
  film: FilmStrip | null;
  truth: PackedNumbers;
  classes: string[];
  short: string[];
}
export interface FilmStrip {
  sprite: string;
  frames: number[];
}
export interface SheetUpdate {
  seq: number;
  figures: FigureSpec[];
  cards: Card[];
  table: ComparisonTable | null;
  picked: string;
  label: string;
  reveal: string;
  count_picks?: boolean;
  runs?: number[];
}
export interface FigureSpec {
  id: string;
  figure: Figure;
  title: string;
  alt: string;
  note: string;
  span: number;
  height: number;
  legend?: [string, string, string][];
  targets?: Target[];
  grid?: CellGrid;
}
export interface Target {
  id: string;
  label: string;
  x: [number, number];
  y: [number, number];
  row: number;
}
export interface CellGrid {
  ids: string[];
  names: string[];
  columns: (number | string)[];
  text: string[];
  dense?: boolean;
}
export interface Card {
  id: string;
  label: string;
  now: string;
  rest: [string, string][];
  help: string;
  mood?: string;
  change?: string;
}
export interface ComparisonTable {
  caption: string;
  head: [string, string][];
  rows: ComparisonRow[];
}
export interface ComparisonRow {
  name: string;
  help: string;
  cells: string[];
}
export interface GalleryMessage {
  sprite: string;
  columns: number;
  rows: number;
  items: GalleryItem[];
  chosen: number;
}
export interface GalleryItem {
  id: number;
  cell: number;
  label: string;
  ready: boolean;
}
export interface SketchMessage {
  values: number[];
  epoch: number;
}
