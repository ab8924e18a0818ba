"""Iso-lines: on the level everywhere, around what lies above it, and nothing where nothing crosses."""

from __future__ import annotations

import numpy as np
import pytest

from knob_core.maps.iso_lines import iso_line


def at(values: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Bilinear between the places."""
    i, j = np.minimum(y.astype(int), values.shape[0] - 2), np.minimum(x.astype(int), values.shape[1] - 2)
    a, b = y - i, x - j
    low = (1 - b) * values[i, j] + b * values[i, j + 1]
    return (1 - a) * low + a * ((1 - b) * values[i + 1, j] + b * values[i + 1, j + 1])


@pytest.mark.parametrize("seed", range(5))
def test_every_point_lies_on_the_level_and_lines_have_no_loose_end_inside(seed: int) -> None:
    values = np.random.default_rng(seed).normal(size=(9, 12))
    x, y = iso_line(values, 0.2)
    told = np.isfinite(x)
    np.testing.assert_allclose(at(values, x[told], y[told]), 0.2, atol=1e-8)
    cells = np.floor(np.stack([(x[1:] + x[:-1]) / 2, (y[1:] + y[:-1]) / 2], 1))
    assert len(np.unique(cells[np.isfinite(cells[:, 0])], axis=0)) > 10
    for end in np.flatnonzero(~told):
        start = np.flatnonzero(~told[:end])[-1] + 1 if (~told[:end]).any() else 0
        closed = (x[start], y[start]) == (x[end - 1], y[end - 1])
        assert closed or all(x[i] in (0, 11) or y[i] in (0, 8) for i in (start, end - 1))


def test_one_peak_has_a_square_around_it() -> None:
    values = np.zeros((3, 3))
    values[1, 1] = 1.0
    x, y = iso_line(values, 0.5)
    corners = {(round(a, 6), round(b, 6)) for a, b in zip(x, y, strict=True) if np.isfinite(a)}
    assert corners == {(0.5, 1.0), (1.5, 1.0), (1.0, 0.5), (1.0, 1.5)}


def test_nothing_crosses_and_what_is_unknown_is_left_out() -> None:
    assert len(iso_line(np.zeros((4, 4)), 1.0)[0]) == 0
    values = np.tile([0.0, 1.0, 2.0], (3, 1))
    values[0, 0] = np.nan
    x, _ = iso_line(values, 0.5)
    assert len(x) == 3  # two ends and a gap: one of the two cells that the line would cross
    assert len(iso_line(np.full((3, 3), np.nan), 0.0)[0]) == 0
