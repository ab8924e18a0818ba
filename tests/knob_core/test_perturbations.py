"""Perturbation sequences: lengths, levels, what each must do, and the flip probability by hand."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from knob_core import data, perturbations
from knob_core.data.pixels import to_unit

LENGTHS = {"motion_blur": 21, "translate": 16}


@pytest.fixture(scope="module")
def images() -> torch.Tensor:
    return to_unit(data.load_sample()[0][:4])


def made(images: torch.Tensor, name: str, seed: int = 0) -> torch.Tensor:
    return perturbations.perturb(images, name, torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("name", perturbations.NAMES)
def test_sequences_have_their_length_and_whole_levels(name: str, images: torch.Tensor) -> None:
    frames = made(images, name)
    assert frames.shape == (4, LENGTHS.get(name, 31), 3, 32, 32)
    assert torch.equal((frames * 255).round() / 255, frames) and frames.min() >= 0 and frames.max() <= 1
    assert torch.equal(made(images, name), frames)
    change = (frames[:, 1:] - frames[:, :-1]).abs().mean((2, 3, 4))
    assert (change > 0).all() and change.mean() < 0.15  # something moves in every frame, and not far


UNTOUCHED = {"gaussian_noise": 0, "shot_noise": 0, "zoom_blur": 0, "brightness": 15, "translate": 7, "rotate": 15}


@pytest.mark.parametrize(("name", "place"), [*UNTOUCHED.items(), ("scale", 15)])
def test_the_untouched_frame_is_the_picture(name: str, place: int, images: torch.Tensor) -> None:
    torch.testing.assert_close(made(images, name)[:, place], images, atol=1.01 / 255, rtol=0)


def test_noise_has_the_published_size(images: torch.Tensor) -> None:
    grey = torch.full((8, 3, 32, 32), 0.5)
    assert float(made(grey, "gaussian_noise")[:, 1:].std()) == pytest.approx(0.02, rel=0.05)
    assert float(made(grey, "shot_noise")[:, 1:].std()) == pytest.approx((0.5 / 700) ** 0.5, rel=0.05)
    assert not torch.equal(made(grey, "gaussian_noise", 1), made(grey, "gaussian_noise", 2))


def test_pixels_move_where_they_should() -> None:
    dot = torch.zeros(1, 3, 32, 32)
    dot[..., 16, 20] = 1
    translated = made(dot, "translate")
    assert [int(frame[0, 16].argmax()) for frame in translated[0]] == [20 + pixels for pixels in range(-7, 9)]
    turned = made(dot, "rotate")[0].sum(1)
    rows = [float((frame.sum(1) * torch.arange(32)).sum() / frame.sum()) for frame in turned]
    assert all(a > b for a, b in pairwise(rows)) or all(a < b for a, b in pairwise(rows))
    grown = made(torch.ones(1, 3, 32, 32), "scale")[0].sum((1, 2, 3))
    assert float(grown[0] / grown[-1]) == pytest.approx(0.7**2, abs=0.03)  # smaller than the frame: black around it
    light = made(torch.full((1, 3, 32, 32), 0.5), "brightness")[0].mean((1, 2, 3))
    assert float(light[0]) == pytest.approx(0.5 - 0.225, abs=0.005) and float(light[-1]) == pytest.approx(
        0.725, abs=0.005
    )


def test_tilt_turns_about_both_axes() -> None:
    """One corner comes nearer, the opposite one goes away; the matrix at 0 degrees is nearly the identity."""
    still = perturbations.tilt(0.0, 32)
    torch.testing.assert_close(still / still[2, 2], torch.eye(3, dtype=torch.float64), atol=0.03, rtol=0)
    moved = perturbations.tilt(10.0, 32)
    corners = torch.tensor([[-16.0, -16, 1], [16, 16, 1]], dtype=torch.float64) @ moved.T
    size = (corners[:, :2] / corners[:, 2:]).norm(dim=1)
    assert abs(float(size[0] - size[1])) > 1


def test_flips_by_hand() -> None:
    answers = np.array([[1, 2, 2, 1], [3, 3, 3, 3]])
    assert perturbations.flips(answers, "rotate").tolist() == [2 / 3, 0]  # against the frame before
    assert perturbations.flips(answers, "gaussian_noise").tolist() == [2 / 3, 0]  # against the first: 2, 2 differ
    assert perturbations.flips(np.array([[1, 2, 2, 2]]), "rotate").tolist() == [1 / 3]
    assert perturbations.flips(np.array([[1, 2, 2, 2]]), "shot_noise").tolist() == [1]


def test_bad_arguments_are_named(images: torch.Tensor) -> None:
    with pytest.raises(ValueError, match="name must be one of gaussian_noise"):
        perturbations.perturb(images, "fog")
    with pytest.raises(ValueError, match=r"images must have shape \(N, 3, S, S\)"):
        perturbations.perturb(images[0], "rotate")
    with pytest.raises(ValueError, match="at least 2 frames"):
        perturbations.flips(np.zeros((3, 1)), "rotate")
