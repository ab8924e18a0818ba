"""The steps inside the corruptions, each against an independent way to the same numbers."""

from __future__ import annotations

import colorsys
import io
import math

import numpy as np
import pytest
import scipy.ndimage
import scipy.stats
import torch
from PIL import Image
from torch import Tensor

from knob_core.corruptions import _edges, _jpeg, _kernels, _matrices, _textures, _warp, corrupt
from knob_core.corruptions._poisson import poisson_quantile
from knob_core.corruptions._severity import blend, constants
from knob_core.data import load_sample


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def picture(*shape: int) -> Tensor:
    return torch.rand(*shape, generator=seeded(0), dtype=torch.float64)


def test_constants_are_linear_between_rows() -> None:
    table = [[1.0, 0.0], [0.3, 0.0], [0.1, 0.0], [1.5, 0.0], [2.0, 0.1], [2.5, 0.2]]
    a, b = constants(table, torch.tensor([0.0, 0.5, 3.0, 4.25, 5.0], dtype=torch.float64), picture(1))
    assert a.flatten().tolist() == pytest.approx([1, 0.65, 1.5, 2.125, 2.5], abs=1e-15)
    assert b.flatten().tolist() == pytest.approx([0, 0, 0, 0.125, 0.2], abs=1e-15)


def test_blend_keeps_the_strength_of_the_error() -> None:
    """Errors 3 and 4 at right angles: their mean is 2.5 long, but half-way the error shall be 3.5 long."""
    x = torch.zeros(1, 1, 1, 2, dtype=torch.float64)

    def render(s: Tensor) -> Tensor:
        return torch.tensor([3.0, 0.0] if s.item() == 1 else [0.0, 4.0], dtype=torch.float64).view(1, 1, 1, 2)

    half = blend(x, render, torch.tensor([1.5], dtype=torch.float64)).flatten()
    assert half.norm() == pytest.approx(3.5)
    assert half[1] / half[0] == pytest.approx(4 / 3)


@pytest.mark.parametrize("mode", ["nearest", "mirror", "reflect"])
@pytest.mark.parametrize("sigma", [0.05, 0.25, 0.4, 1.0, 2.0])
def test_gaussian_blur(mode: str, sigma: float) -> None:
    x = picture(2, 3, 16, 20)
    y = _matrices.gaussian_blur(x, torch.full((2, 1, 1, 1), sigma, dtype=x.dtype), radius=8, mode=mode)
    expected = scipy.ndimage.gaussian_filter(x.numpy(), (0, 0, sigma, sigma), mode=mode, truncate=4)
    np.testing.assert_allclose(y.numpy(), expected, atol=1e-12)


@pytest.mark.parametrize("factor", [1.0, 1.01, 1.13, 1.25, 1.75, 2.25])
def test_zoom(factor: float) -> None:
    x = picture(32, 32)
    crop = math.ceil(32 / factor)
    top = (32 - crop) // 2
    big = scipy.ndimage.zoom(x.numpy()[top : top + crop, top : top + crop], factor, order=1)
    trim = (len(big) - 32) // 2
    a = _matrices.zoom(32, *_matrices.zoom_sizes(32, factor), x.dtype, x.device)
    np.testing.assert_allclose((a @ x @ a.T).numpy(), big[trim : trim + 32, trim : trim + 32], atol=1e-12)


@pytest.mark.parametrize("severity", range(1, 6))
def test_pixelate_is_pillows(severity: int) -> None:
    x = (picture(1, 3, 32, 32) * 255).floor()
    image = Image.fromarray(x[0].permute(1, 2, 0).byte().numpy())
    side = (30, 28, 27, 24, 20)[severity - 1]
    expected = np.asarray(image.resize((side, side), Image.Resampling.BOX).resize((32, 32), Image.Resampling.BOX))
    y = corrupt(x.float() / 255, "pixelate", severity)[0].permute(1, 2, 0) * 255
    np.testing.assert_array_equal(y.round().numpy(), expected)


@pytest.mark.parametrize("radius, alias, weights", [(0.3, 0.0, 1), (1.0, 0.0, 5), (1.5, 0.0, 9)])
def test_disk_of_whole_pixels(radius: float, alias: float, weights: int) -> None:
    kernel = np.array(_kernels.disk(radius, alias))
    assert (kernel > 0).sum() == weights and kernel.sum() == pytest.approx(1)
    assert kernel[12] == pytest.approx(1 / weights)


def test_correlate_gives_each_image_its_own_kernel() -> None:
    x, kernel = picture(3, 2, 9, 11), picture(3, 5, 4)
    y = _kernels.correlate(x, kernel, top=1, left=2, mode="reflect")
    for n in range(3):
        for c in range(2):
            # scipy puts the kernel's origin at half its size
            expected = scipy.ndimage.correlate(x[n, c].numpy(), kernel[n].numpy(), mode="mirror", origin=(-1, 0))
            np.testing.assert_allclose(y[n, c].numpy(), expected, atol=1e-12)


