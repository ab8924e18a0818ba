"""The Step panel: how the answer goes to a new class, and the gate to a new level, on the stream and by theory.

Theory is the spring at the natural frequency that acted: its median at the changes, and between them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from app.console.panels.panel_input import PanelInput, frames_text
from app.console.setting_words import theoretical_step
from app.figures.step_plot import Curve, StepPlot, step_plot
from knob_core import theory
from knob_core.gates import SECOND_ORDER, Gate
from knob_core.measures.stability import steps
from knob_core.stream_dynamics import CutAnswer, StepAnswer, acted, cut_answer, new_classes, step_answer
from knob_core.theory import StepInfo

SHOWN_FRAMES = 60
THEORY_FRAMES = 400  # of a curve whose rise is told
SAME = 1.05  # two natural frequencies whose ratio is less are one


class Speed(NamedTuple):
    """A natural frequency that acted, and when."""

    omega: float  # rad/frame
    name: str
    color: str


class Found(NamedTuple):
    """One of the two plots, and its rows of the table."""

    plot: StepPlot
    rows: list[list[str]]
    note: str


def content(shown: PanelInput, unit: str) -> dict[str, Any]:
    """Figure, table and note."""
    found = [part for part in (_answer(shown), _gate(shown)) if part is not None]
    if not found:
        words = "this model has no gate: it always answers with its static branch; a memory would make it inert"
        return {"figure": step_plot([_memory_alone(shown)]), "note": words if not shown.remembers else _WAITS}
    rows = [row for part in found for row in part.rows]
    heads = ["", "measured", "theory", "at changes"]
    used = [0, *(i for i in range(1, 4) if any(row[i] for row in rows))]
    return {
        "figure": step_plot([part.plot for part in found]),
        "numbers": [[row[i] for i in used] for row in (heads, *rows)] if rows else [],
        "note": "; ".join(part.note for part in found),
    }


_WAITS = "the memory's spring by theory; measured where the class changes and the stream is not playing"


def _memory_alone(shown: PanelInput) -> StepPlot:
    s = shown.settings
    curves = [Curve(SECOND_ORDER.step_response(s.zeta, s.omega_n, SHOWN_FRAMES), "theory", dash="solid")]
    return _plot("fraction of the step", "frames after the step", "gate", curves if shown.remembers else [])


def _plot(title: str, words: str, color: str, curves: list[Curve], measured: np.ndarray | None = None) -> StepPlot:
    return StepPlot(title, words, color, (-0.2, 2.0), (0, 0.5, 1, 1.5, 2), curves, measured, level=1)


def _speeds(omega: np.ndarray, path: np.ndarray, frame: np.ndarray) -> list[Speed]:
    """Between the changes, and at them where that differs."""
    at, between = acted(omega, path, frame)
    quiet = Speed(between, "theory", "text")
    return [quiet, Speed(at, "theory at changes", "under")] if max(at, between) > SAME * min(at, between) else [quiet]


def _answer(shown: PanelInput) -> Found | None:
    """The answer after the stream's cuts."""
    stream, s = shown.stream, shown.settings
    if shown.newest is not None:
        return None
    labels = stream.branches.frame_labels
    answer = cut_answer(shown.response.probabilities, labels)
    if answer is None:
        return None
    curves, told = [], ["", ""]
    if shown.remembers:
        way = answer.after - answer.before
        for i, speed in enumerate(_speeds(shown.response.omega, *new_classes(labels))):
            y = SECOND_ORDER.step_response(s.zeta, speed.omega, THEORY_FRAMES)
            curves.append(Curve(answer.before + way * y, speed.name, speed.color))
            told[i] = frames_text(float(np.argmax(y >= 0.5)))
    measured = np.stack([answer.low, answer.median, answer.high])
    plot = StepPlot("new class", "frames after a cut", "confidence", (-0.05, 1.05), (0, 0.5, 1), curves, measured,
                    answer.first)  # fmt: skip
    return Found(plot, [["answer: half way", frames_text(answer.half_way), *told]], _answer_note(shown, answer))


