"""Every message between the browser and Python while a knob is dragged: one type a message, every field, every unit.

    browser                                             Python
    -------                                             ------
    component is mounted          <-- Mount ---         page script runs (Streamlit)
    stream's fixed part           <-- StreamBackground  page script runs (Streamlit)
    WebSocket is open             --- Request -->       app.server.drag_endpoint, no answer
    knob moves, WebSocket         --- Request -->       app.server.drag_endpoint -> controller
    display is redrawn            <-- Update ---        the same WebSocket
    knob is released              --- Controls -->      Streamlit too, so that link and menus follow

`Mount` holds what stays while a knob moves (`constants`) and a first `Update`; the WebSocket carries `Update` only.
Where a proxy lets no WebSocket through, knobs act when they are released.

Rules
- **Sequence number.** `Controls.seq` and `ViewRequest.seq` count up, also over mounted components. Python
  ignores a message with a lower number than the last one it took, and sends that back (`ControlsUpdate.seq`).
- **Command.** A pressed button is a `Command` in the next message. It is taken once, with that message's number.
- **Epoch.** Python raises `epoch` when it moves the knobs itself (a link, a settings file, a fit). The browser takes
  over `values` only when the epoch is new; Python ignores values of an outdated epoch.
- **Answer number.** `Update.answer` counts up; of two updates of one session the browser keeps the higher one.
- Nothing from the browser is trusted: `console_state.ConsoleState.apply_controls` and `apply_view` clamp every field.
- JSON without NaN; arrays as `Packed`.

`app/static/messages.d.ts` is made from this file: `python tools/message_types.py`.
"""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict

from app.figures.packed import Packed

Figure = dict[str, Any]
"""{"data": [trace, ...], "layout": {...}} as plotly has it, with palette names for colours and `Packed` arrays."""
Trace = dict[str, Any]
Shape = dict[str, Any]
Axes = dict[str, Any]
"""Entries of a layout's axes, in place of those that are there."""
MemoryKind = str
"""A key of memories.KINDS."""
Mode = str
"""One of settings.MODES."""
Regime = str
"""How the gate is damped: "under", "critical", "over", or "" where nothing is."""
Pair = list[str]
Triple = list[str]
Zone = list[Any]
"""[from, to, kind]."""
Range = list[float]
"""[lowest, highest]."""


# Browser to Python ---------------------------------------------------------------------------------------------------


class ControlValues(TypedDict, total=False):
    """Where the controls stand; some pages leave fields out, and lessons have other knobs."""

    zeta: float  # damping ratio
    omega_n: float  # rad/frame
    on: bool
    memory: MemoryKind
    mode: Mode
    live: bool  # live mode is on
    playing: bool
    speed: int  # frames/s of live mode


class Controls(ControlValues):
    """All controls, as a numbered message."""

    seq: int
    epoch: int
    released: bool  # no knob is held
    commands: NotRequired[list[Command]]


class Command(TypedDict):
    """Something that is done once."""

    act: Literal["begin", "frames", "pin", "fit", "draw", "rename", "remove", "turn"]
    # begin a turn: from here on the read-outs of now are those of before; run frames of live mode; press the pin
    # button; fit the temperature; draw, rename or remove a pin, or turn the knobs to it
    count: NotRequired[int]  # of frames
    pin: NotRequired[int]  # its id
    to: NotRequired[str]  # its new name


class ViewRequest(TypedDict):
    """Which panel is open, in which units, temperature and goals; sent back as it was taken (`DisplayUpdate.view`)."""

    panel: str  # a key of panels.PANELS
    unit: str  # of the frequency axis: one of bode_plot.UNITS
    sort: str  # column of the table of pins, "-" before it for the largest first; "": as they were pinned
    frame_rate: float  # frames/s of the camera
    temperature: float  # of the answer
    wide: bool  # there is room for further panels beside the open one
    goals: dict[str, float]  # limits by the goal's name, in the unit that the card shows; absent: no goal
    commands: NotRequired[list[Command]]
    epoch: int
    seq: int


class Request(TypedDict):
    """One message on the WebSocket; the first one has the token alone, and no answer."""

    token: NotRequired[str]  # opens the endpoint of one session; page/knob_socket.js adds it
    controls: NotRequired[Controls]
    view: NotRequired[ViewRequest]


# Python to browser: while a knob moves -------------------------------------------------------------------------------


class Update(TypedDict):
    """One answer. The console has `controls` and `display`, the calibration page `controls` and `sheet`."""

    answer: int  # answers given by this endpoint so far
    controls: ControlsUpdate
    display: NotRequired[DisplayUpdate]
    sheet: NotRequired[SheetUpdate]


