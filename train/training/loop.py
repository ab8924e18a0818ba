"""One stage of training that survives being killed: the same command goes on, and on a CPU ends with the same bits.

Every batch and every draw follows from (seed, stage, epoch, step), so the state is weights, optimiser and a place.
"""

from __future__ import annotations

import math
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from train.training import distributed, saved_state
from train.training.averaging import WeightAverage
from train.training.batches import WINDOW, Batch, Loader
from train.training.losses import Step
from train.training.progress_bar import Progress
from train.training.recipes import Recipe, Stage

SAVE_SECONDS = 60.0  # between states within an epoch
CHECK_STEPS = 20  # between looks at the running loss

StepFunction = Callable[[nn.Module, Batch, Recipe, int], Step]


class Diverged(ArithmeticError):
    """The loss is no longer a number."""


@dataclass
class Run:
    """A stage to be trained: model, data, the folder of its state, and what to measure after each epoch."""

    model: nn.Module
    step: StepFunction
    loader: Loader
    recipe: Recipe
    stage: Stage
    stage_index: int  # 0 warm, 1 method: part of every seed
    folder: Path
    identity: dict[str, Any]
    measure: Callable[[], dict[str, float]]
    device: torch.device
    rank: int = 0
    frozen: tuple[nn.Module, ...] = ()  # kept in evaluation mode
    history: list[dict[str, float]] = field(default_factory=list)

    @property
    def state_path(self) -> Path:
        return self.folder / "state.safetensors"


def learning_rate(stage: Stage, progress: float) -> float:
    """The rate after this part, 0 to 1, of the stage."""
    if stage.schedule == "cosine":
        return stage.lr * 0.5 * (1 + math.cos(math.pi * progress))
    if stage.schedule == "onecycle":
        return stage.lr * (progress / 0.25 if progress < 0.25 else (1 - progress) / 0.75)
    raise ValueError(f"schedule must be cosine or onecycle, got {stage.schedule!r}")


def make_optimizer(stage: Stage, model: nn.Module) -> torch.optim.Optimizer:
    """Weight decay on matrices only, where the knobs, biases and normalisations are free, or on all weights."""
    if stage.decay not in ("matrices", "all"):
        raise ValueError(f"decay must be matrices or all, got {stage.decay!r}")
    parameters = [p for p in model.parameters() if p.requires_grad]
    on_the_rest = stage.weight_decay if stage.decay == "all" else 0.0
    groups = [
        {"params": [p for p in parameters if p.ndim > 1], "weight_decay": stage.weight_decay},
        {"params": [p for p in parameters if p.ndim <= 1], "weight_decay": on_the_rest},
    ]
    if stage.optimizer == "sgd":
        return torch.optim.SGD(groups, lr=stage.lr, momentum=0.9, nesterov=True)
    if stage.optimizer == "adamw":
        return torch.optim.AdamW(groups, lr=stage.lr)
    raise ValueError(f"optimizer must be sgd or adamw, got {stage.optimizer!r}")


def top_severity(recipe: Recipe, stage_index: int, epoch: int) -> float:
    """The curriculum's highest severity in this epoch: climbed by the first stage, kept by the one after it."""
    if stage_index == 1 and recipe.warm is not None:
        return recipe.curriculum[-1][1]
    epochs = recipe.warm.epochs if recipe.warm is not None else recipe.method.epochs
    return next(top for part, top in recipe.curriculum if epoch < part * epochs)


def autocast(stage: Stage, device: torch.device) -> torch.autocast:
    """Mixed precision: bfloat16 where the stage asks for it, else float16 on a GPU and none on a CPU."""
    if stage.precision not in ("float32", "bfloat16"):
        raise ValueError(f"precision must be float32 or bfloat16, got {stage.precision!r}")
    if stage.precision == "bfloat16":
        return torch.autocast(device.type, torch.bfloat16)
    return torch.autocast(device.type, torch.float16, enabled=has_float16(device))


def has_float16(device: torch.device) -> bool:
    """Whether float16 is what makes this device quick; then the loss is scaled, so that small gradients survive."""
    return device.type == "cuda"


