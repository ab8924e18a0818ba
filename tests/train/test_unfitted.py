"""The weights for a model that nobody fitted: the rule that chooses them, on made streams."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from knob_core import branches
from knob_core.branches import Branches
from knob_core.memories import UNFITTED, Attentive
from knob_core.settings import HOME
from train.outside import unfitted
from train.outside.unfitted import StreamSet, Tried

SLOW = Attentive(a=-3.0, b=0.0, f=0.0)  # forgets nothing: late at every change


def made(noise: float, gap: int = 15, streams: int = 8, frames: int = 150, classes: int = 3) -> StreamSet:
    """Logits +3 at the true class, which changes every `gap` frames, in noise."""
    draw = np.random.default_rng(0)
    labels = np.stack([(np.arange(frames) + 4 * r) // gap % classes for r in range(streams)])
    z = 3.0 * np.eye(classes)[labels] + noise * draw.standard_normal((streams, frames, classes))
    return StreamSet("made", "fast", z, labels)


def test_the_shipped_ones_are_of_the_grid():
    assert UNFITTED in unfitted.grid()


@pytest.mark.parametrize("noise", [0.2, 1.0, 2.0])
@pytest.mark.parametrize("scale", unfitted.SCALES)
def test_they_cost_no_accuracy_where_classes_change_fast(noise: float, scale: float) -> None:
    found = unfitted.against(made(noise), UNFITTED, scale=scale)
    assert found.gained >= -0.3
    assert found.flips <= found.flips_bare
    assert found.nll <= found.nll_bare + 0.02


def test_the_counts_are_those_of_the_answers() -> None:
    late = unfitted.against(made(0.2), SLOW)
    assert late.accuracy_bare == 1.0 and late.flips_bare == 0.0 and late.delay_bare == 0.0
    assert late.gained < -20 and late.delay > 3 and late.nll > late.nll_bare
    assert (late.streams, late.frames) == (8, 150)


def test_turning_omega_n_down_calms_them() -> None:
    streams = made(1.5)
    assert unfitted.against(streams, UNFITTED, omega_n=0.05).flips < 0.8 * unfitted.against(streams, UNFITTED).flips


def test_the_calmest_of_the_harmless_ones_is_chosen() -> None:
    harmless, calm, harmful = Tried(UNFITTED, -0.1, 0.2), Tried(SLOW, -0.14, 0.3), Tried(SLOW, -0.16, 0.9)
    assert unfitted.chosen([harmless, calm, harmful]) is calm
    with pytest.raises(ValueError, match=r"cost less than 0\.15 points"):
        unfitted.chosen([harmful])


def test_weights_that_are_late_are_not_harmless() -> None:
    sets = [made(0.5)]
    assert unfitted.tried(SLOW, sets).worst < unfitted.WORST <= unfitted.tried(UNFITTED, sets).worst


def test_nothing_is_chosen_on_test_pictures(tmp_path: Path) -> None:
    z = np.random.default_rng(0).normal(size=(2, 6, 3))
    stream = Branches(z, z, np.zeros((2, 6)), np.zeros((2, 6), int), np.zeros((2, 6)))
    for split in ("validation", "test"):
        branches.save(stream, tmp_path / f"{split}-mixed-static-s0.npz", "float32")
    own = unfitted.own_set(tmp_path / "validation-mixed-static-s0.npz")
    assert (own.model, own.kind) == ("static-s0", "mixed") and (own.z.argmax(-1) == z.argmax(-1)).all()
    with pytest.raises(ValueError, match="nothing is chosen on test pictures"):
        unfitted.own_set(tmp_path / "test-mixed-static-s0.npz")


def test_weights_that_a_file_leaves_out_are_those_of_a_model_that_nobody_fitted() -> None:
    assert Attentive.from_dict({"a": -3.0, "b": 0.0}) == replace(UNFITTED, a=-3.0, b=0.0)
    assert HOME.attentive_weights() == UNFITTED and HOME.attentive_weights(SLOW) == SLOW
    assert replace(HOME, weights=SLOW).attentive_weights(UNFITTED) == SLOW
