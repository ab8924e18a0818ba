"""What holds for every one of the nineteen: the contract of `corrupt`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from corruption_kinds import CHANCE_FREE
from hypothesis import example, given, settings
from hypothesis import strategies as st
from torch import Tensor

from knob_core.corruptions import NAMES, TEST, TRAINING, corrupt
from knob_core.data import load_sample

# Where the published PSNR does not fall from one severity to the next: not between these
RISES = {
    "elastic_transform": (1, 2, 3, 4),
    "glass_blur": (1, 2, 4),
    "frost": (3, 4),
    "saturate": (2,),
    "motion_blur": (3,),
    "spatter": (3,),
}


def seeded(seed: int) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


@pytest.fixture(scope="module")
def pictures() -> Tensor:
    """24 photographs of the shipped sample, of all classes, (24, 3, 32, 32)."""
    images, labels, _ = load_sample()
    order = np.argsort(labels, kind="stable")[:: len(labels) // 24][:24]
    return torch.from_numpy(images[order]) / 255


def psnr(clean: Tensor, y: Tensor) -> float:
    return -10 * math.log10(max((y - clean).square().mean().item(), 1e-12))


def test_registry() -> None:
    assert (len(NAMES), len(TRAINING), len(TEST)) == (19, 4, 15)
    assert set(TRAINING) == {"speckle_noise", "gaussian_blur", "spatter", "saturate"}
    assert set(NAMES) == set(TRAINING) | set(TEST)


@pytest.mark.parametrize("name", NAMES)
class TestEvery:
    def test_result_is_8_bit_in_range_and_new(self, name: str, pictures: Tensor) -> None:
        before = pictures.clone()
        y = corrupt(pictures, name, torch.linspace(0, 5, len(pictures)), seeded(0))
        assert y.shape == pictures.shape and y.dtype == pictures.dtype
        levels = (y * 255).round()
        assert torch.equal(levels / 255, y) and levels.min() >= 0 and levels.max() <= 255
        assert torch.equal(pictures, before)

    def test_severity_0_is_the_identity(self, name: str, pictures: Tensor) -> None:
        odd = pictures * 0.987  # not in 8 bits: still untouched
        assert torch.equal(corrupt(odd, name, 0.0, seeded(0)), odd)
        some = torch.arange(len(odd)) % 2 * 3.0
        y = corrupt(odd, name, some, seeded(0))
        same = (y == odd).flatten(1).all(1)
        assert same[::2].all() and not same[1::2].any()

    def test_seed_decides(self, name: str, pictures: Tensor) -> None:
        state = torch.random.get_rng_state()
        a, b, c = (corrupt(pictures, name, 3, seeded(seed)) for seed in (7, 7, 8))
        assert torch.equal(a, b)
        assert torch.equal(a, c) == (name in CHANCE_FREE)
        assert torch.equal(torch.random.get_rng_state(), state), "a given generator must be the only source"

    def test_default_generator_is_torchs(self, name: str, pictures: Tensor) -> None:
        torch.manual_seed(5)
        a = corrupt(pictures[:4], name, 2)
        assert torch.equal(a, corrupt(pictures[:4], name, 2, seeded(5)))

    def test_one_severity_per_image_is_the_same_picture(self, name: str, pictures: Tensor) -> None:
        """Draws do not depend on severity, so a ramp's images are those of the constant severities."""
        ramp = torch.tensor([0.5, 1.0, 2.3, 3.0, 3.5, 4.0, 4.9, 5.0])
        x = pictures[: len(ramp)]
        y = corrupt(x, name, ramp, seeded(0))
        for n, s in enumerate(ramp.tolist()):
            # a sum in another order may fall on the other side of a level: one level, in hardly any value
            off = (corrupt(x, name, s, seeded(0))[n] - y[n]).abs()
            assert off.max() <= 1.01 / 255 and (off > 0).float().mean() < 1e-3

    def test_does_not_jump(self, name: str, pictures: Tensor) -> None:
        """A thousandth of the way: nearly the same picture, whether a whole severity lies between or not."""
        for s in (0.0, 0.5, 0.998, 1.5, 1.998, 2.5, 2.998, 3.5, 3.998, 4.5, 4.996):
            here, there = (corrupt(pictures, name, v, seeded(0)) for v in (s, s + 0.004))
            # truncation takes up to a level from a picture that was in whole levels
            assert (there - here).abs().mean() * 255 < 0.8, f"jumps at s = {s}"

    def test_psnr_falls(self, name: str, pictures: Tensor) -> None:
        s = [k / 20 for k in range(101)]
        p = [psnr(pictures, corrupt(pictures, name, v, seeded(3))) for v in s]
        rising = RISES.get(name, ())
        for v, before, after in zip(s, p, p[1:], strict=False):
            if int(v) not in rising:
                assert after <= before, f"PSNR rises from {before:.3f} to {after:.3f} dB after s = {v}"

    def test_runs_on_meta(self, name: str) -> None:
        x = torch.empty(4, 3, 32, 32, device="meta")
        for severity in (2.5, 5, torch.tensor([0.0, 1.0, 2.5, 5.0])):
            y = corrupt(x, name, severity)
            assert y.is_meta and y.shape == x.shape and y.dtype == x.dtype

    @pytest.mark.parametrize("size", [(8, 8), (24, 24), (33, 20), (40, 64)])
    def test_other_sizes(self, name: str, size: tuple[int, int]) -> None:
        x = torch.rand(3, 3, *size, generator=seeded(0), dtype=torch.float64)
        y = corrupt(x, name, [1.5, 3.0, 5.0], seeded(0))
        assert y.shape == x.shape and y.dtype == torch.float64
        assert y.isfinite().all()
        # a drop or an impulse may miss the smallest picture
        assert size == (8, 8) or (y - x).abs().flatten(1).amax(1).min() > 1.01 / 255

    def test_flat_and_empty_pictures(self, name: str) -> None:
        for level in (0.0, 1.0):
            y = corrupt(torch.full((2, 3, 32, 32), level), name, [1.0, 5.0], seeded(0))
            assert y.isfinite().all() and y.min() >= 0 and y.max() <= 1
        assert corrupt(torch.zeros(0, 3, 32, 32), name, 3).shape == (0, 3, 32, 32)

    def test_memory_format_and_autograd_do_not_matter(self, name: str, pictures: Tensor) -> None:
        x = pictures[:4]
        expected = corrupt(x, name, 2.5, seeded(0))
        y = corrupt(x.to(memory_format=torch.channels_last).requires_grad_(), name, 2.5, seeded(0))
        assert torch.equal(y, expected) and not y.requires_grad


