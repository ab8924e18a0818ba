"""Recipes: the paper's protocol to the letter, and overrides that name what is wrong."""

from __future__ import annotations

import json
import re
from dataclasses import fields

import pytest

from train import fit
from train.training import recipes


def test_the_paper_recipe_is_the_papers_protocol() -> None:
    paper = recipes.PAPER
    stage = paper.method
    assert (stage.optimizer, stage.lr, stage.weight_decay, stage.schedule) == ("adamw", 3e-4, 1e-4, "cosine")
    assert (stage.epochs, paper.batch, paper.width, paper.warm) == (100, 128, 64, None)
    assert [(part * stage.epochs, top) for part, top in paper.curriculum] == [(30, 2), (60, 3), (100, 5)]
    assert (paper.padding, paper.severities, paper.loss, stage.decay) == ("zeros", "whole", "fused", "all")
    assert (paper.reset_form, paper.static_reads, paper.static_sees) == ("literal", "features", "all")


def test_the_scaled_paper_recipe_differs_in_size_alone() -> None:
    lines = recipes.differences(recipes.as_dict(recipes.PAPER), recipes.as_dict(recipes.PAPER_POCKET))
    assert {line.split(":")[0] for line in lines} == {"name", "width", "method.epochs", "method.precision"}


@pytest.mark.parametrize("recipe", recipes.RECIPES.values(), ids=recipes.RECIPES.keys())
def test_a_recipe_read_back_from_json_has_no_differences(recipe: recipes.Recipe) -> None:
    written = json.loads(json.dumps(recipes.as_dict(recipe)))
    assert recipes.differences(written, recipes.as_dict(recipe)) == []


def test_overrides_reach_into_stages() -> None:
    changed = recipes.override(recipes.POCKET, ["method.epochs=2", "batch=32", "warm.lr=0.5"])
    assert (changed.method.epochs, changed.batch, changed.warm and changed.warm.lr) == (2, 32, 0.5)
    lines = recipes.differences(recipes.as_dict(recipes.POCKET), recipes.as_dict(changed))
    assert "batch: 128 in the checkpoint, 32 now" in lines and len(lines) == 3


@pytest.mark.parametrize(
    ("recipe", "assignment", "cause"),
    [
        (recipes.POCKET, "epochs", "wants name=value"),
        (recipes.POCKET, "depth=1", "no such entry"),
        (recipes.POCKET, "batch=many", "wants int, got 'many'"),
        (recipes.POCKET, "warm=1", "only numbers and words"),
        (recipes.PAPER, "warm.lr=1", "no warm stage"),
        (recipes.POCKET, "method.lr.x=1", "--set method.lr.x: lr has no entries of its own"),
        (recipes.POCKET, "streams_teach=all", "streams_teach must be one of knobs, command"),
    ],
)
def test_bad_overrides_are_refused(recipe: recipes.Recipe, assignment: str, cause: str) -> None:
    with pytest.raises(ValueError, match=cause):
        recipes.override(recipe, [assignment])


def test_entries_of_the_method_stage_leave_old_headers_and_encoders_alone() -> None:
    """What came later is not written at its default, and is no part of what decides a warm stage."""
    assert "streams_teach" not in recipes.as_dict(recipes.POCKET)
    changed = recipes.override(recipes.POCKET, ["streams_teach=command", "reset_form=normalised"])
    assert recipes.as_dict(changed)["reset_form"] == "normalised"
    assert fit._warm_part(changed) == fit._warm_part(recipes.POCKET)


def test_the_encoders_in_training_keep_their_identity() -> None:
    """What a running warm stage of `robust` wrote into its state: no later entry may change it."""
    assert set(fit._warm_part(recipes.ROBUST)) == set(fit.WARM_ENTRIES)
    assert "padding" in fit._warm_part(recipes.override(recipes.ROBUST, ["padding=zeros"]))


