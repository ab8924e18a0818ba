"""The chosen predictions of a shipped model, and what no knob changes about them; loaded once, kept in a cache."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import streamlit as st

from app.calibration.cell_selection import Selection
from app.console.stream_choice import CORRUPTION_NAMES
from app.server import garbage_collector
from knob_core import fusion, library
from knob_core.assets import ASSETS
from knob_core.data import load_sample
from knob_core.methods import GATED
from knob_core.reset_mode import Predictions, prepare

ROOT = ASSETS


@dataclass(frozen=True)
class ShownPredictions:
    """The chosen predictions, and what no knob changes about them."""

    predictions: Predictions
    cells: tuple[tuple[str, int], ...]  # (corruption, severity) of each cell
    levels: tuple[int, ...]
    groups: dict[str, list[np.ndarray]]  # all, agree, disagree: for each level, which predictions
    top2_preserved: float  # share of predictions whose branches have the same top class and runner-up
    noise_seed: int
    reset_reference: float | None = None  # the model's form of Reset Mode (`knob_core.gates`)

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
def _load(selection: Selection, version: int) -> ShownPredictions:
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
    return ShownPredictions(
        predictions=predictions,
        cells=cells,
        levels=levels,
        groups={name: [np.flatnonzero(mask & (severity == s)) for s in levels] for name, mask in masks.items()},
        top2_preserved=float(fusion.top2_preserved(z_static, z_dyn).mean()),
        noise_seed=found.noise_seed,
        reset_reference=found.reset_reference,
    )


def load(selection: Selection) -> ShownPredictions:
    """The chosen predictions, kept for a few selections; raises OSError or ValueError with the cause."""
    return _load(selection, version())


@st.cache_data(max_entries=48, show_spinner=False)
def corrupted_images(corruption: str, severity: int, noise_seed: int, chunk: int) -> np.ndarray:
    """One chunk of the sample's images (n, 32, 32, 3) under a corruption, as the models saw them. Needs torch."""
    with garbage_collector.loading("torch"):
        from knob_core.data import cifar10c

    images = load_sample()[0]
    first = next(cifar10c.chunks(images, corruption, severity, noise_seed, start=chunk))
    return np.ascontiguousarray(first.transpose(0, 2, 3, 1))
