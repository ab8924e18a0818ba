"""Augmentations: the range is kept, a generator decides everything, and each operation does what its line says."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from knob_core import augmentations, corruptions
from knob_core.augmentations import chains, geometry, spectrum, tones


def pictures(count: int = 6, height: int = 24, width: int = 24, seed: int = 0) -> Tensor:
    """Random whole levels."""
    levels = torch.randint(0, 256, (count, 3, height, width), generator=generator(seed))
    return levels.float() / 255


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def ramp(height: int = 8, width: int = 8) -> Tensor:
    """One picture whose value is column / 10 in every channel, (1, 3, H, W)."""
    return (torch.arange(width) / 10).expand(1, 3, height, width).clone()


def number(name: str) -> int:
    return chains.OPERATIONS.index(name)


def test_no_operation_is_a_corruption_of_the_benchmark() -> None:
    assert len(set(augmentations.OPERATIONS)) == 11
    assert not set(augmentations.OPERATIONS) & set(corruptions.NAMES)
    assert not set(augmentations.OPERATIONS) & {"color", "sharpness", "scale", "noise", "blur"}


# --- every operation ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", chains.OPERATIONS)
@pytest.mark.parametrize("size", [(24, 24), (32, 20)])
def test_every_operation_keeps_shape_and_range(name: str, size: tuple[int, int]) -> None:
    images = 0.1 + 0.85 * pictures(5, *size)
    before = images.clone()
    out = chains.apply(images, torch.full((5,), number(name)), torch.tensor([-1.0, -0.4, 0.0, 0.4, 1.0]))
    assert out.shape == images.shape and out.dtype == images.dtype
    assert out.min() >= 0 and out.max() <= 1
    assert torch.equal(images, before)
    assert not torch.allclose(out[[0, 4]], images[[0, 4]], atol=0.02)


@pytest.mark.parametrize("name", chains.OPERATIONS)
def test_every_picture_has_an_operation_and_a_magnitude_of_its_own(name: str) -> None:
    images = pictures(4)
    operation = torch.tensor([number(name), -1, number(name), number("rotate")])
    magnitude = torch.tensor([0.3, 0.9, -1.0, 0.6])
    together = chains.apply(images, operation, magnitude)
    for row in range(4):
        alone = chains.apply(images[row : row + 1], operation[row : row + 1], magnitude[row : row + 1])
        assert torch.allclose(together[row : row + 1], alone, atol=1e-6)
    assert torch.equal(together[1], images[1])


@pytest.mark.parametrize("name", geometry.GEOMETRY)
def test_a_map_of_magnitude_zero_moves_nothing(name: str) -> None:
    images = pictures(2, 24, 32)
    out = geometry.warp(images, geometry.GEOMETRY[name](torch.zeros(2), 24))
    assert torch.allclose(out, images, atol=1e-5)


# --- tones -------------------------------------------------------------------------------------------------------


def test_autocontrast_stretches_each_channel_and_leaves_a_flat_one() -> None:
    images = torch.full((1, 3, 1, 3), 0.25)
    images[0, 0, 0] = torch.tensor([0.2, 0.3, 0.6])
    out = tones.autocontrast(images)
    assert out[0, 0, 0].tolist() == pytest.approx([0, 0.25, 1])
    assert torch.equal(out[0, 1:], images[0, 1:])


def test_equalize_by_hand() -> None:
    """Four pixels at levels 10, 10, 20, 200: two lie at the lowest level, so the rest share [0, 1] in halves."""
    images = torch.full((1, 3, 2, 2), 50 / 255)
    images[0, 0] = torch.tensor([[10, 10], [20, 200]]) / 255
    out = tones.equalize(images)
    assert out[0, 0].flatten().tolist() == pytest.approx([0, 0, 0.5, 1])
    assert torch.equal(out[0, 1:], images[0, 1:])


def test_equalize_uses_all_levels_alike() -> None:
    dark = pictures(3, 32, 32) ** 3
    out = tones.equalize(dark)
    for quarter in (0.25, 0.5, 0.75):
        share = (out <= quarter).float().mean((2, 3))
        assert ((share - quarter).abs() < 0.12).all()  # a third power leaves a sixth of the pixels at level 0


def test_posterize_keeps_the_upper_bits() -> None:
    images = (torch.tensor([0, 31, 32, 200, 255]) / 255).expand(3, 3, 1, 5)
    out = (tones.posterize(images, torch.tensor([8.0, 3.0, 1.0])) * 255).round()
    assert out[0, 0, 0].tolist() == [0, 31, 32, 200, 255]
    assert out[1, 0, 0].tolist() == [0, 0, 32, 192, 224]
    assert out[2, 0, 0].tolist() == [0, 0, 0, 128, 128]


def test_solarize_inverts_what_is_bright() -> None:
    images = torch.tensor([0.1, 0.69, 0.8, 1.0]).expand(2, 3, 1, 4)
    out = tones.solarize(images, torch.tensor([0.7, 1.5]))
    assert out[0, 0, 0].tolist() == pytest.approx([0.1, 0.69, 0.2, 0.0])
    assert torch.equal(out[1], images[1])


# --- geometry ----------------------------------------------------------------------------------------------------


def test_a_shift_by_whole_pixels_is_exact_and_mirrors_at_the_edge() -> None:
    x = geometry.warp(ramp(), geometry.translate_x(torch.tensor([2.0])))
    assert x[0, 0, 3].tolist() == pytest.approx([0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.7, 0.6], abs=1e-5)
    y = geometry.warp(ramp().mT, geometry.translate_y(torch.tensor([-1.0])))
    assert y[0, 1, :, 0].tolist() == pytest.approx([0.0, 0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6], abs=1e-5)


def test_a_quarter_turn_is_exact_on_squares() -> None:
    images = pictures(2)
    turned = geometry.warp(images, geometry.rotate(torch.tensor([90.0, -90.0])))
    assert torch.allclose(turned[0], images[0].rot90(1, (1, 2)), atol=1e-4)
    assert torch.allclose(turned[1], images[1].rot90(-1, (1, 2)), atol=1e-4)


def test_a_turn_of_an_oblong_picture_keeps_angles() -> None:
    """A half turn is exact at any shape; a quarter turn of the middle square too, if pixels are square."""
    images = pictures(1, 8, 16)
    half = geometry.warp(images, geometry.rotate(torch.tensor([180.0])))
    assert torch.allclose(half, images.flip(2, 3), atol=1e-4)
    quarter = geometry.warp(images, geometry.rotate(torch.tensor([90.0])))
    assert torch.allclose(quarter[..., 4:12], images[..., 4:12].rot90(1, (2, 3)), atol=1e-4)


def test_a_shear_moves_a_row_by_its_height() -> None:
    out = geometry.warp(ramp(), geometry.shear_x(torch.tensor([1.0])))
    rows = torch.arange(8) - 3.5  # from the centre
    assert torch.allclose(out[0, 0, 1:7, 4], (4 + rows[1:7]) / 10, atol=1e-4)
    out = geometry.warp(ramp().mT.contiguous(), geometry.shear_y(torch.tensor([0.5])))
    assert out[0, 0, 4, 5] == pytest.approx((4 + 0.5 * 1.5) / 10, abs=1e-5)


# --- spectra -----------------------------------------------------------------------------------------------------


def test_no_weight_and_no_gain_change_nothing() -> None:
    images = pictures(3)
    assert torch.allclose(spectrum.mix_amplitudes(images, images.roll(1, 0), torch.zeros(3)), images, atol=1e-5)
    assert torch.allclose(spectrum.band_gains(images, torch.ones(3, 4, 4)), images, atol=1e-5)


def wave(cycles_x: int, cycles_y: int, amplitude: float, phase: float = 0.0, side: int = 16) -> Tensor:
    """0.5 + a cos(2 pi (kx x + ky y) / side + phase), (1, 3, side, side)."""
    line = torch.arange(side)
    angle = 2 * math.pi * (cycles_x * line + cycles_y * line[:, None]) / side + phase
    return (0.5 + amplitude * torch.cos(angle)).expand(1, 3, side, side).contiguous()


def test_amplitudes_mix_and_phases_stay() -> None:
    own, partner = wave(2, 1, 0.4, phase=0.7), wave(2, 1, 0.1, phase=-1.0)
    out = spectrum.mix_amplitudes(own, partner, torch.tensor([0.25]))
    assert torch.allclose(out, wave(2, 1, 0.75 * 0.4 + 0.25 * 0.1, phase=0.7), atol=1e-5)
    images = 0.4 + 0.2 * pictures(4)  # far from the ends, so that nothing is cut off
    out = spectrum.mix_amplitudes(images, images.roll(1, 0), torch.ones(4))
    assert torch.allclose(torch.fft.rfft2(out).abs(), torch.fft.rfft2(images.roll(1, 0)).abs(), atol=2e-3)


def test_a_gain_acts_on_its_own_band_only() -> None:
    gains = torch.ones(1, 4, 4)
    gains[0, 1, 3] = 0.5  # rows 1/16 to 1/8 cycles a pixel, columns from 1/4
    inside, outside = wave(5, 1, 0.2), wave(5, 3, 0.2)  # 5/16 along a row; 1/16 and 3/16 along a column
    assert torch.allclose(spectrum.band_gains(inside, gains), wave(5, 1, 0.1), atol=1e-5)
    assert torch.allclose(spectrum.band_gains(outside, gains), outside, atol=1e-5)


def test_gains_never_touch_the_mean_colour() -> None:
    images = 0.45 + 0.1 * pictures(3)
    out, mean = spectrum.band_gains(images, torch.full((3, 4, 4), 2.5)), images.mean((2, 3), keepdim=True)
    assert torch.allclose(out.mean((2, 3), keepdim=True), mean, atol=1e-5)
    assert torch.allclose(out - mean, 2.5 * (images - mean), atol=1e-5)


def test_a_third_of_the_spectra_each() -> None:
    images = pictures(300, 8, 8)
    out = spectrum.perturb(images, generator())
    untouched = int((out == images).all((1, 2, 3)).sum())
    assert 75 <= untouched <= 125
    mean_kept = (out.mean((2, 3)) - images.mean((2, 3))).abs().amax(1) < 0.02  # by gains, but for what is cut off
    assert 120 <= int(mean_kept.sum()) <= 240


# --- chains and the whole ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [(24, 24), (32, 32), (17, 30)])
def test_the_whole_keeps_shape_dtype_and_range(size: tuple[int, int], dtype: torch.dtype) -> None:
    images = pictures(40, *size).to(dtype)
    out = augmentations.augment(images, generator())
    assert out.shape == images.shape and out.dtype == dtype
    assert out.isfinite().all() and out.min() >= 0 and out.max() <= 1
    assert (out != images).any((1, 2, 3)).float().mean() > 0.95


def test_a_generator_decides_everything() -> None:
    images = pictures(16)
    torch.manual_seed(1)
    first = augmentations.augment(images, generator(5))
    torch.manual_seed(2)
    assert torch.equal(first, augmentations.augment(images, generator(5)))
    assert not torch.equal(first, augmentations.augment(images, generator(6)))


def test_flat_and_extreme_pictures_stay_finite() -> None:
    images = torch.stack([torch.full((3, 24, 24), value) for value in (0.0, 0.5, 1.0)] * 20)
    out = augmentations.augment(images, generator())
    assert out.isfinite().all() and out.min() >= 0 and out.max() <= 1


def test_a_mix_of_untouched_chains_is_the_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    """The weights of chains sum to one, and so do the picture's and theirs."""
    monkeypatch.setattr(chains, "apply", lambda images, operation, magnitude: images)
    images = pictures(8)
    assert torch.allclose(chains.mix(images, generator()), images, atol=1e-6)


