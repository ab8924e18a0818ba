"""Recipes: the paper's protocol to the letter, and overrides that name what is wrong."""

from __future__ import annotations

import json
import re

import pytest

from train.training import recipes


def test_the_paper_recipe_is_the_papers_protocol() -> None:
    paper = recipes.PAPER
    stage = paper.method
    assert (stage.optimizer, stage.lr, stage.weight_decay, stage.schedule) == ("adamw", 3e-4, 1e-4, "cosine")
    assert (stage.epochs, paper.batch, paper.width, paper.warm) == (100, 128, 64, None)
    assert [(part * stage.epochs, top) for part, top in paper.curriculum] == [(30, 2), (60, 3), (100, 5)]


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
    ],
)
def test_bad_overrides_are_refused(recipe: recipes.Recipe, assignment: str, cause: str) -> None:
    with pytest.raises(ValueError, match=cause):
        recipes.override(recipe, [assignment])


@pytest.mark.parametrize(
    ("assignment", "says"),
    [
        ("warm.epochs=0", "warm.epochs is 0, expected at least 1"),
        ("method.epochs=-1", "method.epochs is -1, expected at least 1"),
        ("batch=7", "batch is 7, expected a multiple of chunk, which is 64"),
        ("batch=0", "batch is 0, expected a multiple of chunk"),
        ("chunk=0", "chunk is 0, expected at least 1"),
        ("validation=0", "validation is 0, expected at least 8"),
        ("limit=-5", "limit is -5, expected at least 0"),
        ("clean_share=1.5", "clean_share is 1.5, expected 0 to 1"),
        ("method.lr=0", "method.lr is 0.0, expected above 0"),
        ("method.lr=nan", "method.lr is nan, expected above 0"),
    ],
)
def test_what_nothing_can_be_trained_with_is_refused(assignment: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        recipes.check(recipes.override(recipes.POCKET, [assignment]))


def test_our_recipes_pass() -> None:
    for recipe in recipes.RECIPES.values():
        assert recipes.check(recipe) is recipe