def test_streak_is_half_a_gaussian_along_the_angle() -> None:
    radius, sigma = torch.full((3, 1), 2.0), torch.full((3, 1), 1.5)
    angle = torch.deg2rad(torch.tensor([0.0, 45.0, -30.0]))
    kernel = _kernels.streak(radius, sigma, angle, taps=6, top=4, bottom=4, left=0, right=5)
    weight = np.exp(-0.5 * (np.arange(5) / 1.5) ** 2)
    weight /= weight.sum()
    np.testing.assert_allclose(kernel[0, 4, :5].numpy(), weight, rtol=1e-6)
    for i in range(5):  # 45 degrees: steps of 0.7 fall on pixels 0, 1, 1, 2, 3
        k = (0, 1, 1, 2, 3)[i]
        assert kernel[1, 4 + k, k] >= weight[i] - 1e-6
    assert kernel[2, :4].sum() > 0.5 and kernel[2, 5:].sum() == 0
    np.testing.assert_allclose(kernel.sum((1, 2)).numpy(), 1, rtol=1e-6)


@pytest.mark.parametrize("name, change", [("brightness", (0, 0, 0.15)), ("saturate", (1.5, 0.0, 0))])
def test_hsv_without_the_hue(name: str, change: tuple[float, float, float]) -> None:
    x = (picture(1, 3, 32, 32) * 255).floor() / 255
    x[..., 0, :8] = 0.0
    x[..., 1, :8] = 0.4
    y = corrupt(x, name, 3)[0]
    for i in range(32):
        for j in range(32):
            h, s, v = colorsys.rgb_to_hsv(*x[0, :, i, j].tolist())
            if name == "saturate":
                s = min(s * change[0] + change[1], 1)
            else:
                v = min(v + change[2], 1)
            for value, level in zip(colorsys.hsv_to_rgb(h, s, v), (y[:, i, j] * 255).tolist(), strict=True):
                assert -1e-2 < value * 255 - level < 1 + 1e-2  # truncated


@pytest.mark.parametrize("lam", [0.0, 0.1, 1.0, 3.9, 4.1, 12.0, 60.0, 500.0])
def test_poisson_counts(lam: float) -> None:
    z = torch.randn(20000, generator=seeded(0))
    k = poisson_quantile(z, torch.full_like(z, lam)).numpy()
    u = scipy.stats.norm.cdf(z.double().numpy())
    exact = scipy.stats.poisson.ppf(u, lam) if lam else np.zeros_like(u)
    assert np.abs(k - exact).max() <= 1 and (k != exact).mean() < 3e-3


def test_distance() -> None:
    mask = torch.rand(4, 20, 24, generator=seeded(1)) < 0.02
    for most in (6, 100):
        d = _edges.distance(mask, torch.float64, most)
        for n in range(4):
            expected = scipy.ndimage.distance_transform_edt(~mask[n].numpy()).clip(max=most)
            np.testing.assert_allclose(d[n].numpy(), expected, atol=1e-12)
    assert (_edges.distance(mask[:1] & False, torch.float64, most=20) == 20).all()


def test_canny_finds_a_square() -> None:
    layer = torch.zeros(1, 16, 16)
    layer[:, 4:12, 4:12] = 200
    edge = _edges.canny(layer, 50, 150)[0]
    assert edge[6:10, 3:5].any(1).all() and edge[3:5, 6:10].any(0).all()
    assert not edge[6:10, 6:10].any() and not edge[:2].any()
    assert edge[6:10].sum(1).max() == 2, "one pixel wide on either side"


def test_canny_joins_weak_edges_to_strong_ones_only() -> None:
    layer = torch.zeros(2, 16, 16)
    layer[:, :, 8:] = 20  # gradient 80: weak
    assert not _edges.canny(layer, 50, 150).any()
    layer[1, 6:10, 8:] = 60  # gradient 240: strong, in the middle of the same line
    found = _edges.canny(layer, 50, 150)
    assert not found[0].any() and found[1, 2:14, 6:10].any(1).all()


def test_equalise_by_hand() -> None:
    """Four levels of four pixels each: 0, 1/3, 2/3 and all of 255; an even picture stays."""
    x = torch.tensor([3.0, 5.0, 9.0, 20.0]).repeat(4).view(1, 4, 4)
    assert _edges.equalise(x, 20)[0, 0].tolist() == [0, 85, 170, 255]
    assert (_edges.equalise(torch.full((1, 4, 4), 7.0), 20) == 7).all()


def test_affine() -> None:
    """The inverse map agrees with the three corners, and sampling with SciPy."""
    x, shifts = picture(1, 1, 32, 32), torch.tensor([[[2.0, -1.0], [0.5, 1.5], [-1.0, 2.5]]], dtype=torch.float64)
    corners = np.array([[26, 26], [26, 6], [6, 6]], dtype=float)  # (x, y)
    there = np.c_[corners, np.ones(3)]
    m = np.linalg.solve(there, corners + shifts[0].numpy()).T  # (2, 3): forward map of (x, y, 1)
    inverse = np.linalg.inv(m[:, :2])
    swap = inverse[::-1, ::-1]  # rows and columns in place of x and y
    offset = (-inverse @ m[:, 2])[::-1]
    expected = scipy.ndimage.affine_transform(x[0, 0].numpy(), swap, offset, order=1, mode="mirror")
    np.testing.assert_allclose(_warp.affine(x, shifts)[0, 0].numpy(), expected, atol=1e-9)


