"""A recipe that continues another one's encoder: where it begins, what it draws, and what it refuses."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import tiny_run
import torch

from knob_core import checkpoint
from train import fit
from train.training import saved_state
from train.training.batches import Loader
from train.training.recipes import RECIPES, ROBUST, ROBUST_80, Recipe, as_dict, differences

assert ROBUST.warm is not None
STAGE = replace(ROBUST.warm, epochs=1, window_epochs=1, lr=0.0, average_epochs=0.0)  # learns nothing: weights stay
FIRST = replace(ROBUST, **tiny_run.SMALL, warm=STAGE, method=replace(ROBUST.method, epochs=1))
CONTINUED = replace(FIRST, name="robust-80", continues="robust")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    tiny_run.run(folder, "static", FIRST)
    return folder


def warm(recipe: Recipe, folder: Path) -> dict[str, torch.Tensor]:
    torch.set_num_threads(1)
    return fit.warm_encoder(recipe, 0, tiny_run.place(folder))


def test_it_begins_with_the_finished_encoder_of_the_other_recipe(runs: Path) -> None:
    before = checkpoint.load(runs / "robust" / "static-s0" / "final.safetensors").encoder
    after = warm(CONTINUED, runs)
    assert all(torch.equal(after[name], value) for name, value in before.named_parameters())


def test_another_beginning_is_another_run(runs: Path) -> None:
    warm(CONTINUED, runs)
    path = runs / "robust" / "static-s0" / "final.safetensors"
    whole, header = checkpoint.load(path), checkpoint.read_header(path)
    kept = path.read_bytes()
    try:
        with torch.no_grad():
            whole.encoder.conv1.weight.add_(0.1)
        checkpoint.save(whole, path, header)
        with pytest.raises(ValueError, match="begins with: "):
            warm(CONTINUED, runs)
    finally:
        path.write_bytes(kept)


def test_a_missing_beginning_is_named_with_the_command_that_makes_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"static-s0.*--method static --recipe robust --seed 0"):
        warm(CONTINUED, tmp_path)


def test_it_meets_batches_of_its_own(runs: Path) -> None:
    place = tiny_run.place(runs)
    first, later = (Loader(place.images, place.labels, FIRST, 0, epochs_before=before) for before in (0, 40))
    assert not torch.equal(next(first.epoch(0, 0, 24, 5.0)).images, next(later.epoch(0, 0, 24, 5.0)).images)
    assert torch.equal(next(first.epoch(0, 40, 24, 5.0)).images, next(later.epoch(0, 0, 24, 5.0)).images)
    warm(CONTINUED, runs)
    identity = saved_state.read(runs / "robust-80" / "warm-s0" / "state.safetensors")[1]["identity"]
    assert identity["recipe"]["continues"] == "robust"


def test_the_published_one_differs_from_robust_in_its_beginning_alone() -> None:
    lines = differences(as_dict(ROBUST), as_dict(ROBUST_80))
    assert {line.split(":")[0] for line in lines} == {"name", "continues"}
    assert all(recipe.continues in ("", *RECIPES) for recipe in RECIPES.values())