@pytest.mark.parametrize("name", CHANCE_FREE)
def test_without_chance_the_batch_does_not_matter(name: str, pictures: Tensor) -> None:
    whole = corrupt(pictures, name, 3.5)
    parts = torch.cat([corrupt(part, name, 3.5) for part in pictures.split(7)])
    off = (whole - parts).abs()
    assert off.max() <= 1.01 / 255 and (off > 0).float().mean() < 1e-3


@settings(max_examples=30, deadline=None)
@given(
    name=st.sampled_from(NAMES),
    severity=st.lists(st.floats(0, 5), min_size=2, max_size=2),
    seed=st.integers(0, 2**32),
    scale=st.floats(0, 1),
)
@example(name="brightness", severity=[0.0, 1.0], seed=0, scale=1e-45)
def test_any_argument_in_range_gives_a_picture(name: str, severity: list[float], seed: int, scale: float) -> None:
    x = torch.rand(2, 3, 32, 32, generator=seeded(seed)) * scale
    y = corrupt(x, name, severity, seeded(seed))
    assert y.isfinite().all() and y.min() >= 0 and y.max() <= 1


class TestBadInput:
    x = torch.full((2, 3, 32, 32), 0.5)

    @pytest.mark.parametrize("name", ["fogg", "", None])
    def test_name(self, name: Any) -> None:
        with pytest.raises(ValueError, match=r"gaussian_noise.*got"):
            corrupt(self.x, name, 1)

    @pytest.mark.parametrize("severity", [-0.01, 5.01, math.nan, math.inf, [1.0, 6.0], [math.nan, 1.0]])
    def test_severity_out_of_range(self, severity: Any) -> None:
        with pytest.raises(ValueError, match=r"severity must lie in \[0, 5\]"):
            corrupt(self.x, "fog", severity)

    @pytest.mark.parametrize("severity", [[1.0], [1.0, 2.0, 3.0], [[1.0, 2.0]], "three", None])
    def test_severity_of_another_shape_or_kind(self, severity: Any) -> None:
        with pytest.raises(ValueError, match="severity must be a number"):
            corrupt(self.x, "fog", severity)

    @pytest.mark.parametrize("value", [-0.01, 1.01, math.nan])
    def test_values(self, value: float) -> None:
        x = self.x.clone()
        x[1, 2, 3, 4] = value
        with pytest.raises(ValueError, match=r"images must lie in \[0, 1\]"):
            corrupt(x, "fog", 1)

    @pytest.mark.parametrize("dtype", [torch.uint8, torch.int64, torch.float16, torch.bool])
    def test_dtype(self, dtype: torch.dtype) -> None:
        with pytest.raises(ValueError, match="float32 or float64"):
            corrupt(torch.zeros(2, 3, 32, 32, dtype=dtype), "fog", 1)

    @pytest.mark.parametrize("shape", [(3, 32, 32), (2, 1, 32, 32), (2, 32, 32, 3), (2, 3, 4, 32)])
    def test_shape(self, shape: tuple[int, ...]) -> None:
        with pytest.raises(ValueError, match=r"\(N, 3, H, W\)"):
            corrupt(torch.zeros(shape), "fog", 1)

    def test_not_a_tensor(self) -> None:
        with pytest.raises(ValueError, match="images must be a tensor"):
            corrupt(self.x.numpy(), "fog", 1)  # type: ignore[arg-type]
