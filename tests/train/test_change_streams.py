"""The command runs models over change streams, and choosing on test material is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from knob_core import branches, checkpoint, corruptions, data
from knob_core.streams import change
from knob_core.streams.change_frames import ChangeFrames
from tests.helpers import tiny_family
from train import change_streams
from train.change_streams import SPLITS

COMMON = ["--streams", "5", "--frames", "12", "--seed", "3", "--kind", "fast", "--device", "cpu"]


@pytest.fixture
def checkpoints(tmp_path: Path) -> dict[str, Path]:
    paths = {}
    for method in ("static", "knob-ode"):
        paths[method] = tmp_path / f"{method}.safetensors"
        checkpoint.save(tiny_family.family()[method], paths[method], {"seed": 0, "recipe": {"validation": 2000}})
    return paths


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> tuple[np.ndarray, np.ndarray]:
    """200 pictures in place of CIFAR-10; the last 60 are held out, the last 80 for the test."""
    images, labels, _ = data.load_sample()
    images, labels = images[:200], labels[:200]
    monkeypatch.setattr(data, "load_cifar10", lambda root, split: (images, labels))
    monkeypatch.setitem(SPLITS, "validation", replace(SPLITS["validation"], first=140, end=200))
    monkeypatch.setitem(SPLITS, "pairs", replace(SPLITS["pairs"], first=140, end=200))
    monkeypatch.setitem(SPLITS, "test", replace(SPLITS["test"], first=120, end=200))
    return images, labels


def no_data(root: str | None, split: str) -> tuple[np.ndarray, np.ndarray]:
    raise AssertionError("refused too late: pictures were read")


def test_the_splits_are_those_of_the_design() -> None:
    validation, test = SPLITS["validation"], SPLITS["test"]
    assert (validation.source, validation.first, validation.end) == ("train", 48_000, 50_000)
    assert (test.source, test.first, test.end) == ("test", 2_000, 10_000)
    assert validation.corruptions == corruptions.TRAINING and test.corruptions == corruptions.TEST
    pairs = SPLITS["pairs"]  # validation pictures under two training corruptions at a time
    assert (pairs.source, pairs.first, pairs.end) == ("train", 48_000, 50_000)
    assert len(pairs.corruptions) == 6
    assert {name for pair in pairs.corruptions for name in pair.split("+")} == set(corruptions.TRAINING)
    assert list(SPLITS) == ["validation", "pairs", "test"]


@pytest.mark.parametrize(("split", "name"), [("validation", "fog"), ("test", "speckle_noise"), ("test", "rain")])
def test_corruptions_of_the_other_split_are_refused(
    split: str, name: str, checkpoints: dict[str, Path], tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.setattr(data, "load_cifar10", no_data)
    out = tmp_path / "s.npz"
    asked = ["--checkpoint", str(checkpoints["static"]), "--split", split, "--out", str(out), *COMMON]
    assert change_streams.main([*asked, "--corruptions", name]) == 1
    assert f"--corruptions has {name}; this split allows" in capsys.readouterr().err
    assert not out.exists()


def test_a_model_that_saw_the_validation_pictures_is_refused(
    checkpoints: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(data, "load_cifar10", no_data)
    path = tmp_path / "all.safetensors"
    odd = [{"recipe": recipe} for recipe in ({"validation": 1000}, {"validation": "9"}, None, "pocket", [1])]
    for recipe in (*odd, {}):
        checkpoint.save(tiny_family.family()["static"], path, {"seed": 0, **recipe})
        asked = ["--checkpoint", str(path), "--split", "validation", "--out", str(tmp_path / "s.npz"), *COMMON]
        assert change_streams.main(asked) == 1
        assert "expected at least 2000" in capsys.readouterr().err


def test_what_is_written(small: tuple[np.ndarray, np.ndarray], checkpoints: dict[str, Path], tmp_path: Path) -> None:
    images, labels = small
    files = [str(path) for path in checkpoints.values()]
    assert change_streams.main(["--checkpoint", *files, "--split", "validation", "--out", str(tmp_path), *COMMON]) == 0
    path = tmp_path / "validation-fast-knob-ode-s0.npz"
    made = branches.load(path)
    assert made.z_static.shape == (5, 12, 10) and made.content is not None
    assert made.content.min() >= 140 and made.content.max() < 200
    np.testing.assert_array_equal(made.labels, labels[made.content])
    with np.load(path, allow_pickle=False) as file:
        assert file["corruption"].tolist() == [*corruptions.TRAINING, corruptions.TRAINING[0]]
        assert json.loads(str(file["about"])) == {
            "split": "validation", "kind": "fast", "seed": 3, "model": "knob-ode-s0",
        }  # fmt: skip
        moving = file["moving"]

    number = 2  # one stream by hand
    plan = change.plan(labels[140:], "fast", 12, 3, number)
    np.testing.assert_array_equal(made.content[number], plan.picture + 140)
    np.testing.assert_allclose(made.severity[number], plan.severity, rtol=1e-6)
    np.testing.assert_array_equal(made.segment[number], plan.segment)  # type: ignore[index]
    assert moving[number] == plan.moving
    frames = ChangeFrames(images[140:], plan, corruptions.TRAINING[number], 3, number).frames()
    with torch.inference_mode():
        out = tiny_family.family()["knob-ode"](frames)
    np.testing.assert_allclose(made.z_dyn[number], out.z_dyn.numpy(), rtol=2e-3, atol=2e-3)
    np.testing.assert_allclose(made.u_star[number], out.u_star.numpy(), rtol=2e-3, atol=2e-3)

    static = branches.load(tmp_path / "validation-fast-static-s0.npz")
    np.testing.assert_array_equal(static.content, made.content)  # row by row the same streams
    assert (static.u_star == 0).all()


def test_splits_share_no_schedule(small: tuple[np.ndarray, np.ndarray]) -> None:
    images, labels = small
    works = [
        change_streams.prepare(images, labels, split, "mixed", 4, 300, 0, split.corruptions)
        for split in SPLITS.values()
    ]
    severities = [plan.severity for work in works for plan in work.plans]
    assert len({severity.tobytes() for severity in severities}) == 12
    assert len({number for work in works for number in work.numbers}) == 12


def test_one_file_or_a_folder(
    small: tuple[np.ndarray, np.ndarray], checkpoints: dict[str, Path], tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    out = tmp_path / "new" / "s.npz"
    files = [str(path) for path in checkpoints.values()]
    assert change_streams.main(["--checkpoint", *files, "--split", "test", "--out", str(out), *COMMON]) == 1
    assert "expected a folder for 2 checkpoints" in capsys.readouterr().err
    assert change_streams.main(["--checkpoint", files[0], "--split", "test", "--out", str(out), *COMMON]) == 0
    assert branches.load(out).labels.shape == (5, 12)
    none = ["--checkpoint", files[0], "--split", "test", "--out", str(out), *COMMON, "--streams", "0"]
    assert change_streams.main(none) == 1
    assert "--streams is 0" in capsys.readouterr().err