def _answer_note(shown: PanelInput, answer: CutAnswer) -> str:
    cuts = f"{answer.count} cuts" if answer.count > 1 else "the cut"
    text = f"orange: probability of the new class after {cuts}"
    if shown.remembers:
        return f"{text}; dashed: the spring at the ω that acted"
    return f"{text}; no memory acts, so the answer follows every frame"


def _gate(shown: PanelInput) -> Found | None:
    """The gate after the stream's steps of severity, or a fixed picture's."""
    stream, s = shown.stream, shown.settings
    if not shown.gated:
        return None
    fixed, where = stream.fixed if shown.newest is None else (None, "")
    measured: StepAnswer | None = None
    speeds = [Speed(s.omega_n, "theory", "text")]
    if fixed is not None and (begins := [start for start, _ in steps(fixed.branches.severity)]):
        response = fixed.respond(s)
        resting = response.u if s.mode == "reset" else None  # one step from rest does not reach the command
        measured = step_answer(response.u, fixed.branches.u_star, fixed.branches.severity, resting)
        if measured is not None and shown.remembers:
            paths = np.arange(len(response.omega))
            speeds = _speeds(response.omega, *(x.ravel() for x in np.meshgrid(paths, begins)))
    n = min(SHOWN_FRAMES, len(measured.median)) if measured else SHOWN_FRAMES
    curves, infos = [], []
    for speed in speeds:
        y, info = _theory(shown, speed, shown.acting if shown.remembers else None)
        curves.append(Curve(y[:n], speed.name, speed.color, "dash" if measured else "solid"))
        infos.append(info)
    if shown.pin:
        y = theoretical_step(shown.pin.settings, stream.method, n)[0]
        curves.append(Curve(y, shown.pin.name, "muted", "dash"))
    quarters = None if measured is None else np.stack([measured.low, measured.median, measured.high])[:, :n]
    return Found(
        _plot("gate: part of the step", "frames after a step", "gate", curves, quarters),
        _rows(infos, measured), _gate_note(shown, measured, where, speeds),
    )  # fmt: skip


def _theory(shown: PanelInput, speed: Speed, gate: Gate | None) -> tuple[np.ndarray, StepInfo]:
    """Step response and its numbers; of the knobs' own setting where no memory moves them."""
    s = shown.settings
    if gate is None or speed.omega == s.omega_n:
        return theoretical_step(s, shown.stream.method, SHOWN_FRAMES)
    y = gate.step_response(s.zeta, speed.omega, THEORY_FRAMES)
    return y, theory.step_info(y, final=1.0)


def _rows(infos: list[StepInfo], measured: StepAnswer | None) -> list[list[str]]:
    """Rise and overshoot of the gate: measured, by theory between the changes and at them."""
    seen = theory.step_info(measured.median, final=1.0) if measured else None
    found: list[StepInfo | None] = [seen, *infos]
    while len(found) < 3:
        found.append(None)
    return [
        ["gate: rise 10-90 %", *("" if info is None else frames_text(info.RiseTime) for info in found)],
        ["gate: overshoot", *("" if info is None else f"{info.Overshoot:.1f} %" for info in found)],
    ]


def _gate_note(shown: PanelInput, measured: StepAnswer | None, where: str, speeds: list[Speed]) -> str:
    """What is drawn, or why nothing was measured."""
    fixed = shown.stream.fixed[0]
    if measured:
        several = f"{measured.count} steps" if measured.count > 1 else "the step"
        text = f"blue: the gate after {several} of {where}"
        text += ", violet: theory at the steps" if len(speeds) > 1 else ""
        text += f", in grey of {shown.drawn}" if shown.pin else ""
    elif shown.newest is not None:
        text = "theory; steps are measured when the stream is not playing"
    elif fixed is None:
        text = "the gate by theory; the pictures change here, and a step is measured on a fixed picture only"
    elif steps(fixed.branches.severity):
        text = "the gate hardly moves at this stream's steps, so theory stands alone"
    else:
        text = "the gate by theory: there is no sudden step that holds in this stream"
    if shown.settings.on and shown.settings.mode == "reset":
        text += "; in Reset Mode the gate goes its one step at once, and no further"
    return text