class ControlsUpdate(TypedDict):
    """What stands around the knobs."""

    seq: int  # the last Controls that was taken
    epoch: int
    values: ControlValues  # obeyed on a new epoch
    regime: Regime
    words: str  # what the setting does, one sentence
    pinned: str  # the drawn pin and its setting in words, "" without one
    pin_button: NotRequired[str]  # what the button does now: "pin B", "unpin A"; "": there is no room
    pin_help: NotRequired[str]  # the same in a sentence


class DisplayUpdate(TypedDict):
    """Everything that moves with a knob on the console."""

    seq: int  # the last Controls that was taken
    stream_id: str  # which StreamBackground belongs to it
    view: ViewRequest
    waiting: bool  # another stream is chosen and not there yet: this one is dimmed
    caption: str  # stream and setting in words, for the saved picture
    scope: ScopeUpdate
    film: FilmUpdate
    panel: PanelUpdate
    side_panels: list[PanelUpdate]  # beside it, where the view is wide
    readouts: list[ReadoutUpdate]  # the cards of this stream, from left to right
    runs: list[int]  # [page script, answers]: how often each has run; tests and the benchmark count them


class ScopeUpdate(TypedDict):
    """Traces and marks over those of StreamBackground.figure."""

    data: list[Trace]
    axes: Axes  # entries of the layout's axes in place of the background's, where a row is added
    shapes: list[Shape]
    legend: list[str]  # keys of DisplayConstants.legend
    pin: str  # name of the pin that is drawn; "": none


class FilmUpdate(TypedDict):
    """What the model takes the first path's frames for."""

    predicted: list[int | None]  # class at each of StreamBackground.film.frames; None: not arrived yet
    confidence: list[float]  # p_max at the same frames


class PanelUpdate(TypedDict):
    """The open panel: a figure, a spring or the table of pins, a small table, one sentence."""

    id: str
    figure: Figure | None
    spring: NotRequired[SpringUpdate]
    compare: NotRequired[CompareUpdate]
    numbers: list[list[str]]  # table, first row and first column are headings
    note: str
    temperature: NotRequired[bool]  # the temperature is set and fitted here


class CompareUpdate(TypedDict):
    """Settings side by side, over the whole stream."""

    columns: list[Triple]  # [id, label, help]
    sort: str  # as in ViewRequest
    rows: list[CompareRow]
    refused: str  # why a pin did not get its new name; "": it did


class CompareRow(TypedDict):
    """One setting."""

    name: str
    id: int  # of the pin; -1 where it is none
    pinned: bool  # False: the present setting, and the row without Knob
    drawn: bool
    setting: str  # all but the knobs, in words
    cells: list[str]  # one a column


class SpringUpdate(TypedDict):
    """The gate as a mass on a spring."""

    u: Packed  # float32 (T,) logits
    u_star: Packed  # float32 (T,) logits
    range: Range  # of the rail, logits
    first: int  # frame of the first value
    live: bool
    zeta: float
    omega_n: float  # rad/frame


class ReadoutUpdate(TypedDict):
    """One card's texts."""

    id: str  # of DisplayConstants.readouts
    now: str
    beside: str  # small, after the number
    rest: list[Pair]  # [name, value]: before, A, without Knob
    worse: bool  # clearly worse than without Knob
    goal: GoalUpdate | None  # None: this read-out takes none
    why: str  # what is wrong with the number and what helps, in a few words; "" where all is well


class GoalUpdate(TypedDict):
    """A card's goal and how it stands."""

    limit: float | None  # in the unit that the card shows; None: no goal is set
    verdict: Literal["", "met", "missed", "unknown"]
    words: str  # such as "≤ 1: ✓ met by 0.4"


# Python to browser: once, when a component is mounted or its page script runs -----------------------------------------


class Mount(TypedDict):
    """The data of the mounted component."""

    base: str  # URL of the static files
    palettes: dict[str, dict[str, str]]  # "light", "dark" -> name -> CSS colour
    endpoint: Endpoint
    constants: Constants
    update: Update


class Endpoint(TypedDict):
    """Where the WebSocket is."""

    path: str  # below the server's base path
    token: str


class Constants(TypedDict):
    """What no knob changes, for each part of the component."""

    controls: ControlsConstants
    display: NotRequired[DisplayConstants]
    sheet: NotRequired[dict[str, Any]]


class ControlsConstants(TypedDict):
    """Knobs, presets and buttons."""

    knobs: list[KnobSpec]
    presets: list[Preset]
    switches: bool  # memory and mode are shown
    transport: bool  # live mode and pin are shown
    speeds: list[int]  # frames/s
    help: dict[str, str]