@pytest.mark.parametrize(
    ("assignment", "says"),
    [
        ("warm.epochs=0", "warm.epochs is 0, expected 1 to 100000"),
        ("method.epochs=-1", "method.epochs is -1, expected 1 to 100000"),
        ("batch=7", "batch is 7, expected a multiple of chunk, which is 64"),
        ("batch=0", "batch is 0, expected 2 to 50000"),
        ("chunk=1 batch=1", "batch is 1, expected 2 to 50000"),
        ("chunk=0", "chunk is 0, expected 1 to 50000"),
        ("validation=0", "validation is 0, expected 8 to 50000"),
        ("validation=60000", "validation is 60000, expected 8 to 50000"),
        ("validation=49900 limit=500", "validation is 49900, expected at most 49500: the others train"),
        ("limit=50000", "limit is 50000, expected at most 48000, since 2000 of 50000 are held out for validation"),
        ("limit=-5", "limit is -5, expected 0 to 50000"),
        ("limit=64", "limit is 64, expected 0, which is all, or at least 128, which is a batch"),
        ("clean_share=1.5", "clean_share is 1.5, expected 0 to 1"),
        ("clean_share=0", "clean_share is 0.0, expected at least one image of a chunk of 64"),
        ("chunk=1 batch=3", "clean_share is 0.5, expected at least one image of a chunk of 1"),
        ("clean_share=1 static_sees=corrupted", "clean_share is 1.0, expected to leave an image of a chunk of 64"),
        ("method.lr=0", "method.lr is 0.0, expected 1e-12 to 100"),
        ("method.lr=nan", "method.lr is nan, expected 1e-12 to 100"),
        ("method.lr=inf", "method.lr is inf"),
        ("method.lr=1e300", "method.lr is 1e+300"),
        ("method.weight_decay=-5", "method.weight_decay is -5.0, expected 0 to 100"),
        ("warm.weight_decay=nan", "warm.weight_decay is nan"),
        ("label_smoothing=nan", "label_smoothing is nan, expected 0 to 1"),
        ("label_smoothing=7", "label_smoothing is 7.0, expected 0 to 1"),
        ("static_smoothing=-1", "static_smoothing is -1.0, expected 0 to 1"),
        ("dyn_smoothing=inf", "dyn_smoothing is inf, expected 0 to 1"),
        ("advantage_weight=nan", "advantage_weight is nan, expected 0 to 1000"),
        ("warm.average_epochs=-1", "warm.average_epochs is -1.0, expected 0 to 100000"),
        ("warm.average_epochs=nan", "warm.average_epochs is nan"),
        ("warm.augmented_share=5", "warm.augmented_share is 5.0, expected 0 to 1"),
        ("stream_frames=1", "stream_frames is 1, expected 2 to 1000"),
        ("stream_frames=100000000", "stream_frames is 100000000, expected 2 to 1000"),
        ("width=4", "width is 4, expected 8 to 512"),
        ("width=100000", "width is 100000, expected 8 to 512"),
        ("width=10", "width is 10, expected a multiple of 4"),
        ("method.optimizer=adam", "method.optimizer is 'adam', expected sgd or adamw"),
        ("warm.schedule=flat", "warm.schedule is 'flat', expected onecycle or cosine"),
        ("method.precision=float16", "method.precision is 'float16', expected float32 or bfloat16"),
        ("method.decay=none", "method.decay is 'none', expected matrices or all"),
        ("name=../../evil", "name is '../../evil', expected a plain file name"),
        ("name=a/b", "name is 'a/b', expected a plain file name"),
        ("name=", "name is '', expected a plain file name"),
        ("name=..", "name is '..', expected a plain file name"),
        ("continues=../x", "continues is '../x', expected nothing or one of pocket, paper"),
    ],
)
def test_what_nothing_can_be_trained_with_is_refused(assignment: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        recipes.check(recipes.override(recipes.POCKET, assignment.split()))


def test_a_recipe_without_a_warm_stage_continues_nothing() -> None:
    """It trained from random weights, and its header said that it had continued another one."""
    with pytest.raises(ValueError, match="continues is 'robust', expected nothing: this recipe has no warm stage"):
        recipes.check(recipes.override(recipes.PAPER, ["continues=robust"]))
    for recipe in recipes.RECIPES.values():
        assert recipes.check(recipe) is recipe


def test_methods_without_a_gate_need_no_clean_images() -> None:
    recipe = recipes.override(recipes.POCKET, ["clean_share=0"])
    assert recipes.check(recipe, gated=False) is recipe
    paper = recipes.override(recipes.PAPER, ["clean_share=0"])
    assert recipes.check(paper) is paper


@pytest.mark.parametrize(
    ("node", "ranges", "choices"),
    [
        (recipes.POCKET, recipes.RANGES, recipes.CHOICES),
        (recipes.POCKET.method, recipes.STAGE_RANGES, recipes.STAGE_CHOICES),
    ],
)
def test_every_entry_has_a_range_or_choices(node: object, ranges: dict, choices: dict) -> None:
    checked = {"name", "continues", "warm", "method", "curriculum"}  # in other ways; the last is in no --set
    assert {field.name for field in fields(node)} - checked == ranges.keys() | choices.keys()


def test_our_recipes_pass() -> None:
    for recipe in recipes.RECIPES.values():
        assert recipes.check(recipe) is recipe
