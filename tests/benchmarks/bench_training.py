"""Training and latency, as ratios within one run on one thread."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch.nn.functional import cross_entropy

from knob_core import data, models
from train.batches import WINDOW, Loader, augment_share
from train.loop import autocast, make_optimizer
from train.losses import WarmClassifier, warm_step
from train.recipes import POCKET, ROBUST


def interleaved(works: dict[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Median time of each, measured in turns so that a noisy moment hits all alike."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for turn in range(rounds + 2):
        for name, work in works.items():
            start = time.perf_counter()
            work()
            if turn >= 2:
                times[name].append(time.perf_counter() - start)
    return {name: statistics.median(values) for name, values in times.items()}


def test_corruption_and_augmentation_cost_little() -> None:
    torch.set_num_threads(1)
    images, labels, _ = data.load_sample()
    loader = Loader(torch.from_numpy(np.tile(images, (4, 1, 1, 1))), torch.from_numpy(np.tile(labels, 4)), POCKET, 0)
    model = WarmClassifier(models.Encoder(16), 128, 10).to(memory_format=torch.channels_last)
    assert POCKET.warm is not None
    optimizer = make_optimizer(POCKET.warm, model)
    batches = (batch for epoch in range(1000) for batch in loader.epoch(0, epoch, 32, 5.0))
    fixed = next(batches)

    def bare() -> None:
        optimizer.zero_grad()
        cross_entropy(model(fixed.images), fixed.labels).backward()
        optimizer.step()

    def full() -> None:
        step = warm_step(model, next(batches), POCKET, 0)
        optimizer.zero_grad()
        step.loss.backward()
        optimizer.step()

    medians = interleaved({"bare": bare, "full": full}, rounds=15)
    ratio = medians["bare"] / medians["full"]
    print(f"\ntraining throughput, full pipeline / bare step: {ratio:.3f}")
    assert ratio >= 0.85


@pytest.mark.parametrize("size", [WINDOW, 32])
def test_chains_and_spectra_are_a_small_part_of_a_step(size: int) -> None:
    """The augmentation of both chunks against forward, backward and update, all of the robust recipe."""
    torch.set_num_threads(1)
    images, labels, _ = data.load_sample()
    loader = Loader(torch.from_numpy(images), torch.from_numpy(labels), ROBUST, 0)
    batch = next(loader.epoch(0, 0, size, 5.0))
    model = WarmClassifier(models.Encoder(16), 128, 10).to(memory_format=torch.channels_last)
    stage = ROBUST.stage(0)
    optimizer = make_optimizer(stage, model)
    chunks, generator = batch.images.contiguous().split(ROBUST.chunk), torch.Generator().manual_seed(0)

    def step() -> None:
        with autocast(stage, torch.device("cpu")):
            loss = warm_step(model, batch, ROBUST, 0).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    works = {
        "augmentation": lambda: [augment_share(chunk, stage.augmented_share, generator) for chunk in chunks],
        "step": step,
    }
    medians = interleaved(works, rounds=15)
    ratio = medians["augmentation"] / medians["step"]
    print(f"\naugmentation / training step at {size} pixels: {ratio:.3f}")
    assert ratio <= 0.2


@pytest.mark.parametrize(("width", "limit", "rounds"), [(16, 1.10, 200), (64, 1.05, 60)])
def test_the_gate_is_nearly_free(width: int, limit: float, rounds: int) -> None:
    torch.set_num_threads(1)
    image = torch.rand(1, 3, 32, 32).contiguous(memory_format=torch.channels_last)
    works = {}
    for method in models.METHODS:
        model = models.build(method, width).eval().to(memory_format=torch.channels_last)
        works[method] = lambda model=model: model.predict(image)
    with torch.inference_mode():
        medians = interleaved(works, rounds)
    ratios = {method: value / medians["static"] for method, value in medians.items()}
    print(f"\nbatch-1 latency / static at width {width}: " + "  ".join(f"{m} {r:.3f}" for m, r in ratios.items()))
    assert ratios["knob-ode"] <= limit