def test_chains_have_one_to_three_operations_each_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(chains, "apply", lambda images, operation, magnitude: (seen.append(operation), images)[1])
    chains.mix(torch.rand(3000, 3, 2, 2), generator())
    operation = torch.stack(seen, 1)  # (9000, 3)
    depth = (operation >= 0).sum(1)
    assert (operation[:, 0] >= 0).all() and ((operation[:, 1] >= 0) | (operation[:, 2] < 0)).all()
    assert (torch.bincount(depth, minlength=4)[1:] / 9000).tolist() == pytest.approx([1 / 3] * 3, abs=0.02)
    used = torch.bincount(operation[operation >= 0], minlength=len(chains.OPERATIONS))
    assert (used / used.sum()).tolist() == pytest.approx([1 / 9] * 9, abs=0.01)


def test_the_blend_is_uniform_and_the_weights_are_dirichlet(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chain k paints the picture k: of a black picture there remain m w_0, whose mean is 1/2 x 1/3."""

    def paint(images: Tensor, operation: Tensor, magnitude: Tensor) -> Tensor:
        out = torch.zeros_like(images)
        for k in range(3):
            out[k::3, k] = 1  # channel k shows the weight of chain k
        return out

    monkeypatch.setattr(chains, "apply", paint)
    out = chains.mix(torch.zeros(20000, 3, 1, 1), generator()).squeeze()  # (N, 3): m w
    m = out.sum(1)
    assert (m.mean().item(), m.var().item()) == pytest.approx((1 / 2, 1 / 12), abs=0.01)
    w = out / m[:, None]
    assert w.mean(0).tolist() == pytest.approx([1 / 3] * 3, abs=0.01)
    assert w.var(0).tolist() == pytest.approx([1 / 18] * 3, abs=0.005)  # of Dirichlet(1, 1, 1)


def test_nothing_to_do_and_nothing_understood() -> None:
    assert augmentations.augment(torch.rand(0, 3, 24, 24)).shape == (0, 3, 24, 24)
    with pytest.raises(ValueError, match=r"floats of shape \(N, 3, H, W\).*got torch.uint8 \(2, 3, 8, 8\)"):
        augmentations.augment(torch.zeros(2, 3, 8, 8, dtype=torch.uint8))
    with pytest.raises(ValueError, match=r"got torch.float32 \(2, 1, 8, 8\)"):
        augmentations.augment(torch.zeros(2, 1, 8, 8))
