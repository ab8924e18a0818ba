// What Streamlit calls a component with, and what our components give each other; beside the messages of messages.d.ts.
import type { ControlsConstants, ControlsUpdate, DisplayConstants, DisplayUpdate, Request } from "./messages.js";
import type { KnobSocket } from "./page/knob_socket.js";

declare global {
  /** Open connections by session token (page/knob_socket.js). */
  var __knobSockets: Map<string, KnobSocket> | undefined;
}

/** Colours by name, as "#rrggbb" (knob_core/palette.py). */
export type Palette = Record<string, string>;
export type Palettes = Record<"light" | "dark", Palette>;

export type Mode = "continuous" | "reset";
export type MemoryKind = "attentive" | "plain" | "off";
export type Regime = "" | "under" | "critical" | "over";

/** What every message has (app/widgets/browser_component.py). */
export interface Common {
  base: string; // address of app/static/
  palettes: Palettes;
  session?: string; // of a component with an endpoint: another one after the server was started again
}

/** What a part gets: what no knob changes, and its part of an update. */
export type ControlsMessage = ControlsUpdate & { constants: ControlsConstants };
export type DisplayMessage = DisplayUpdate & { constants: DisplayConstants };

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
}

/** The argument of a component's default function; `send` is ours and absent where Streamlit calls. */
export interface MountArguments<Message> {
  parentElement: PartHost;
  data: Message;
  setStateValue(name: string, value: unknown): void;
  setTriggerValue?(name: string, value: unknown): void; // absent where we call
  send?(message: Request): boolean;
}
