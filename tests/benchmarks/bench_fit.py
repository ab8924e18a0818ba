"""`fit` with all rivals, on one thread, beside a plain Python loop of one moving average over the same frames."""

from __future__ import annotations

import time

import numpy as np
import pytest
from stream_families import stream_family

from knob_core import fit, metrics


def looped(z: np.ndarray) -> float:
    """CPU seconds of one moving average, frame by frame in NumPy."""
    began, m = time.process_time(), np.zeros(z.shape[::2])
    for t in range(z.shape[1]):
        m += 0.3 * (metrics.softmax(z[:, t]) - m)
    return time.process_time() - began


@pytest.mark.parametrize(("streams", "frames", "classes", "most"), [(10, 1000, 2, 5.0), (40, 978, 10, 60.0)])
def test_a_fit_with_all_rivals_takes_seconds(streams: int, frames: int, classes: int, most: float) -> None:
    z, labels = stream_family("errors last", streams=streams, frames=frames, classes=classes)
    fit(z[:4, :100], labels[:4, :100])  # compiles, or finds what was compiled
    began = time.process_time()
    found = fit(z, labels)
    used, loop = time.process_time() - began, looped(z)
    print(f"\n{streams} x {frames} x {classes}: fit {used:.1f} CPU seconds, one loop {loop:.3f}: {used / loop:.0f} x")
    assert found.table and used <= most
