"""Training in 16 bits: over two processes, after kills, from a CPU to a device with float16; pictures in 32 bits."""

from __future__ import annotations

import csv
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiny_run
import torch
import torch.distributed as dist
from torch import nn
from two_processes import ended, in_two_processes

from knob_core import checkpoint, models
from train.training import distributed, loop, losses, saved_state
from train.training.batches import Loader
from train.training.recipes import PAPER, PAPER_POCKET, ROBUST_80, Recipe

assert ROBUST_80.warm is not None
TINY = {
    "paper-pocket": replace(PAPER_POCKET, **tiny_run.SMALL, method=replace(PAPER_POCKET.method, epochs=2)),
    "robust-80": replace(
        ROBUST_80,
        **tiny_run.SMALL,
        warm=replace(ROBUST_80.warm, epochs=2, window_epochs=1, lr=0.01),
        method=replace(ROBUST_80.method, epochs=1),
    ),
}
ONE_PROCESS = 1e-2  # of an epoch's loss, as `distributed` says
State = dict[str, torch.Tensor]


def fit(folder: Path, recipe: Recipe) -> None:
    """Knob-ODE to its end, as one of however many processes there are."""
    begun = folder / "robust" / "static-s0" / "final.safetensors"
    if recipe.continues and int(os.environ.get("RANK", "0")) == 0 and not begun.exists():
        torch.manual_seed(1)
        checkpoint.save(models.build("static", width=8), begun, {"seed": 0, "recipe": {"validation": 40}})
    if dist.is_initialized():
        dist.barrier()
    tiny_run.run(folder, "knob-ode", recipe)


def trained(folder: Path, recipe: Recipe) -> tuple[State, list[float]]:
    """The finished model, and the loss of every epoch of every stage."""
    files = sorted((folder / recipe.name).glob("*/history.csv"))
    found = [float(row["loss"]) for file in files for row in csv.DictReader(file.open()) if row["loss"]]
    return checkpoint.load(folder / recipe.name / "knob-ode-s0" / "final.safetensors").state_dict(), found


