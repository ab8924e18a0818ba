"""Pixels of a change stream: the plan's picture, shifted and corrupted, whatever the batches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from knob_core.corruptions import NAMES
from knob_core.data import load_sample
from knob_core.data.pixels import to_bytes
from knob_core.streams import BLOCK, ChangeFrames
from knob_core.streams.change import CHANGE_STREAMS, ChangePlan, plan
from knob_core.streams.change_frames import shift

T = BLOCK + 22
MOVING = replace(CHANGE_STREAMS["fast"], motion=1.0)
RESTING = replace(CHANGE_STREAMS["fast"], motion=0.0)


@pytest.fixture(scope="module")
def pictures() -> tuple[np.ndarray, np.ndarray]:
    images, labels, _ = load_sample()
    return images[:50], labels[:50]


def moving_plan(labels: np.ndarray, frames: int = T) -> ChangePlan:
    return plan(labels, MOVING, frames, seed=2)


def test_whole_shifts_by_hand() -> None:
    images = (torch.arange(64.0).reshape(1, 1, 8, 8) / 255).repeat(1, 3, 1, 1)
    right = shift(images, torch.tensor([[1.0, 0.0]]))
    assert torch.allclose(right[..., 1:], images[..., :-1], atol=1e-6)
    assert torch.allclose(right[..., 0], images[..., 0], atol=1e-6)  # the border is reflected
    down = shift(images, torch.tensor([[0.0, 2.0]]))
    assert torch.allclose(down[..., 2:, :], images[..., :-2, :], atol=1e-6)
    assert torch.allclose(down[..., 0, :], images[..., 1, :], atol=1e-6)


def test_half_a_pixel_is_the_mean_of_two() -> None:
    images = (torch.arange(64.0).mul(2).reshape(1, 1, 8, 8) / 255).repeat(1, 3, 1, 1)  # neighbours differ by 2
    moved = shift(images, torch.tensor([[0.5, 0.0]]))
    assert torch.allclose(moved[..., 1:] * 255, images[..., 1:] * 255 - 1, atol=1e-3)


@pytest.mark.parametrize("name", NAMES)
def test_batches_change_nothing(name: str, pictures: tuple[np.ndarray, np.ndarray]) -> None:
    images, labels = pictures
    stream = ChangeFrames(images, moving_plan(labels), name, seed=5, stream=3)
    whole = stream.frames()
    assert whole.shape == (T, 3, 32, 32) and whole.min() >= 0 and whole.max() <= 1
    assert torch.equal(torch.cat(list(stream.batches(50))), whole)
    assert torch.equal(stream.frames(BLOCK - 3, BLOCK + 2), whole[BLOCK - 3 : BLOCK + 2])
    longer = ChangeFrames(images, moving_plan(labels, 2 * BLOCK), name, seed=5, stream=3)
    assert torch.equal(longer.frames(0, T), whole)


def test_clean_frames_at_rest_are_the_pictures(pictures: tuple[np.ndarray, np.ndarray]) -> None:
    images, labels = pictures
    p = plan(labels, replace(RESTING, severity=(("clean", 0.5), ("step", 0.5))), 200, seed=1)
    frames = to_bytes(ChangeFrames(images, p, "speckle_noise").frames())
    clean = p.severity == 0
    assert 10 < clean.sum() < 190
    np.testing.assert_array_equal(frames[clean], images[p.picture[clean]])
    assert all((frames[t] != images[p.picture[t]]).any() for t in np.flatnonzero(~clean))


def test_clean_frames_in_motion_are_shifted_pictures(pictures: tuple[np.ndarray, np.ndarray]) -> None:
    images, labels = pictures
    p = moving_plan(labels, 40)
    p = replace(p, severity=np.zeros(40))
    frames = ChangeFrames(images, p, "fog").frames()
    wanted = shift(torch.from_numpy(images[p.picture]).float() / 255, torch.from_numpy(p.shift))
    assert torch.equal(frames, wanted)
    assert torch.equal((frames * 255).round() / 255, frames)  # 8-bit pictures, as a camera's


def test_noise_is_fresh_in_every_frame_stream_and_seed(pictures: tuple[np.ndarray, np.ndarray]) -> None:
    images, labels = pictures
    p = plan(labels, replace(CHANGE_STREAMS["still"], motion=0.0, severity=(("step", 1.0),)), 20)
    made = {key: ChangeFrames(images, p, "speckle_noise", *key).frames() for key in ((0, 0), (0, 1), (1, 0))}
    first = made[0, 0]
    assert torch.equal(first, ChangeFrames(images, p, "speckle_noise", 0, 0).frames())
    assert all((first[t] != first[t - 1]).float().mean() > 0.5 for t in range(1, 20))
    for key in ((0, 1), (1, 0)):
        assert (made[key] != first).float().mean() > 0.5


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"corruption": "rain"}, "corruption is 'rain', expected one of gaussian_noise"),
        ({"images": np.zeros((2, 3, 32, 32), np.uint8)}, "expected .* with N > "),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_odd_arguments_are_refused(change: dict, cause: str, pictures: tuple[np.ndarray, np.ndarray]) -> None:
    images, labels = pictures
    with pytest.raises(ValueError, match=cause):
        ChangeFrames(**{"images": images, "plan": moving_plan(labels), "corruption": "fog", **change})


def test_odd_frames_are_refused(pictures: tuple[np.ndarray, np.ndarray]) -> None:
    images, labels = pictures
    stream = ChangeFrames(images, moving_plan(labels), "fog")
    for t0, t1 in ((-1, 3), (3, 3), (0, T + 1)):
        with pytest.raises(ValueError, match="t0, t1 are"):
            stream.frames(t0, t1)
    with pytest.raises(ValueError, match="batch_size is 0"):
        next(stream.batches(0))
