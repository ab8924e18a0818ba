"""Our pixels against the official CIFAR-10-C, and our chance against the published recipe's statistics."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
import pytest
import torch
from corruption_kinds import CHANCE_FREE
from PIL import Image
from torch import Tensor

from knob_core.corruptions import NAMES, corrupt


def read_grid(path: Path, rows: int) -> Tensor:
    """A picture of `rows` x 100 images as (rows * 100, 3, 32, 32) levels."""
    a = np.asarray(Image.open(path).convert("RGB")).reshape(rows, 32, 100, 32, 3)
    return torch.from_numpy(a.transpose(0, 2, 4, 1, 3).reshape(-1, 3, 32, 32).astype(np.float32))


@pytest.fixture(scope="module")
def clean(shared: Path) -> Tensor:
    """The first 1,000 test images in [0, 1]."""
    return read_grid(shared / "data" / "cifar10" / "test_00.webp", 50)[:1000] / 255


@pytest.fixture(scope="module")
def published(shared: Path) -> dict[tuple[str, int], dict[str, float]]:
    """PSNR of the mean squared error in dB and standard deviation of the residual in levels."""
    with (shared / "reference" / "corruption_stats.csv").open() as file:
        return {
            (row["corruption"], int(row["severity"])): {
                "psnr": float(row["psnr_of_mean_mse_db"]),
                "std": float(row["resid_std"]),
            }
            for row in csv.DictReader(file)
        }


@pytest.mark.parametrize("severity", range(1, 6))
@pytest.mark.parametrize("name", CHANCE_FREE)
def test_official_pixels(name: str, severity: int, clean: Tensor, shared: Path) -> None:
    official = read_grid(shared / "data" / "cifar10c_sample" / f"{name}.webp", 5)[100 * (severity - 1) :][:100]
    off = (corrupt(clean[:100], name, severity) * 255 - official).abs()
    if name == "jpeg_compression":  # a rounding in the codec moves a whole cosine
        assert off.mean() < 0.5
    else:
        assert off.mean() < 0.1
        assert (off < 1.5).float().mean() > 0.999


@pytest.mark.parametrize("severity", range(1, 6))
@pytest.mark.parametrize("name", NAMES)
def test_published_statistics(
    name: str, severity: int, clean: Tensor, published: dict[tuple[str, int], dict[str, float]]
) -> None:
    y = corrupt(clean, name, severity, torch.Generator().manual_seed(severity))
    residual = (y - clean) * 255
    psnr = 10 * math.log10(255**2 / residual.square().mean().item())
    expected = published[name, severity]
    assert psnr == pytest.approx(expected["psnr"], abs=0.3)
    assert residual.std().item() == pytest.approx(expected["std"], rel=0.04)
