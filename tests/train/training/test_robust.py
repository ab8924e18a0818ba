"""The robust recipe: the same bits after any interruption, averaged weights at the end, old recipes untouched."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import tiny_run
import torch

from knob_core import checkpoint
from train import fit
from train.training import loop, recipes, saved_state
from train.training.batches import Loader, augment_share
from train.training.recipes import PAPER, POCKET, RECIPES, ROBUST, Recipe

ROOT = Path(__file__).resolve().parents[3]
assert ROBUST.warm is not None
TINY = replace(
    ROBUST,
    **tiny_run.SMALL,
    warm=replace(ROBUST.warm, epochs=3, window_epochs=2, lr=0.05, average_epochs=0.8),
)
State = dict[str, torch.Tensor]


def warm(folder: Path, recipe: Recipe = TINY) -> State:
    torch.set_num_threads(1)
    return {name: value.clone() for name, value in fit.warm_encoder(recipe, 0, tiny_run.place(folder)).items()}


def equal(a: State, b: State) -> bool:
    return a.keys() == b.keys() and all(torch.equal(a[name], b[name]) for name in a)


@pytest.fixture(scope="module")
def uncut(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, State]:
    folder = tmp_path_factory.mktemp("uncut")
    return folder, warm(folder)


def saved(folder: Path) -> tuple[State, dict]:
    return saved_state.read(folder / "robust" / "warm-s0" / "state.safetensors")


@pytest.mark.slow
def test_interruptions_anywhere_change_no_bit(
    tmp_path: Path, uncut: tuple[Path, State], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut in the first step, within epochs, and in the first step of the last epoch; five steps an epoch."""
    real, made = loop._one_step, 0

    def cut(*arguments: object) -> torch.Tensor:
        nonlocal made
        made += 1
        if made in (1, 4, 9, 14):
            raise InterruptedError
        return real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(loop, "SAVE_SECONDS", 0.0)  # a state after every step
    monkeypatch.setattr(loop, "_one_step", cut)
    for _ in range(4):
        with pytest.raises(InterruptedError):
            warm(tmp_path)
    assert equal(warm(tmp_path), uncut[1])
    assert made == 4 + 15  # no step was made twice
    ours, theirs = saved(tmp_path), saved(uncut[0])
    assert equal(ours[0], theirs[0])  # the mean, the last step's weights and the optimiser
    assert ours[1]["history"] == theirs[1]["history"]


def test_the_encoder_is_the_mean_and_training_goes_on_from_the_last_step(uncut: tuple[Path, State]) -> None:
    folder, encoder = uncut
    tensors, _ = saved(folder)
    for name, value in encoder.items():
        if value.is_floating_point():
            assert torch.equal(value, tensors[f"average.encoder.{name}"]), name
    assert not torch.equal(encoder["conv1.weight"], tensors["model.encoder.conv1.weight"])
    assert equal(warm(folder), encoder)  # a finished run, asked again


@pytest.mark.slow
def test_averaging_changes_what_is_kept_and_not_the_course(tmp_path: Path, uncut: tuple[Path, State]) -> None:
    assert TINY.warm is not None
    warm(tmp_path, replace(TINY, warm=replace(TINY.warm, average_epochs=0.0)))
    plain, averaged = saved(tmp_path)[0], saved(uncut[0])[0]
    assert not any(name.startswith("average.") for name in plain)
    assert all(torch.equal(value, averaged[name]) for name, value in plain.items())


@pytest.mark.parametrize("entry", [{"augmented_share": 0.0}, {"precision": "float32"}, {"average_epochs": 1.0}])
def test_each_entry_belongs_to_the_identity_of_a_run(uncut: tuple[Path, State], entry: dict) -> None:
    assert TINY.warm is not None
    with pytest.raises(ValueError, match=rf"recipe\.warm\.{next(iter(entry))}: "):
        warm(uncut[0], replace(TINY, warm=replace(TINY.warm, **entry)))


def test_an_unknown_precision_is_refused() -> None:
    with pytest.raises(ValueError, match="float32 or bfloat16, got 'int8'"):
        loop.autocast(replace(POCKET.method, precision="int8"), torch.device("cpu"))


def test_products_are_in_the_asked_precision_and_weights_are_not(uncut: tuple[Path, State]) -> None:
    image, weight = torch.rand(1, 3, 8, 8), torch.rand(4, 3, 3, 3)
    for stage, dtype in ((ROBUST.warm, torch.bfloat16), (ROBUST.method, torch.float32)):
        assert stage is not None
        with loop.autocast(stage, torch.device("cpu")):
            assert torch.nn.functional.conv2d(image, weight).dtype == dtype
    assert all(value.dtype == torch.float32 for value in uncut[1].values() if value.is_floating_point())


