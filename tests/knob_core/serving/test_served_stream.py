"""What is kept of a stream for whoever watches it."""

from __future__ import annotations

import numpy as np
import pytest

from knob_core.serving.served_stream import HISTORY, NAMES, Ring


def test_flips_are_those_of_the_rows_that_are_kept() -> None:
    rng, ring = np.random.default_rng(0), Ring()
    assert ring.flips("label") is None
    for number in range(1, 2 * HISTORY + 50):
        ring.add(number, 0.5, 0.5, *rng.integers(0, 2, 2))
        for name in ("label", "bare"):
            changes = np.diff(ring.rows()[:, NAMES.index(name)]) != 0
            assert ring.flips(name) == (100.0 * changes.sum() / len(changes) if len(changes) else None)


def test_flips_are_not_counted_anew_whenever_somebody_asks(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = Ring()
    for label in (1, 2, 2):
        ring.add(1, 0.5, 0.5, label, 1)
    monkeypatch.setattr(Ring, "rows", None)
    assert (ring.flips("label"), ring.flips("bare")) == (50.0, 0.0)
