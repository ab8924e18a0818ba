"""Batches that never leave the device: augmented, corrupted, decided by (seed, stage, epoch, step, chunk) alone.

A chunk is the unit of randomness, so any number of processes that share a batch by whole chunks see the same images.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from knob_core import augmentations, corruptions, seeding
from train.training.recipes import Recipe

WINDOW = 24  # pixels seen in a stage's first epochs
PADDING = 4


@dataclass(frozen=True)
class Batch:
    images: Tensor  # (N, 3, H, W) in [0, 1]
    labels: Tensor  # (N,)
    severity: Tensor  # (N,), 0 where clean
    generators: tuple[torch.Generator, ...]  # one a chunk, for whatever else the step draws
    key: tuple[int, ...] = ()  # (seed, stage, epoch, step): within a recipe, equal keys are equal batches

    @property
    def clean(self) -> Tensor:
        return self.severity == 0


def augment(images: Tensor, size: int, generator: torch.Generator, padding: str = "reflect") -> Tensor:
    """Random flip and random crop to `size` pixels, padded by 4 where the crop is as large as the image."""
    count, _, height, width = images.shape
    if size == height:
        mode = "constant" if padding == "zeros" else padding
        images = torch.nn.functional.pad(images, (PADDING,) * 4, mode=mode)
        height, width = images.shape[2:]
    device = images.device
    top, left = (
        torch.randint(0, side - size + 1, (count, 1), generator=generator, device=device) for side in (height, width)
    )
    flip = torch.rand((count, 1), generator=generator, device=device) < 0.5
    line = torch.arange(size, device=device)
    rows = top + line  # (N, size)
    columns = left + torch.where(flip, size - 1 - line, line)
    index = rows[:, :, None] * width + columns[:, None, :]  # (N, size, size)
    flat = images.reshape(count, 3, height * width)
    return flat.gather(2, index.reshape(count, 1, -1).expand(-1, 3, -1)).reshape(count, 3, size, size)


def augment_share(images: Tensor, share: float, generator: torch.Generator) -> Tensor:
    """So large a share of the images, spread evenly over the chunk, through random chains and spectra."""
    place = torch.arange(1, len(images) + 1, dtype=torch.float64) * share
    rows = (place.floor() > (place - share).floor()).nonzero().squeeze(1).to(images.device)
    if not len(rows):
        return images
    return images.index_copy(0, rows, augmentations.augment(images[rows], generator))


def corrupt_chunk(
    images: Tensor,
    top_severity: float,
    clean_share: float,
    generator: torch.Generator,
    names: tuple[str, ...] = corruptions.TRAINING,
    whole: bool = False,
) -> tuple[Tensor, Tensor]:
    """The first images stay clean, the training corruptions share the rest evenly.

    Severities are uniform in [1, top], or among the whole numbers there.
    """
    count, device = len(images), images.device
    draw = torch.rand(count, generator=generator, device=device)
    severity = 1 + (top_severity * draw).floor().clamp(max=top_severity - 1) if whole else 1 + (top_severity - 1) * draw
    first = round(count * clean_share)
    severity[:first] = 0
    edges = np.linspace(first, count, len(names) + 1).round().astype(int)
    parts = [images[:first]]
    for name, start, stop in zip(names, edges[:-1], edges[1:], strict=True):
        if stop > start:
            parts.append(corruptions.corrupt(images[start:stop], name, severity[start:stop], generator))
    return torch.cat(parts), severity


class Loader:
    """The training set on its device, in seeded batches for `rank` of `world` processes."""

    def __init__(
        self,
        images: Tensor,
        labels: Tensor,
        recipe: Recipe,
        seed: int,
        rank: int = 0,
        world: int = 1,
        names: tuple[str, ...] = corruptions.TRAINING,
        epochs_before: int = 0,
    ) -> None:
        chunks = recipe.batch // recipe.chunk
        if recipe.batch % recipe.chunk or chunks % world:
            raise ValueError(
                f"{world} processes cannot share a batch of {recipe.batch} images in chunks of {recipe.chunk}: "
                f"their number must divide {recipe.batch / recipe.chunk:g}"
            )
        if len(images) < recipe.batch:
            raise ValueError(f"a batch of {recipe.batch} needs as many training images, got {len(images)}")
        self.images, self.labels, self.recipe, self.seed, self.names = images, labels, recipe, seed, names
        self.epochs_before = epochs_before  # of the encoder that this run continues: it meets draws of its own
        self.chunks = range(rank * chunks // world, (rank + 1) * chunks // world)

    @property
    def steps(self) -> int:
        return len(self.images) // self.recipe.batch

    def epoch(self, stage: int, epoch: int, size: int, top_severity: float, first_step: int = 0) -> Iterator[Batch]:
        """The batches of one epoch from `first_step` on: images uint8 (N, 3, 32, 32) in, floats out."""
        device, recipe = self.images.device, self.recipe
        epoch += self.epochs_before
        order = torch.randperm(
            len(self.images), generator=seeding.generator(device, self.seed, stage, epoch), device=device
        )
        for step in range(first_step, self.steps):
            parts, generators = [], []
            for chunk in self.chunks:
                start = step * recipe.batch + chunk * recipe.chunk
                picked = order[start : start + recipe.chunk]
                generator = seeding.generator(device, self.seed, stage, epoch, step, chunk)
                clean = self.images[picked].to(torch.get_default_dtype()) / 255
                images = augment(clean, size, generator, recipe.padding)
                images = augment_share(images, recipe.stage(stage).augmented_share, generator)
                share, whole = recipe.clean_share, recipe.severities == "whole"
                images, severity = corrupt_chunk(images, top_severity, share, generator, self.names, whole)
                parts.append((images, self.labels[picked], severity))
                generators.append(generator)
            images, labels, severity = (torch.cat(part) for part in zip(*parts, strict=True))
            images = images.contiguous(memory_format=torch.channels_last)
            yield Batch(images, labels, severity, tuple(generators), (self.seed, stage, epoch, step))
