"""Streams of unequal length in one set: each is answered as alone, and measures count its own frames only."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

from knob_core import branches as branch_files
from knob_core.branches import Branches, padded
from knob_core.measures.operator import known_truth, measure
from knob_core.response import Response, respond
from knob_core.settings import Settings
from knob_core.wrap import branches_of

LENGTHS = (80, 33, 57)
FRAMES, CLASSES = 80, 4
CUT = 20  # frames of one class


@pytest.fixture
def uneven() -> Branches:
    rng = np.random.default_rng(0)
    labels = np.broadcast_to(np.arange(FRAMES) // CUT % CLASSES, (3, FRAMES))
    z = rng.normal(0, 1.5, (3, FRAMES, CLASSES)) + 2 * np.eye(CLASSES)[labels]
    z[np.arange(FRAMES) >= np.array(LENGTHS)[:, None]] = np.nan
    held, missing = padded(z)
    assert missing is not None
    labels = np.where(missing, -1, labels)
    return Branches(held, held, rng.normal(size=(3, FRAMES)), labels, np.zeros(FRAMES), missing=missing)


def alone(whole: Branches, path: int) -> Branches:
    frames = whole.at(slice(LENGTHS[path]))
    arrays = {name: getattr(frames, name)[path : path + 1] for name in ("z_static", "z_dyn", "u_star", "labels")}
    return Branches(**arrays, severity=frames.severity)


def test_frames_beyond_the_end_repeat_the_last_and_are_marked() -> None:
    z = np.arange(12.0).reshape(2, 3, 2)
    z[1, 1:] = np.nan
    held, missing = padded(z)
    assert held.tolist() == [[[0, 1], [2, 3], [4, 5]], [[6, 7]] * 3]
    assert missing is not None and missing.tolist() == [[0, 0, 0], [0, 1, 1]]
    assert padded(held)[0] is held and padded(held)[1] is None
    for wrong, place in ((np.s_[0, 1], "frame 1 of stream 0"), (np.s_[1], "frame 0 of stream 1")):
        spoiled = z.copy()
        spoiled[wrong] = np.nan
        with pytest.raises(ValueError, match=f"{place} is NaN, expected frames of NaN at the end of a stream only"):
            padded(spoiled)


@pytest.mark.parametrize("memory", ["attentive", "plain", "off"])
def test_each_stream_is_answered_as_alone_and_nothing_beyond_its_end(uneven: Branches, memory: str) -> None:
    settings = Settings(memory=memory)
    together, _ = respond(uneven, settings)
    for path, length in enumerate(LENGTHS):
        one, _ = respond(alone(uneven, path), settings)
        for name in ("g", "p_max", "probabilities", "predicted"):
            found = getattr(together, name)[path]
            np.testing.assert_allclose(found[:length], getattr(one, name)[0], atol=1e-12)
            assert (found[length:] == -1).all() if name == "predicted" else np.isnan(found[length:]).all()


@pytest.mark.parametrize("labelled", [True, False])
def test_measures_count_the_frames_that_are_there(uneven: Branches, labelled: bool) -> None:
    """Pooled by hand over the streams alone: means over frames, and over steps from a frame to the next."""
    whole = uneven if labelled else replace(uneven, labels=np.full((3, FRAMES), -1))
    found = measured(whole)
    parts = [measured(alone(whole, path)) for path in range(3)]
    frames, steps = np.array(LENGTHS), np.array(LENGTHS) - 1
    weights = {"flips": steps, "accuracy": frames, "nll": frames, "confidence": frames, "sure_wrong": frames}
    weights |= {"excess_flips": steps}
    for name, weight in weights.items():
        np.testing.assert_allclose(found[name], np.average([part[name] for part in parts], weights=weight), atol=1e-9)
    assert np.isfinite(found["jitter"]) and (np.isfinite(found["delay_mean"]) == labelled)


def measured(branches: Branches) -> dict[str, float]:
    response, bare = answers(branches, Settings()), answers(branches, Settings(on=False))
    return asdict(measure(branches, response, known_truth(branches, bare.predicted)))


def answers(branches: Branches, settings: Settings) -> Response:
    return respond(branches, settings)[0]


def test_a_classifier_s_logits_may_be_padded_with_one_label_a_stream(uneven: Branches) -> None:
    z = np.where(np.asarray(uneven.missing)[..., None], np.nan, uneven.z_static)
    made = branches_of(z, np.array([0, 1, 2]))
    np.testing.assert_array_equal(made.z_static, uneven.z_static)
    np.testing.assert_array_equal(made.frame_labels >= 0, ~np.isnan(z[..., 0]))


def test_some_frames_of_it_and_a_file_keep_the_ends(uneven: Branches, tmp_path) -> None:
    assert uneven.missing is not None
    backwards = uneven.at(np.arange(FRAMES)[::-1])
    assert backwards.missing is not None
    np.testing.assert_array_equal(backwards.missing, uneven.missing[:, ::-1])
    branch_files.save(uneven, tmp_path / "a.npz", "float32")
    loaded = branch_files.load(tmp_path / "a.npz")
    np.testing.assert_array_equal(loaded.missing, uneven.missing)
