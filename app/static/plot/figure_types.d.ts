// Figures as app/figures/*.py make them and the painter draws them: a subset of plotly's figures, with the same names.
// Which keys and values there are is listed in features.js, and tests compare that list with both sides.

/** plotly's typed array: base64 of little-endian float32 ("f4") or int16 ("i2") numbers. */
export interface PackedNumbers {
  dtype: "f4" | "i2";
  bdata: string;
}

/** A colour of the palette by name ("gate"), or with an opacity ("gate/0.2"). */
export type ColourName = string;

export interface Figure {
  data: Trace[];
  layout: Layout;
}

export type Trace = ScatterTrace | BarTrace | HeatmapTrace | RibbonTrace;

export interface ScatterTrace {
  type: "scatter";
  mode: "lines" | "markers" | "lines+markers";
  y: PackedNumbers;
  x?: PackedNumbers; // or x0 and dx: frame i stands at x0 + dx i
  x0?: number;
  dx?: number;
  xaxis?: string; // "x" where absent
  yaxis?: string; // "y" where absent
  line: Stroke & { shape?: "hv" };
  marker?: Marker;
  error_y?: { array: PackedNumbers; color: ColourName };
  fill?: "tonexty"; // the area between this line and the trace before it
  fillcolor?: ColourName;
  name?: string;
  hover?: boolean; // ours: the cursor tells this trace's value
}

export interface Stroke {
  color?: ColourName; // absent only where the width is 0
  width?: number;
  dash?: "" | "solid" | "dash" | "dot";
}

export interface Marker {
  color: ColourName;
  size: number;
  symbol?: "x" | "circle-open" | "circle"; // a filled circle where absent
  line?: { width: number };
}

export interface BarTrace {
  type: "bar";
  x: PackedNumbers;
  y: PackedNumbers;
  width: PackedNumbers | number;
  marker: { color: ColourName | ColourName[] };
  xaxis?: string;
  yaxis?: string;
}

/** Rows of cells; a value in [0, 1] is the opacity of the colour scale's second colour. Rows are 1 apart. */
export interface HeatmapTrace {
  type: "heatmap";
  z: PackedNumbers[];
  x0: number;
  dx: number;
  y0: number;
  ygap?: 0; // rows touch
  colorscale: [number, ColourName][];
  xaxis?: string;
  yaxis?: string;
}

/** Ours: a thin row in the colours of classes, frame by frame; -1 is left empty. The layout names the classes. */
export interface RibbonTrace {
  type: "ribbon";
  z: PackedNumbers; // (T,) class at frame 0, 1, ...
  y0: number; // the row's height; rows are 1 apart
  name: string;
  xaxis?: string;
  yaxis?: string;
}

/** Axes are under "xaxis", "yaxis", "xaxis2", ... */
export interface Layout {
  margin: { l: number; r: number; t: number; b: number };
  classes?: string[]; // ours: names of the classes of ribbons
  shapes?: Shape[];
  annotations?: Annotation[];
  [axis: `xaxis${string}` | `yaxis${string}`]: Axis;
}

export interface Axis {
  range: [number, number]; // rising; exponents of ten where the type is "log"
  anchor: string; // the axis that it crosses: "y2" for "xaxis2"
  type?: "log";
  domain?: [number, number]; // part of the width or height, all of it where absent
  tickvals?: number[];
  ticktext?: string[];
  title?: { text: string; font?: { color: ColourName } } | null;
  titlegap?: number; // ours: pixels between the title and the axis
  showgrid?: boolean;
  scaleanchor?: string; // as many pixels a unit as the axis that it crosses
}

/** Positions are in data coordinates ("x2"), a part of an axis ("x2 domain") or of all of them ("paper"). */
export interface Shape {
  type: "line" | "rect" | "circle";
  x0: number;
  x1: number;
  y0: number;
  y1: number;
  xref?: string; // "x" where absent
  yref?: string; // "y" where absent
  line: Stroke;
  fillcolor?: ColourName;
  layer?: "below";
}

export interface Annotation {
  text: string;
  x: number;
  y: number;
  xref: string;
  yref: string;
  font: { color: ColourName; weight?: number };
  xanchor?: "left" | "right"; // centred where absent
  xshift?: number; // pixels to the right
  yshift?: number; // pixels up
}

/** An axis with its place on the canvas. */
export interface PlacedAxis {
  spec: Axis;
  id: string; // "x2"
  range: [number, number]; // the spec's, or wider for equal scales
  vertical: boolean;
  from: number; // pixels: left or bottom end
  to: number; // right or top end
  toPixel(value: number): number;
  toValue(pixel: number): number;
}

/** A canvas with placed axes: what the functions that draw one thing need of the painter. */
export interface Plot {
  context: CanvasRenderingContext2D;
  axes: Record<string, PlacedAxis>;
  size: { width: number; height: number; inner: Box };
  font: string; // CSS font family
  classes: string[]; // names of the classes of ribbons
  colour(name: ColourName): string;
}

/** A rectangle in pixels. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}
