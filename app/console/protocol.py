"""Every message between the browser and Python while a knob is dragged: one type a message, every field, every unit.

    browser                                             Python
    -------                                             ------
    component is mounted          <-- Mount ---         page script runs (Streamlit)
    stream's fixed part           <-- StreamBackground  page script runs (Streamlit)
    WebSocket is open             --- Request -->       app.server.drag_endpoint, no answer
    knob moves, WebSocket         --- Request -->       app.server.drag_endpoint -> controller
    display is redrawn            <-- Update ---        the same WebSocket
    knob is released              --- Controls -->      Streamlit, so that link and menus follow

`Mount` holds what stays while a knob moves (`constants`) and a first `Update`; the WebSocket carries `Update` only.
Without a WebSocket every `Controls` goes through Streamlit and comes back as a new `Mount`: slower, the same content.

Rules
- **Sequence number.** `Controls.seq` and `ViewRequest.seq` count up from 1 in each mounted component (`mount`). Python
  ignores a message whose number is lower than the last one it took, and sends the number back (`ControlsUpdate.seq`).
- **Epoch.** Python raises `epoch` when it moves the knobs itself (a link, a settings file, a fit). The browser takes
  over `values` only when the epoch is new; Python ignores values of an outdated epoch.
- **Answer number.** `Update.answer` counts up; of two updates of one session the browser keeps the higher one.
- Nothing from the browser is trusted: `console_state.ConsoleState.apply_controls` and `apply_view` clamp every field.
- JSON without NaN; arrays as `Packed`.

The JavaScript side declares the same names as JSDoc types.
"""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from app.figures.packed import Packed

Figure = dict[str, Any]
"""{"data": [trace, ...], "layout": {...}} as plotly has it, with palette names for colours and `Packed` arrays."""


# Browser to Python ---------------------------------------------------------------------------------------------------


class Controls(TypedDict, total=False):
    """Where all controls stand. A page without switches or live mode leaves their fields out."""

    mount: str  # random name of the mounted component; sequence numbers count within it
    seq: int
    epoch: int
    turn: int  # turns begun so far; a new number starts a new "before"
    released: bool  # no knob is held
    zeta: float  # damping ratio
    omega_n: float  # rad/frame
    on: bool
    memory: str  # "attentive", "plain" or "off"
    mode: str  # "continuous" or "reset"
    pin_presses: int  # how often the pin button was pressed
    live: bool  # live mode is on
    playing: bool
    frames_requested: int  # frames that the clock of live mode has asked for so far
    speed: int  # frames/s of live mode


class ViewRequest(TypedDict):
    """Which panel is open, in which units, temperature and goals; sent back as it was taken (`DisplayUpdate.view`)."""

    panel: str  # a key of panels.PANELS
    unit: str  # of the frequency axis: one of bode_plot.UNITS
    sort: str  # column of the table of pins, "-" before it for the largest first; "": as they were pinned
    frame_rate: float  # frames/s of the camera
    temperature: float  # of the answer
    fit_presses: int  # how often the button that fits the temperature was pressed
    wide: bool  # there is room for further panels beside the open one
    goals: dict[str, float]  # limits by the goal's name, in the unit that the card shows; absent: no goal
    pin_action: PinAction
    epoch: int
    seq: int


class PinAction(TypedDict):
    """What was last done to a pin in the table."""

    number: int  # actions so far; each is taken once
    act: str  # "draw", "rename", "remove", "turn" (the knobs to it), or ""
    pin: int  # its id
    to: str  # its new name


class Request(TypedDict):
    """One message on the WebSocket; the first one has the token alone, and no answer."""

    token: str  # opens the endpoint of one session
    controls: NotRequired[Controls]
    view: NotRequired[ViewRequest]


# Python to browser: while a knob moves -------------------------------------------------------------------------------


class Update(TypedDict):
    """One answer. The console has `controls` and `display`, the calibration page `controls` and `sheet`."""

    answer: int  # answers given by this endpoint so far
    controls: ControlsUpdate
    display: NotRequired[DisplayUpdate]
    sheet: NotRequired[dict[str, Any]]  # widgets.figure_sheet.content


class ControlsUpdate(TypedDict):
    """What stands around the knobs."""

    seq: int  # the last Controls that was taken
    epoch: int
    values: Controls  # obeyed on a new epoch
    server_ms: float  # how long the last answer took, ms: the browser may send one message ahead
    regime: str  # "under", "critical", "over" or ""
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

    data: list[dict[str, Any]]
    axes: dict[str, Any]  # entries of the layout's axes in place of the background's, where a row is added
    shapes: list[dict[str, Any]]
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

    columns: list[list[str]]  # [id, label, help]
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
    range: list[float]  # [low, high] of the rail, logits
    first: int  # frame of the first value
    live: bool
    zeta: float
    omega_n: float  # rad/frame


class ReadoutUpdate(TypedDict):
    """One card's texts."""

    id: str  # of DisplayConstants.readouts
    now: str
    beside: str  # small, after the number
    rest: list[list[str]]  # [name, value]: before, A, without Knob
    worse: bool  # clearly worse than without Knob
    goal: GoalUpdate | None  # None: this read-out takes none
    why: str  # what is wrong with the number and what helps, in a few words; "" where all is well


class GoalUpdate(TypedDict):
    """A card's goal and how it stands."""

    limit: float | None  # in the unit that the card shows; None: no goal is set
    verdict: str  # "met", "missed", "unknown" or ""
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

    knobs: list[dict[str, Any]]  # controls.KNOBS, each with `trained`: value or None
    presets: list[dict[str, Any]]  # controls.presets
    switches: bool  # memory and mode are shown
    transport: bool  # live mode and pin are shown
    speeds: list[int]  # frames/s
    help: dict[str, str]


class DisplayConstants(TypedDict):
    """Tabs, units, labels and their help."""

    panels: list[dict[str, str]]  # id, label, help
    units: list[str]
    readouts: list[ReadoutConstants]
    legend: dict[str, list[str]]  # kind -> [label, help]
    limits: LimitConstants


class LimitConstants(TypedDict):
    """What fields take; Python holds what comes back to the same."""

    frame_rate: list[float]  # [lowest, highest], frames/s
    temperature: list[float]  # [lowest, highest]
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