def test_displace() -> None:
    x, d = picture(1, 1, 16, 20), 6 * picture(1, 2, 16, 20) - 3
    i, j = np.mgrid[:16, :20]
    where = [i + d[0, 1].numpy(), j + d[0, 0].numpy()]
    expected = scipy.ndimage.map_coordinates(x[0, 0].numpy(), where, order=1, mode="reflect")
    np.testing.assert_allclose(_warp.displace(x, d)[0, 0].numpy(), expected, atol=1e-9)


def test_plasma_point_by_point() -> None:
    side, decay = 8, 2.5
    wave = 2 * picture(1, side, side) - 1
    h = np.zeros((side, side))
    step, wibble = side, 100.0
    while step >= 2:
        half = step // 2
        for phase in ((half, half), (0, half), (half, 0)):
            for i in range(phase[0], side, step):
                for j in range(phase[1], side, step):
                    if phase == (half, half):
                        near = [(i - half, j - half), (i - half, j + half), (i + half, j - half), (i + half, j + half)]
                    else:
                        near = [(i - half, j), (i + half, j), (i, j - half), (i, j + half)]
                    mean = sum(h[a % side, b % side] for a, b in near) / 4
                    h[i, j] = mean + wibble**2 * wave[0, i, j]
        step, wibble = half, wibble / decay
    h = (h - h.min()) / (h.max() - h.min())
    y = _textures.plasma(wave, torch.full((1, 1, 1, 1), decay, dtype=wave.dtype))
    np.testing.assert_allclose(y[0].numpy(), h, atol=1e-12)


def test_frost_from_any_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: object) -> None:
    monkeypatch.chdir(str(tmp_path))
    _textures._ice.cache_clear()
    u = torch.rand(3, 50, generator=seeded(0))
    ice = _textures.frost(u, 32, 32)
    assert ice.shape == (50, 3, 32, 32) and 0.3 < ice.mean() < 0.8 and ice.std() > 0.05
    corner = _textures.frost(torch.full((3, 1), 1 - 1e-6), 32, 32)  # the last texture's last piece
    assert corner.isfinite().all()


def test_jpeg_steps_by_hand() -> None:
    assert _jpeg.steps(_jpeg.LUMA, 50) == list(_jpeg.LUMA)
    assert _jpeg.steps(_jpeg.LUMA, 80)[:4] == [6, 4, 4, 6]
    assert set(_jpeg.steps(_jpeg.CHROMA, 100)) == {1}


@pytest.mark.parametrize("severity, quality", [(1, 80), (2, 65), (3, 58), (4, 50), (5, 40)])
def test_jpeg_is_near_pillows(severity: int, quality: int) -> None:
    """Codecs differ in how they halve the colours and where they round."""
    x = torch.from_numpy(load_sample()[0][::60]) / 255
    y = corrupt(x, "jpeg_compression", severity)
    off = []
    for n in range(len(x)):
        file = io.BytesIO()
        Image.fromarray((x[n] * 255).round().byte().permute(1, 2, 0).numpy()).save(file, "JPEG", quality=quality)
        off.append(np.abs(np.asarray(Image.open(file), dtype=float) - y[n].permute(1, 2, 0).numpy() * 255).mean())
    assert np.mean(off) < 3


def test_impulses_go_all_the_way_half_and_half() -> None:
    x = torch.full((64, 3, 32, 32), 128 / 255)
    y = corrupt(x, "impulse_noise", 5, seeded(0))
    dead, hot = (y == 0).float().mean().item(), (y == 1).float().mean().item()
    assert dead == pytest.approx(0.035, rel=0.03) and hot == pytest.approx(0.035, rel=0.03)
    assert ((y == 0) | (y == 1) | (y == x)).all()


def test_glass_moves_only_to_the_lower_right() -> None:
    x = torch.zeros(1, 3, 32, 32)
    x[..., 10, 10] = 1
    y = corrupt(x.expand(200, -1, -1, -1), "glass_blur", 1, seeded(0)).amax((0, 1))
    assert y[10:12, 10:12].sum() == 4 and y.sum() == 4
    edge = torch.zeros(1, 3, 32, 32)
    edge[..., :2, :2] = 1
    assert torch.equal(corrupt(edge, "glass_blur", 1, seeded(0))[..., :2, :], edge[..., :2, :])


def test_spatter_is_water_then_mud() -> None:
    grey = torch.full((64, 3, 32, 32), 0.5)
    water, mud = (corrupt(grey, "spatter", s, seeded(0)) for s in (3, 5))
    assert water.min() >= 127 / 255 and (water[:, 2] >= water[:, 0]).all()
    assert mud.max() <= 0.5 and mud[:, 0].min() == pytest.approx(63 / 255)
