"""Trimming finds the gate that memory deserves, keeps every order by u*, and is done once."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from knob_core import checkpoint, data
from tests.helpers import tiny_family
from train import trim


def made(noise: float, seed: int = 0) -> trim.Streams:
    """A right but noisy eye, and a static branch that is as noisy and half as sure."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, 60)
    z = np.zeros((60, 40, 4))
    z[np.arange(60), :, labels] = 2.0
    z_static, z_dyn = 0.5 * z + noise * rng.normal(size=z.shape), z + noise * rng.normal(size=z.shape)
    return trim.Streams(z_static, z_dyn, 1.0 + 0.3 * rng.normal(size=(60, 40)), labels)


def test_noise_closes_the_gate_and_quiet_opens_it() -> None:
    noisy, quiet = trim.fit(made(2.0), 0.7, 0.4), trim.fit(made(0.1), 0.7, 0.4)
    assert 1 + noisy.offset < 0 < 1 + quiet.offset  # u* is 1 on average
    assert noisy.after < noisy.before


def test_no_other_trim_is_better() -> None:
    streams = made(1.0)
    best = trim.fit(streams, 0.7, 0.4)
    assert best.after == pytest.approx(trim.loss(streams, 0.7, 0.4, best.offset))
    assert best.before == pytest.approx(trim.loss(streams, 0.7, 0.4, 0.0))
    for offset in np.linspace(-5, 5, 21):
        assert best.after <= trim.loss(streams, 0.7, 0.4, offset) + 1e-6


def test_the_loss_by_hand() -> None:
    """Still streams: memory is what is seen, and the gate stands at u* + b."""
    z_static, z_dyn = np.zeros((1, 5, 2)), np.zeros((1, 5, 2))
    z_dyn[..., 0] = 2.0
    streams = trim.Streams(z_static, z_dyn, np.full((1, 5), 1.0), np.array([0]))
    g = 1 / (1 + np.exp(-(1.0 - 3.0)))
    assert trim.loss(streams, 0.7, 0.4, -3.0) == pytest.approx(np.log1p(np.exp(-2 * g)))


def test_the_offset_moves_the_command_and_nothing_else() -> None:
    model = tiny_family.family()["knob-ode"]
    images = torch.rand(5, 3, 32, 32)
    with torch.inference_mode():
        before = model(images)
    trim.apply(model, trim.Trim(-0.6, 0, 0))
    with torch.inference_mode():
        after = model(images)
    assert torch.allclose(after.u_star, before.u_star - 0.6, atol=1e-5)
    assert torch.equal(after.z_dyn, before.z_dyn)


def test_a_checkpoint_is_trimmed_once_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    images, labels, _ = data.load_sample()
    monkeypatch.setattr(data, "load_cifar10", lambda root, split: (images[:40], labels[:40]))
    for name, value in {"FRAMES": 8, "PATHS": 2, "STREAMS": 1}.items():
        monkeypatch.setattr(trim, name, value)
    path = tmp_path / "final.safetensors"
    checkpoint.save(tiny_family.family()["knob-ode"], path, {"seed": 0})
    assert trim.main([str(path)]) == 0
    out = tmp_path / "trimmed.safetensors"
    header = checkpoint.read_header(out)
    assert header["trim"]["after"] <= header["trim"]["before"]
    assert header["seed"] == 0
    first = out.read_bytes()
    assert trim.main([str(path)]) == 0
    assert out.read_bytes() == first
    assert trim.main([str(out)]) == 1
    assert "trimmed already" in capsys.readouterr().err
    checkpoint.save(tiny_family.family()["static"], path, {"seed": 0})
    assert trim.main([str(path)]) == 1
    assert "only knob-ode" in capsys.readouterr().err