class KnobSpec(TypedDict):
    """One knob."""

    id: str
    symbol: str
    name: str
    low: float
    high: float
    home: float
    unit: str
    words: Pair  # at the low and the high end
    ticks: list[float]
    zones: list[Zone]
    help: str
    even_below: NotRequired[float]  # steps are even below this value, ratios above; for a knob that begins at 0
    trained: NotRequired[float | None]  # the value that training found


class Preset(TypedDict):
    """A button that sets the knobs; "off" leaves them where they are."""

    id: str
    label: str
    help: str
    on: bool
    zeta: NotRequired[float]
    omega_n: NotRequired[float]


class DisplayConstants(TypedDict):
    """Tabs, units, labels and their help."""

    panels: list[dict[str, str]]  # id, label, help
    units: list[str]
    readouts: list[ReadoutConstants]
    legend: dict[str, Pair]  # kind -> [label, help]
    limits: LimitConstants


class LimitConstants(TypedDict):
    """What fields take; Python holds what comes back to the same."""

    frame_rate: Range  # frames/s
    temperature: Range
    name: int  # characters of a pin's name


class ReadoutConstants(TypedDict):
    """A card's label and help, and the goal that it takes."""

    id: str
    label: str
    help: str
    goal: GoalConstants | None


class GoalConstants(TypedDict):
    """One kind of goal, knob_core.goals.KINDS; numbers in the unit that the card shows."""

    name: str
    sense: str  # "at most" or "at least"
    words: str  # what is limited
    unit: str
    low: float
    high: float


class StreamBackground(TypedDict):
    """The part of a stream's display that no knob changes; sent once for each stream."""

    id: str
    title: str
    alt: str  # of the scope
    figure: Figure  # axes, severity, and the traces without Knob
    film: FilmStrip | None
    truth: Packed  # int16 (T,) class of every frame, -1 unknown
    classes: list[str]
    short: list[str]  # the same classes, short enough for the film strip


class FilmStrip(TypedDict):
    """Pictures side by side in one image."""

    sprite: str  # data URL
    frames: list[int]


# Figure sheet (widgets.figure_sheet, figures.figure_parts) ------------------------------------------------------------


class SheetUpdate(TypedDict):
    """Cards, a table and figures."""

    seq: int
    figures: list[FigureSpec]
    cards: list[Card]
    table: ComparisonTable | None
    picked: str  # "figure/target"
    label: str
    reveal: str  # key of the container that shows what a pick brings
    count_picks: NotRequired[bool]  # the same target may be picked again: a pick ends with "#" and its number
    runs: NotRequired[list[int]]


class FigureSpec(TypedDict):
    """A figure with what stands around it."""

    id: str
    figure: Figure
    title: str
    alt: str
    note: str
    span: int  # of 12 columns
    height: int  # pixels
    legend: NotRequired[list[Triple]]  # kind of mark, colour, text
    targets: NotRequired[list[Target]]
    grid: NotRequired[CellGrid]


class Target(TypedDict):
    """A rectangle in data coordinates that can be picked."""

    id: str
    label: str
    x: Range
    y: Range
    row: int  # for the arrow keys


class CellGrid(TypedDict):
    """Cells of a heat map, each with a text, all of which can be picked; row by row from the top."""

    ids: list[str]  # of rows
    names: list[str]  # of rows
    columns: list[float | str]
    text: list[str]
    dense: NotRequired[bool]  # rows touch, and no text is written in the cells


class Card(TypedDict):
    """A number with what stands beside it."""

    id: str
    label: str
    now: str
    rest: list[Pair]
    help: str
    mood: NotRequired[str]  # "good" or "bad"
    change: NotRequired[str]  # against the previous setting: "better", "worse" or ""


class ComparisonTable(TypedDict):
    """Rows side by side."""

    caption: str
    head: list[Pair]  # text, help
    rows: list[ComparisonRow]


class ComparisonRow(TypedDict):
    """One row."""

    name: str
    help: str
    cells: list[str]


# Image gallery, severity sketch (widgets.image_gallery, widgets.severity_sketch) --------------------------------------


class GalleryMessage(TypedDict):
    """Pictures to choose from."""

    sprite: str  # data URL
    columns: int
    rows: int
    items: list[GalleryItem]
    chosen: int


class GalleryItem(TypedDict):
    """One picture."""

    id: int
    cell: int
    label: str
    ready: bool


class SketchMessage(TypedDict):
    """A severity drawn by hand."""

    values: list[float]  # severities
    epoch: int  # new values are taken when it has changed