@pytest.mark.slow
@pytest.mark.parametrize("name", TINY)
def test_two_processes_that_are_killed_go_on_and_end_like_one(tmp_path: Path, name: str) -> None:
    recipe = TINY[name]

    def cut(rank: int) -> None:
        vars(loop)["SAVE_SECONDS"] = 0.0
        real, saved = saved_state.save, []

        def save(*arguments: Any) -> None:
            real(*arguments)
            saved.append(arguments)
            if len(saved) == 8:
                os._exit(9)

        vars(saved_state)["save"] = save
        fit(tmp_path / "cut", recipe)

    def both(name: str) -> list[int]:
        return ended(in_two_processes(lambda rank: fit(tmp_path / name, recipe), tmp_path))

    assert both("uncut") == [0, 0], [(tmp_path / str(rank)).read_text() for rank in range(2)]
    assert ended(in_two_processes(cut, tmp_path)) == [9, 1]
    assert both("cut") == [0, 0]
    fit(tmp_path / "one", recipe)
    (uncut, loss), (resumed, loss_again) = (trained(tmp_path / name, recipe) for name in ("uncut", "cut"))
    assert all(torch.equal(resumed[name], value) for name, value in uncut.items())
    _, alone = trained(tmp_path / "one", recipe)
    assert loss_again == loss == pytest.approx(alone, rel=ONE_PROCESS)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_statistics_over_two_processes_are_those_of_the_whole_batch(tmp_path: Path, dtype: torch.dtype) -> None:
    """Values around 30 with a spread of 1: statistics in 16 bits would be wrong in their second digit."""
    x = (30 + torch.randn(8, 4, 6, 6, generator=torch.Generator().manual_seed(0))).to(dtype)

    def work(rank: int) -> None:
        norm = distributed.share_batch_statistics(nn.Sequential(nn.BatchNorm2d(4)))
        half = x[4 * rank : 4 * rank + 4].clone().requires_grad_()
        y = norm(half)
        (y.float() ** 3).sum().backward()
        assert half.grad is not None
        torch.save([y.detach(), half.grad, norm[0].running_mean, norm[0].running_var], tmp_path / f"{rank}.pt")

    assert ended(in_two_processes(work, tmp_path)) == [0, 0]
    halves = [torch.load(tmp_path / f"{rank}.pt") for rank in range(2)]
    one, whole = nn.BatchNorm2d(4), x.clone().requires_grad_()
    y = one(whole)
    (y.float() ** 3).sum().backward()
    assert whole.grad is not None and one.running_mean is not None and one.running_var is not None
    step = 2 * torch.finfo(dtype).eps
    for index, expected in enumerate((y.detach(), whole.grad)):
        found = torch.cat([half[index] for half in halves])
        assert found.dtype == dtype
        torch.testing.assert_close(found.float(), expected.float(), rtol=step, atol=step)
    for half in halves:
        torch.testing.assert_close(half[2], one.running_mean, rtol=1e-6, atol=1e-6)
        torch.testing.assert_close(half[3], one.running_var, rtol=1e-6, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("back", [False, True])
def test_a_run_goes_on_with_float16_and_a_scaled_loss_and_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, back: bool
) -> None:
    """As on a GPU: what a CPU began goes on there, and what is begun there goes on on a CPU."""
    recipe = replace(PAPER, **tiny_run.SMALL, method=replace(PAPER.method, epochs=2))
    real, made = loop._one_step, []

    def cut(*arguments: Any) -> torch.Tensor:
        made.append(arguments[2].is_enabled())
        if len(made) == 8:
            raise InterruptedError
        return real(*arguments)

    monkeypatch.setattr(loop, "_one_step", cut)
    monkeypatch.setattr(loop, "has_float16", lambda device: back)
    with pytest.raises(InterruptedError):
        tiny_run.run(tmp_path, "knob-ode", recipe)
    state = tmp_path / "paper" / "knob-ode-s0" / "state.safetensors"
    assert bool(saved_state.read(state)[1]["scaler"]) is back
    monkeypatch.setattr(loop, "has_float16", lambda device: not back)
    tiny_run.run(tmp_path, "knob-ode", recipe)
    assert made == [back] * 8 + [not back] * 5  # the second epoch anew
    scaler = saved_state.read(state)[1]["scaler"]
    assert scaler.get("_growth_tracker") == (None if back else 5)  # five steps, none of which overflowed
    state_now, losses_now = trained(tmp_path, recipe)
    assert all(torch.isfinite(value).all() for value in state_now.values()) and losses_now[1] < losses_now[0]


def test_pictures_of_streams_are_rendered_in_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    model, recipe = models.build("knob-ode", width=8), TINY["robust-80"]
    place = tiny_run.place(Path())
    seen: list[torch.Tensor] = []
    real = losses._stream

    def stream(*arguments: Any) -> torch.Tensor:
        seen.append(real(*arguments))
        return seen[-1]

    monkeypatch.setattr(losses, "_stream", stream)
    for enabled in (False, True):
        batch = next(Loader(place.images, place.labels, recipe, 0).epoch(1, 0, 32, 5.0))
        with torch.autocast("cpu", torch.bfloat16, enabled=enabled):
            losses.stream_loss(model, batch, recipe)
    without, within = torch.cat(seen).chunk(2)
    assert torch.equal(within, without)


def test_each_process_sets_its_gpu_before_nccl_begins(monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[object] = []
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("LOCAL_RANK", "1")
    monkeypatch.setattr(torch.cuda, "set_device", done.append)
    monkeypatch.setattr(dist, "init_process_group", done.append)
    monkeypatch.setattr(dist, "new_group", lambda **_: None)
    monkeypatch.setattr(dist, "get_rank", lambda: 1)
    monkeypatch.setattr(distributed, "_patient", None)
    distributed.start(distributed.own_device("cuda"))
    assert done == [torch.device("cuda", 1), "nccl"]
