"""What ships is there at once: loading against computing it anew, and as seconds for people."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
import torch

from knob_core import library, models
from knob_core.assets import ASSETS
from train.measuring import branch_outputs

pytestmark = pytest.mark.skipif(
    not (ASSETS / library.MANIFEST).is_file(), reason="nothing shipped: python -m train.library"
)


def seconds(work: Callable[[], object], rounds: int) -> float:
    """The best of some: the one that was disturbed least."""
    found = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        found.append(time.perf_counter() - start)
    return min(found)


def test_loading_beats_computing() -> None:
    torch.set_num_threads(1)
    key = next(key for key in library.streams() if key.method == "knob-ode")
    cells = library.load_cells("knob-ode")
    frames = library.render(key).frames(0, 64)
    member = branch_outputs.member(models.build("knob-ode", 16), 0)
    computing = seconds(lambda: branch_outputs.compute([member], frames), 3) / len(frames)  # an image
    stream = seconds(lambda: library.load_stream(key), 5)
    whole = seconds(lambda: library.load_cells("knob-ode"), 3)
    images = {
        "a stream": (len(key.images) * key.realisations * key.frames, stream),
        "all cells": (cells.u_star.size, whole),
    }
    print()
    for name, (count, took) in images.items():
        print(f"{name}: {count:,} images in {took:.3f} s, {count * computing / took:.0f} x faster than computing them")
        assert count * computing / took >= 50
    assert whole < 1.0