# --- batches -----------------------------------------------------------------------------------------------------


def loader(recipe: Recipe, rank: int = 0, world: int = 1) -> Loader:
    place = tiny_run.place(Path())
    return Loader(place.images, place.labels, recipe, 3, rank, world)


def test_two_processes_deal_what_one_deals() -> None:
    whole = list(loader(TINY).epoch(0, 1, 24, 5.0))
    halves = [list(loader(TINY, rank, 2).epoch(0, 1, 24, 5.0)) for rank in range(2)]
    assert len(whole) == 6
    for batch, *parts in zip(whole, *halves, strict=True):
        assert torch.equal(batch.images, torch.cat([part.images for part in parts]))


def test_the_batches_of_the_published_recipe_stay() -> None:
    """Encoders were trained on these: a change of the order of draws would make another recipe under the same name."""
    place = tiny_run.place(Path())
    images = next(Loader(place.images, place.labels, ROBUST, 0).epoch(0, 0, 24, 5.0)).images
    assert images[3, :, 5, 7].tolist() == pytest.approx([0.331734, 0.352215, 0.278312], abs=2e-3)  # augmented
    assert images[100, :, 5, 7].tolist() == pytest.approx([0.545098, 0.560784, 0.486275], abs=5e-3)  # corrupted


def test_only_the_warm_stage_is_augmented() -> None:
    assert TINY.warm is not None
    plain = replace(TINY, warm=replace(TINY.warm, augmented_share=0.0))
    for stage, same in ((0, False), (1, True)):
        ours, theirs = (next(loader(recipe).epoch(stage, 0, 32, 5.0)) for recipe in (TINY, plain))
        assert torch.equal(ours.images, theirs.images) is same
        assert torch.equal(ours.clean, theirs.clean)


@pytest.mark.parametrize(("share", "rows"), [(0.0, []), (0.25, [3, 7]), (0.5, [1, 3, 5, 7]), (1.0, list(range(8)))])
def test_a_share_is_spread_evenly(share: float, rows: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knob_core.augmentations.augment", lambda images, generator: images + 1)
    images = torch.rand(8, 3, 4, 4)
    out = augment_share(images, share, torch.Generator())
    assert (out - images).round().mean((1, 2, 3)).nonzero().squeeze(1).tolist() == rows


def test_no_share_draws_nothing() -> None:
    generator = torch.Generator().manual_seed(0)
    before = generator.get_state()
    augment_share(torch.rand(8, 3, 8, 8), 0.0, generator)
    assert torch.equal(generator.get_state(), before)


# --- recipes -----------------------------------------------------------------------------------------------------


def test_the_header_of_every_shipped_model_still_agrees_with_its_recipe() -> None:
    folder = ROOT / "assets" / "checkpoints"
    shipped = [checkpoint.read_header(path)["recipe"] for path in folder.glob("*.safetensors")]
    assert shipped
    assert all(recipes.differences(recipe, recipes.as_dict(RECIPES[recipe["name"]])) == [] for recipe in shipped)


def test_later_entries_are_written_only_where_they_are_used() -> None:
    later = {"augmented_share", "average_epochs", "precision"}
    for recipe in (POCKET, PAPER):
        assert not later & recipes.as_dict(recipe)["method"].keys()
    written = recipes.as_dict(ROBUST)
    assert later <= written["warm"].keys()
    assert not later & written["method"].keys()


def test_robust_differs_from_pocket_in_the_warm_stage_the_curriculum_and_how_branches_and_gate_are_taught() -> None:
    lines = recipes.differences(recipes.as_dict(POCKET), recipes.as_dict(ROBUST))
    assert {line.split(":")[0].split(".")[0] for line in lines} == {
        *("name", "warm", "curriculum"),
        *("static_reads", "fused_teaches"),  # branches that differ
        *("streams_teach", "reset_form"),  # each method through its own gate
    }
    tops = [loop.top_severity(ROBUST, 0, epoch) for epoch in (0, 3, 4, 39)]
    assert tops == [3, 3, 5, 5]


def test_a_recipe_knows_its_stages() -> None:
    assert POCKET.stage(0) is POCKET.warm and POCKET.stage(1) is POCKET.method
    assert PAPER.stage(0) is PAPER.method