def train(run: Run, progress: Progress) -> None:
    """Go from wherever the saved state is to the end of the stage; `run.model` and `run.history` hold the result."""
    optimizer = make_optimizer(run.stage, run.model)
    scaler = torch.amp.GradScaler(run.device.type, enabled=has_float16(run.device))
    steps, horizon = run.loader.steps, run.stage.average_epochs
    average = WeightAverage(max(1, round(horizon * steps))) if horizon else None
    epoch, step, sums = 0, 0, [0.0, 0.0, 0.0]
    if run.state_path.exists():
        header = saved_state.restore(run.state_path, run.model, optimizer, run.identity, average)
        epoch, step, sums, run.history[:] = header["epoch"], header["step"], header["sums"], header["history"]
        if epoch > run.stage.epochs or step >= steps:
            place = f"epoch {epoch}, step {step}, expected at most {run.stage.epochs} and less than {steps}"
            raise saved_state.not_whole(run.state_path, place)
        if header["scaler"]:  # empty where the state comes from a CPU
            scaler.load_state_dict(header["scaler"])
    elif not run.history:
        run.history.append({"epoch": 0.0, **run.measure()})

    def save(epoch: int, step: int, sums: list[float]) -> None:
        if run.rank == 0:
            place = {"epoch": epoch, "step": step, "sums": sums, "history": run.history, "scaler": scaler.state_dict()}
            saved_state.save(run.state_path, run.model, optimizer, {"identity": run.identity, **place}, average)

    def measure() -> dict[str, float]:
        with average.inside(run.model) if average is not None else nullcontext():
            return run.measure()

    with _interrupt_flag() as interrupted:
        while epoch < run.stage.epochs:
            progress.start_epoch(epoch, step)
            saved = time.monotonic()
            running = torch.tensor(sums, dtype=torch.float64, device=run.device)
            for batch in _batches(run, epoch, step):
                running += _one_step(run, optimizer, scaler, batch, epoch, step)
                step += 1
                if average is not None:
                    average.update(run.model, epoch * steps + step)
                progress.advance(lambda: (running / step).tolist(), run.model)  # noqa: B023 (called at once)
                pause = interrupted() or (time.monotonic() - saved > SAVE_SECONDS and run.rank == 0)
                if step % CHECK_STEPS == 0 or pause or step == steps:
                    _check_finite(running, run, epoch, step)
                if pause and step < steps:
                    save(epoch, step, running.tolist())
                    saved = time.monotonic()
                    if interrupted():
                        raise KeyboardInterrupt
            mean = (running / steps).tolist()
            epoch, step, sums = epoch + 1, 0, [0.0, 0.0, 0.0]
            row = {
                "epoch": float(epoch),
                "loss": mean[0],
                "train_accuracy": mean[1],
                "train_gate": mean[2],
                **measure(),
            }
            run.history.append(row)
            save(epoch, 0, sums)
            progress.end_epoch(row)
            if interrupted():
                raise KeyboardInterrupt
    if average is not None:
        average.write_to(run.model)


def _batches(run: Run, epoch: int, first_step: int) -> Iterator[Batch]:
    run.model.train()
    for module in run.frozen:
        module.eval()
    size = WINDOW if epoch < run.stage.window_epochs else run.loader.images.shape[-1]
    top = top_severity(run.recipe, run.stage_index, epoch)
    return run.loader.epoch(run.stage_index, epoch, size, top, first_step)


def _one_step(
    run: Run, optimizer: torch.optim.Optimizer, scaler: torch.amp.GradScaler, batch: Batch, epoch: int, step: int
) -> Tensor:
    """Forward, backward, update; gives (loss, accuracy, gate) as a tensor so that a GPU need not wait.

    They are means over all processes, since the first one saves their sums within an epoch for all.
    """
    rate = learning_rate(run.stage, (epoch + step / run.loader.steps) / run.stage.epochs)
    for group in optimizer.param_groups:
        group["lr"] = rate
    with autocast(run.stage, run.device):
        result = run.step(run.model, batch, run.recipe, step)
    optimizer.zero_grad(set_to_none=True)
    scaler.scale(result.loss).backward()
    distributed.average_gradients(run.model.parameters())
    scaler.step(optimizer)
    scaler.update()
    return distributed.average(torch.stack([value.detach().double() for value in result]))


def _check_finite(running: Tensor, run: Run, epoch: int, step: int) -> None:
    if not bool(torch.isfinite(running).all()):
        kept = (
            f"the last good state is kept in {run.state_path}" if run.state_path.exists() else "nothing was saved yet"
        )
        raise Diverged(
            f"the loss is no longer a number in epoch {epoch + 1}, step {step}; {kept}. "
            f"A smaller learning rate than {run.stage.lr} may help."
        )


@contextmanager
def _interrupt_flag() -> Iterator[Callable[[], bool]]:
    """Ctrl-C and SIGTERM ask for a stop after the current step; a second one stops at once."""
    asked = False

    def ask(signum: int, frame: Any) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True

    old = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: asked
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)
