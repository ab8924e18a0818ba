"""Streams on demand: what is computed equals the model's own words; progress moves, cancel stops, faults are named."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from jobs import finished

from app.console import compute_stream, shipped_models
from app.console.stream_choice import StreamChoice
from app.server import background_jobs
from app.server.background_jobs import Job, Jobs
from knob_core import checkpoint, models
from knob_core.data import CLASSES, load_sample
from knob_core.schedules import SCHEDULES
from knob_core.streams import ControlledStream, SceneStream, scenes

CHOICE = StreamChoice(image=7, corruption="fog", schedule="ramp", frames=40, realisations=2, seed=3)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkpoint with random weights."""
    monkeypatch.setattr(shipped_models, "FOLDER", tmp_path)
    torch.manual_seed(0)
    checkpoint.save(models.build("knob-ode", width=4).eval(), tmp_path / "knob-ode-s0.safetensors")
    return tmp_path


def test_it_is_what_the_model_says(folder: Path) -> None:
    job = Job(CHOICE)
    result = compute_stream.compute(job)
    assert job.progress == 1.0
    images, labels, _ = load_sample()
    severity = SCHEDULES["ramp"](40)
    stream = ControlledStream(images[[7]], severity, "fog", 2, 3)
    model = checkpoint.load(folder / "knob-ode-s0.safetensors").eval()
    with torch.inference_mode():
        outputs = model(stream.frames(10, 14, realisation=1))
    np.testing.assert_allclose(result.branches.z_dyn[1, 10:14], outputs.z_dyn.numpy(), atol=1e-5)
    np.testing.assert_allclose(result.branches.u_star[1, 10:14], outputs.u_star.numpy(), atol=1e-5)
    assert (result.branches.labels == labels[7]).all()
    np.testing.assert_allclose(result.branches.severity, severity, atol=1e-6)
    assert result.pixels.shape == (24, 32, 32, 3) and result.pixels.dtype == np.uint8


def test_scenes_are_what_the_model_says(folder: Path) -> None:
    choice = replace(CHOICE, image=0, frames=60).with_content("listed", "cat 20, 17 25, ship")
    result = compute_stream.compute(Job(choice))
    images, labels, _ = load_sample()
    plan = scenes.plan("listed", labels, SCHEDULES["ramp"](60), 3, choice.listed(), CLASSES)
    model = checkpoint.load(folder / "knob-ode-s0.safetensors").eval()
    with torch.inference_mode():
        outputs = model(SceneStream(images, plan, "fog", 2, 3).frames(18, 48, 0, 1))
    np.testing.assert_allclose(result.branches.z_dyn[1, 18:48], outputs.z_dyn.numpy(), atol=1e-5)
    assert result.branches.content is not None and (result.branches.content == plan.picture).all()
    assert (result.branches.labels == labels[plan.picture]).all() and plan.cuts.tolist() == [20, 45]


def test_every_checkpoint_is_found_by_its_name(folder: Path) -> None:
    for name in ("static-s2", "knob-ia-s0", "other-s0", "static-sx", "static"):
        (folder / f"{name}.safetensors").touch()
    assert shipped_models.at_hand() == [("knob-ode", 0), ("knob-ia", 0), ("static", 2)]


def test_the_same_choice_is_computed_once(folder: Path) -> None:
    jobs = Jobs(compute_stream.compute)
    first = jobs.of(CHOICE)
    assert jobs.of(replace(CHOICE)) is first is jobs.known(CHOICE)
    assert finished(first).result is not None
    assert jobs.of(CHOICE) is first
    for seed in range(background_jobs.KEPT + 3):
        finished(jobs.of(replace(CHOICE, realisations=1, seed=100 + seed)))
    assert jobs.known(CHOICE) is None  # the oldest are forgotten


def test_cancel_stops_it(folder: Path) -> None:
    job = Job(replace(CHOICE, frames=1000, realisations=10))
    job.stop.set()
    background_jobs.work(job, compute_stream.compute)
    assert job.over and job.result is None and not job.error and job.progress < 1


@pytest.mark.parametrize(
    ("choice", "says"),
    [
        (replace(CHOICE, method="static"), "no checkpoint static-s0.safetensors"),
        (replace(CHOICE, frames=1000, realisations=32), "frames x realisations is 32000, expected at most 12000"),
    ],
)
def test_what_cannot_be_had_is_named(folder: Path, choice: StreamChoice, says: str) -> None:
    job = Job(choice)
    background_jobs.work(job, compute_stream.compute)
    assert job.over and says in job.error


def test_a_damaged_checkpoint_is_named(folder: Path) -> None:
    (folder / "knob-ode-s0.safetensors").write_bytes(b"\x08\0\0\0\0\0\0\0nonsense")
    job = Job(CHOICE)
    background_jobs.work(job, compute_stream.compute)
    assert "knob-ode-s0.safetensors" in job.error
    assert shipped_models.trained_knobs("knob-ode", 0) is None


def test_trained_knobs_are_read_without_torch(folder: Path) -> None:
    model = models.build("knob-ode", width=4)
    model.knobs.zeta, model.knobs.omega_n = 0.83, 0.271
    checkpoint.save(model, folder / "knob-ode-s1.safetensors", half=True)
    assert shipped_models.trained_knobs("knob-ode", 1) == (0.83, 0.271)
    assert shipped_models.trained_knobs("knob-ode", 9) is None
