"""Which of the shipped predictions are looked at: a model, some corruptions, some severities; and the predictions.

A selection is plain values: it keys every cache and stands in the link, where nothing is trusted.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from app import garbage
from app.choice import CORRUPTION_NAMES
from knob_core import fusion, library
from knob_core.assets import ASSETS
from knob_core.data import load_sample
from knob_core.reset_mode import Predictions, prepare
from knob_core.response import DYNAMICS

ROOT = ASSETS
SEVERITIES = (1, 2, 3, 4, 5)
GATED = ("knob-ode", "ode-lite", "knob-ia")  # methods whose two branches and gate are there to be looked at


@dataclass(frozen=True)
class Selection:
    """A model and some of its 95 cells."""

    method: str = "knob-ode"
    seed: int = 0
    corruptions: tuple[str, ...] = CORRUPTION_NAMES
    severities: tuple[int, ...] = SEVERITIES

    def __post_init__(self) -> None:
        if self.method not in GATED:
            raise ValueError(f"method is {self.method!r}, expected one of {', '.join(GATED)}")
        if not self.corruptions or not set(self.corruptions) <= set(CORRUPTION_NAMES):
            raise ValueError(f"corruptions are {self.corruptions}, expected some of {', '.join(CORRUPTION_NAMES)}")
        if not self.severities or not set(self.severities) <= set(SEVERITIES):
            raise ValueError(f"severities are {self.severities}, expected some of {SEVERITIES}")

    @property
    def knobs_act(self) -> bool:
        """Whether turning does anything."""
        return DYNAMICS[self.method] != "none"


def write(selection: Selection) -> str:
    """`knob-ode~0~fog.snow~135`; nothing for what is at home."""
    if selection == Selection():
        return ""
    corruptions = "" if selection.corruptions == CORRUPTION_NAMES else ".".join(selection.corruptions)
    severities = "" if selection.severities == SEVERITIES else "".join(map(str, selection.severities))
    return f"{selection.method}~{selection.seed}~{corruptions}~{severities}"


def read(text: str) -> tuple[Selection, list[str]]:
    """What a link says, or home and the reason."""
    if not text:
        return Selection(), []
    try:
        method, seed, corruptions, severities = text[:600].split("~")
        names = tuple(dict.fromkeys(corruptions.split("."))) if corruptions else CORRUPTION_NAMES
        ordered = tuple(name for name in CORRUPTION_NAMES if name in names)
        if len(ordered) != len(names):
            raise ValueError("a corruption is unknown")
        levels = tuple(sorted({int(level) for level in severities})) if severities else SEVERITIES
        return Selection(method, int(seed), ordered, levels), []
    except ValueError as error:
        return Selection(), [f"cells = {text[:24]!r} in the link cannot be used ({str(error)[:120]})"]


@dataclass(frozen=True)
class Looked:
    """The chosen predictions, and what no knob changes about them."""

    predictions: Predictions
    cells: tuple[tuple[str, int], ...]  # (corruption, severity) of each cell
    levels: tuple[int, ...]
    groups: dict[str, list[np.ndarray]]  # all, agree, disagree: for each level, which predictions
    top2_preserved: float  # share of predictions whose branches have the same top class and runner-up
    noise_seed: int

    @property
    def samples(self) -> int:
        """Images in a cell."""
        return len(self.predictions) // len(self.cells)


def models() -> list[tuple[str, int]]:
    """(method, seed) of every gated model whose predictions ship; raises OSError or ValueError with the cause."""
    return [(method, seed) for method, seed in library.models(ROOT) if method in GATED]


def version() -> int:
    """Changes when what ships does, so that no cache outlives it."""
    library.manifest(ROOT)  # says what is wrong, if anything
    return (ROOT / library.MANIFEST).stat().st_mtime_ns


@st.cache_resource(max_entries=4, show_spinner=False)
def _cells(method: str, seed: int, version: int) -> library.Cells:
    return library.load_cells(method, seed, ROOT)


def cells_of(method: str, seed: int) -> library.Cells:
    """All 95 cells of a model; raises OSError or ValueError with the cause."""
    return _cells(method, seed, version())


@st.cache_resource(max_entries=6, show_spinner=False)
def _look(selection: Selection, version: int) -> Looked:
    found = cells_of(selection.method, selection.seed)
    chosen = [
        i
        for i, (corruption, severity) in enumerate(found.cells)
        if corruption in selection.corruptions and severity in selection.severities
    ]
    chosen.sort(key=lambda i: (CORRUPTION_NAMES.index(found.cells[i][0]), found.cells[i][1]))
    z_static, z_dyn = found.z_static[chosen], found.z_dyn[chosen]
    cells = tuple(found.cells[i] for i in chosen)
    predictions = prepare(z_static, z_dyn, found.u_star[chosen], found.labels)
    severity = np.repeat([severity for _, severity in cells], len(found.labels))  # (M,)
    levels = tuple(sorted({severity for _, severity in cells}))
    masks = {"all": np.ones_like(predictions.agree), "agree": predictions.agree, "disagree": ~predictions.agree}
    return Looked(
        predictions=predictions,
        cells=cells,
        levels=levels,
        groups={name: [np.flatnonzero(mask & (severity == s)) for s in levels] for name, mask in masks.items()},
        top2_preserved=float(fusion.top2_preserved(z_static, z_dyn).mean()),
        noise_seed=found.noise_seed,
    )


def look(selection: Selection) -> Looked:
    """The chosen predictions, kept for a few selections; raises OSError or ValueError with the cause."""
    return _look(selection, version())


@st.cache_data(max_entries=48, show_spinner=False)
def pictures(corruption: str, severity: int, noise_seed: int, chunk: int) -> np.ndarray:
    """One chunk of the sample's images (n, 32, 32, 3) under a corruption, as the models saw them. Needs torch."""
    with garbage.loading("torch"):
        from knob_core.data import cifar10c

    images = load_sample()[0]
    first = next(cifar10c.chunks(images, corruption, severity, noise_seed, start=chunk))
    return np.ascontiguousarray(first.transpose(0, 2, 3, 1))
