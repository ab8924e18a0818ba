"""The leave-one-out rule on a small scale: who is unseen, what is looked at, and that the lowest score is chosen."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiny_run
import torch

from knob_core import corruptions, folder_lock, models
from knob_core.library import result_tables
from train import choose
from train.training import batches
from train.training.recipes import ROBUST

SIZE = choose.Size(images=96, epochs=2, encoder_images=96, encoder_epochs=2)
TWO = {name: choose.VARIANTS[name] for name in ("the paper's heads", "static reads stages 1-3, sees corrupted images")}


@pytest.mark.slow
def test_each_corruption_is_left_out_of_encoder_and_heads_and_then_judges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.set_num_threads(1)
    calls: list[tuple[str, int]] = []  # (corruption, images)
    real = corruptions.corrupt

    def watched(images: torch.Tensor, name: str, *others: Any) -> torch.Tensor:
        calls.append((name, len(images)))
        return real(images, name, *others)

    own = choose.validation.make
    monkeypatch.setattr(choose.validation, "make", lambda x, y, s: own(x[:8], y[:8], s))  # the history's images
    place = tiny_run.place(tmp_path)
    for module in (choose.corruptions, batches.corruptions):
        monkeypatch.setattr(module, "corrupt", watched)
    rows = choose.compare(place, tiny_run.WARM_TINY, SIZE, 0, TWO)
    assert [row["left_out"] for row in rows[::2]] == list(corruptions.TRAINING)
    judging = [index for index, (_, count) in enumerate(calls) if count == 40]  # the held-out images, all at once
    assert [calls[index][0] for index in judging] == list(corruptions.TRAINING)
    for start, stop in zip([-1, *judging], judging, strict=False):
        trained = {name for name, count in calls[start + 1 : stop] if count > 1}
        assert trained == set(corruptions.TRAINING) - {calls[stop][0]}
    plain, other = (np.mean([row["nll"] for row in rows[start::2]]) for start in (0, 1))
    error = np.sqrt(sum(row["error"] ** 2 for row in rows[1::2])) / 4  # of their difference
    assert choose.choice(rows) == list(TWO)[int(other < plain - error)]
    again = choose.compare(place, tiny_run.WARM_TINY, SIZE, 0, TWO)  # its encoders are kept
    assert again == rows


def test_its_encoders_are_trained_under_the_lock_of_their_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "choose" / "without-fog-s0"

    def train(*_: Any) -> None:
        with pytest.raises(OSError, match=r"trains in .*without-"), folder_lock.locked(folder, "trains in", "--runs"):
            pass

    monkeypatch.setattr(choose.loop, "train", train)
    choose.encoder_without("fog", tiny_run.WARM_TINY, SIZE, 0, tiny_run.place(tmp_path))


def test_the_rule_takes_the_lowest_mean_and_of_those_within_one_error_the_simplest() -> None:
    def row(variant: str, left_out: str, nll: float, error: float = 0.0) -> dict[str, Any]:
        return {"variant": variant, "left_out": left_out, "nll": nll, "error": error}

    rows = [row("a", "x", 1.0), row("b", "x", 0.75), row("a", "y", 1.0), row("b", "y", 1.125)]
    assert choose.choice(rows) == "b"
    assert choose.choice([*rows, row("c", "x", 0.875), row("c", "y", 1.0)]) == "b"  # of equals the first
    lower = [row("c", "x", 0.5), row("c", "y", 1.125)]
    assert choose.choice([*rows, *lower]) == "c"
    unsure = [row("c", "x", 0.5, error=0.15), row("c", "y", 1.125, error=0.2)]  # 0.125 lower, give or take 0.125
    assert choose.choice([*rows, *unsure]) == "b"


def test_a_test_corruption_cannot_judge() -> None:
    images = torch.zeros(5, 3, 32, 32, dtype=torch.uint8)
    with pytest.raises(ValueError, match="nothing may be chosen by looking at fog"):
        choose.judging_part(models.Encoder(8), images, torch.zeros(5, dtype=torch.long), "fog")


@pytest.mark.skipif(
    not (result_tables.RESULTS / "choice.csv").is_file(), reason="no choice yet: python -m train.choose"
)
def test_the_recipe_is_what_the_rule_chose() -> None:
    """The shipped choice is the rule's: recomputed from the file that `train.choose` wrote."""
    rows = result_tables.read(result_tables.RESULTS / "choice.csv").to_dict("records")
    assert {row["left_out"] for row in rows} == set(corruptions.TRAINING)
    for name, value in (choose.PLAIN | choose.VARIANTS[choose.choice(rows)]).items():
        assert getattr(ROBUST, name) == value
