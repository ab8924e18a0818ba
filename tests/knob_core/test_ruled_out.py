"""Logits of -inf: taken correctly, or refused."""

from __future__ import annotations

import numpy as np
import pytest

from knob_core import wrap
from knob_core._arrays.ruled_out import FAR, finite
from knob_core.response import respond
from knob_core.runtime import KnobStream
from knob_core.settings import Settings


def stream() -> KnobStream:
    return KnobStream(wrap.classifier())


def test_a_class_that_is_ruled_out_in_every_frame_does_not_silence_the_stream() -> None:
    """Label -1 for ever, and no error, was the answer."""
    masked, low = stream(), stream()
    for best in (0, 0, 3, 3, 3, 3, 3, 3):
        z = np.where(np.arange(4) == best, 4.0, 0.0)
        answer = masked.step(np.where(np.arange(4) == 2, -np.inf, z))
        same = low.step(np.where(np.arange(4) == 2, -FAR, z))
    assert (answer.label, bool(answer.missing)) == (3, False)
    assert answer.probabilities[2] < 1e-6 and np.isfinite(answer.probabilities).all()
    np.testing.assert_array_equal(answer.probabilities, same.probabilities)


def test_only_rows_that_make_sense_are_taken() -> None:
    z = np.array([[1.0, -np.inf, 3.0], [np.nan, -np.inf, 0.0], [np.inf, -np.inf, 0.0], [-np.inf] * 3, [1.0, 2.0, 3.0]])
    found = finite(z)
    np.testing.assert_array_equal(found[0], [1.0, 1.0 - FAR, 3.0])
    np.testing.assert_array_equal(found[1:], z[1:])
    np.testing.assert_array_equal(finite(np.array([2, -np.inf], np.float16)), [2, 2 - FAR])
    answer = stream().step(z)
    assert answer.missing.tolist() == [False, True, True, True, False]


@pytest.mark.parametrize("memory", ["plain", "attentive"])
@pytest.mark.parametrize("mask", [-np.inf, -1e9, float(np.finfo(np.float32).min), -1e100])
def test_a_mask_of_any_size_is_a_class_that_is_ruled_out(memory: str, mask: float) -> None:
    """After one masked frame, plain memory kept the class out for 51 frames (-1e9) to 574 (-1e100)."""
    seen, masked, shown = [np.array([5.0, 0, 0, 0])] * 20, np.array([5.0, mask, 0, 0]), [np.array([0.0, 9, 0, 0])] * 8
    one = KnobStream(wrap.classifier(), settings=Settings(memory=memory))
    z = np.array([*seen, masked, *shown])
    labels = [one.step(frame).label for frame in z]
    assert labels[-1] == 1
    found, _ = respond(wrap.branches_of(z[None]), Settings(memory=memory))
    np.testing.assert_array_equal(found.predicted[0], labels)
