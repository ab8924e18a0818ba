"""From a setting to the board's message: gate, fusion, measures, scope, panel. This alone runs while a knob turns."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from app.desk import Desk
from app.figures import scope
from app.figures.wire import pack
from app.panels import THEORY_FRAMES, Shown, panel
from app.stream import Stream
from knob_core import theory
from knob_core.measures.stability import StreamMeasures, measure
from knob_core.response import DYNAMICS, Response, respond
from knob_core.settings import Settings

READOUTS = (  # id, label, field, scale, digits, unit, help
    ("flips", "flips per 100 frames", "flips", 1, 1, "", "How often the answer changes from one frame to the next"),
    ("jitter", "jitter of confidence", "jitter", 1, 3, "", "How much confidence trembles while nothing changes"),
    ("lag", "lag, frames to 63 %", "lag63", 1, 1, "", "Frames after a sudden change until the gate has gone 63 %"),
    ("sure_wrong", "sure and wrong, per 100", "sure_wrong", 1, 1, "", "Frames on which it is 90 % sure, and wrong"),
    ("accuracy", "right answers", "accuracy", 100, 1, " %", "Frames whose answer is right"),
    ("ece", "miscalibration (ECE)", "ece", 1, 3, "",
     "How far confidence is from the truth, debiased; the floor is what a perfect predictor would show"),
)  # fmt: skip
MORE_IS_BETTER = {"accuracy"}
LEGEND = (  # kind, label, help
    ("now", "median of the paths", "A path is one draw of the noise over the same picture; this is their median"),
    ("band", "middle half", "From the first to the third quartile of the paths"),
    ("ghost", "frame by frame", "Without inertia and memory: the raw command σ(u*), and the confidence it would give"),
    ("wrong", "share wrong", "How many of the paths are wrong at a frame: now, and raw (frame by frame)"),
    ("pin", "A", "The setting that you pinned"),
    ("turn", "you turned", "Where a knob was turned while the stream was playing"),
)


def message(desk: Desk, stream: Stream) -> dict[str, Any]:
    """Everything on the board for the desk's setting; live runs advance by the frames that are due."""
    if desk.live is not None:
        return _live(desk, stream)
    response, _ = respond(stream.branches, desk.settings, stream.method)
    desk.measured(measure(stream.branches, response), stream.id)
    rows = stream.rows()
    pinned = None
    if desk.pin:
        pinned, _ = respond(stream.branches, desk.pin, stream.method)
    traces = scope.moving(quartiles(response.g[rows]), quartiles(response.p_max[rows]), stream.share_wrong(response))
    if pinned:
        traces += scope.pinned(np.median(pinned.g[rows], axis=0), np.median(pinned.p_max[rows], axis=0))
    shown = Shown(
        desk.settings,
        stream.method,
        response.u[rows],
        stream.branches.u_star[rows],
        stream.branches.severity,
        pin=desk.pin,
    )
    others = {"A": measure(stream.branches, pinned)} if pinned else {}
    return _message(desk, stream, response, traces, shown, [], stream.raw, others)


def _live(desk: Desk, stream: Stream) -> dict[str, Any]:
    live = desk.live
    assert live is not None
    live.advance(stream.branches, desk.settings, stream.method)
    assert live.response is not None
    rows, frames = stream.rows(), stream.frames
    pinned = respond(stream.branches, desk.pin, stream.method)[0] if desk.pin else None
    raw, others = stream.raw, {}
    if live.t > 2:  # all of them over the frames that have arrived, or they could not be compared
        desk.measured(measure(*live.window(stream.branches)), stream.id)
        raw = measure(*live.window(stream.branches, stream.frame_by_frame))
        others = {"A": measure(*live.window(stream.branches, pinned))} if pinned else {}
    response = live.response
    gap = np.zeros(frames, bool)
    if live.t > frames:  # a little darkness ahead of the beam shows where it writes
        gap[np.arange(live.t, live.t + max(2, frames // 60)) % frames] = True
    g, p = quartiles(response.g[rows]), quartiles(response.p_max[rows])
    g[:, gap] = p[:, gap] = np.nan
    traces = scope.moving(g, p, np.where(response.predicted[rows][0] < 0, 0, stream.share_wrong(response)))
    if pinned:
        traces += scope.pinned(np.median(pinned.g[rows], axis=0), np.median(pinned.p_max[rows], axis=0))
    head = (live.t - 1) % frames
    shown = Shown(
        desk.settings, stream.method, response.u[rows], stream.branches.u_star[rows], stream.branches.severity, head,
        desk.pin,
    )  # fmt: skip
    shapes = scope.turn_marks(live.marks(frames))
    shapes.append(
        {
            "type": "line",
            "x0": head,
            "x1": head,
            "yref": "paper",
            "y0": 0,
            "y1": 1,
            "line": {"color": "text", "width": 1},
        }
    )
    return _message(desk, stream, response, traces, shown, shapes, raw, others)


def _message(
    desk: Desk, stream: Stream, response: Response, traces: list[dict[str, Any]], shown: Shown,
    shapes: list[dict[str, Any]], raw: StreamMeasures, others: dict[str, StreamMeasures],
) -> dict[str, Any]:  # fmt: skip
    s = desk.settings
    path = stream.rows().start
    film = stream.film_frames
    predicted = response.predicted[path, film]
    legend = [entry for entry in LEGEND if entry[0] not in ("pin", "turn")]
    if desk.pin:
        legend.append(LEGEND[-2])
    if desk.live is not None:
        legend.append(LEGEND[-1])
    return {
        "seq": desk.seq,
        "tape": stream.id,
        "view": desk.seen(),
        "caption": f"{stream.title}   {describe(s)}",
        "scope": {
            "data": traces, "shapes": shapes, "legend": legend, "title": stream.title,
            "alt": f"scope: severity, gate and confidence over {stream.frames} frames",
        },
        "film": {
            "pred": [None if k < 0 else int(k) for k in predicted],
            "conf": [0.0 if math.isnan(p) else round(float(p), 4) for p in response.p_max[path, film]],
            "first": path,
            "path": pack(response.predicted[path], "i2"),  # (T,) for the cursor; -1 where nothing has arrived
        },
        "panel": panel(desk.view.panel, shown, desk.view.unit),
        "readouts": readouts(desk, raw, others),
    }  # fmt: skip


def quartiles(values: np.ndarray) -> np.ndarray:
    """(3, T): first quartile, median, third quartile over the paths (R, T)."""
    ordered = np.sort(values, axis=0)  # np.percentile takes ten times as long
    position = np.array([0.25, 0.5, 0.75]) * (len(ordered) - 1)
    below = np.floor(position).astype(int)
    above = np.minimum(below + 1, len(ordered) - 1)
    part = (position - below)[:, None]
    return ordered[below] * (1 - part) + ordered[above] * part


def readouts(desk: Desk, raw: StreamMeasures, others: dict[str, StreamMeasures]) -> list[dict[str, Any]]:
    """Every read-out as now, before this turn, frame by frame, and A where pinned."""
    now = desk.now or raw
    out = []
    for id, label, name, scale, digits, unit, help in READOUTS:

        def text(
            measures: StreamMeasures, name: str = name, scale: float = scale, digits: int = digits, unit: str = unit
        ) -> str:
            value = getattr(measures, name) * scale
            return f"{value:.{digits}f}{unit}" if math.isfinite(value) else "–"

        rest = [["before", text(desk.before or now)]]
        rest += [[title, text(measures)] for title, measures in others.items()]
        rest.append(["frame by frame", text(raw)])
        beside = f"floor {now.ece_floor:.3f}" if id == "ece" and math.isfinite(now.ece_floor) else ""
        if id == "lag" and math.isfinite(now.lag63):
            beside = f"{now.lag63 / desk.settings.frame_rate:.2f} s"
        worse = (getattr(raw, name) - getattr(now, name)) * (1 if name in MORE_IS_BETTER else -1)
        better = "no" if worse > 0.05 * abs(getattr(raw, name)) and id != "lag" else ""
        out.append(
            {"id": id, "label": label, "now": text(now), "beside": beside, "rest": rest, "help": help, "better": better}
        )
    return out


def regime(settings: Settings, method: str) -> tuple[str, str]:
    """(under | critical | over, what that means in words)."""
    if not settings.on:
        return "", "Off: every frame is judged alone."
    kind = {"underdamped": "under", "overdamped": "over"}.get(theory.regime(settings.zeta), "critical")
    if settings.mode == "reset":
        return "", "Reset Mode: every frame starts from rest; nothing is carried over."
    if DYNAMICS[method] == "first order":
        return "", "First-order gate: only ωₙ acts on it, and it never overshoots."
    if DYNAMICS[method] == "none":
        what = "This model has no gate" if method == "static" else "This model's gate has no inertia"
        acts = (
            ": the knobs act on the memory only." if settings.memory else ", and memory is off: the knobs do nothing."
        )
        return "", what + acts
    info = theory.step_info(theory.step_response(settings.zeta, settings.omega_n, THEORY_FRAMES), final=1.0)
    arrives = (
        f"{info.RiseTime:.0f} frame{'s' * (info.RiseTime != 1)}" if math.isfinite(info.RiseTime) else "a very long time"
    )
    words = {
        "under": f"Under-damped: overshoots a change by {info.Overshoot:.0f} %, rises in {arrives}.",
        "critical": f"Critically damped: rises in {arrives}, with no overshoot.",
        "over": f"Over-damped: creeps to a change in {arrives}, never overshoots.",
    }
    return kind, words[kind]


def describe(s: Settings) -> str:
    """A setting in a few words."""
    if not s.on:
        return "off (frame by frame)"
    extra = "reset" if s.mode == "reset" else "memory" if s.memory else "no memory"
    return f"ζ {s.zeta:g}, ωₙ {s.omega_n:g}, {extra}"
