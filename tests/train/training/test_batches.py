"""Batches: the pixels follow from the numbers given, and any number of processes deals the same ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from knob_core import corruptions, data
from train.training.batches import Loader, augment, corrupt_chunk
from train.training.recipes import POCKET

RECIPE = replace(POCKET, batch=64, chunk=16)


@pytest.fixture(scope="module")
def sample() -> tuple[torch.Tensor, torch.Tensor]:
    images, labels, _ = data.load_sample()
    return torch.from_numpy(images[::5].copy()), torch.from_numpy(labels[::5].copy())


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_two_processes_deal_what_one_deals(sample: tuple) -> None:
    whole = list(Loader(*sample, RECIPE, 3).epoch(0, 1, 32, 5.0))
    halves = [list(Loader(*sample, RECIPE, 3, rank, 2).epoch(0, 1, 32, 5.0)) for rank in range(2)]
    assert len(whole) == 3
    for batch, *parts in zip(whole, *halves, strict=True):
        for name in ("images", "labels", "severity"):
            assert torch.equal(getattr(batch, name), torch.cat([getattr(part, name) for part in parts]))


def test_an_epoch_can_be_entered_anywhere(sample: tuple) -> None:
    loader = Loader(*sample, RECIPE, 3)
    late = next(loader.epoch(0, 1, 24, 3.0, first_step=2))
    assert torch.equal(list(loader.epoch(0, 1, 24, 3.0))[2].images, late.images)


def test_seeds_stages_and_epochs_differ(sample: tuple) -> None:
    places = [(3, 0, 1), (4, 0, 1), (3, 1, 1), (3, 0, 2)]
    firsts = [next(Loader(*sample, RECIPE, s).epoch(stage, epoch, 32, 5.0)).images for s, stage, epoch in places]
    assert not any(torch.equal(firsts[0], other) for other in firsts[1:])


def test_half_of_every_chunk_is_clean_and_severities_obey_the_curriculum(sample: tuple) -> None:
    for batch in Loader(*sample, RECIPE, 0).epoch(0, 0, 32, 3.0):
        assert batch.clean.reshape(4, 16).sum(1).tolist() == [8] * 4
        hurt = batch.severity[~batch.clean]
        assert hurt.min() >= 1 and hurt.max() <= 3
        assert batch.images.min() >= 0 and batch.images.max() <= 1


def test_a_chunk_has_every_training_corruption(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(
        corruptions, "corrupt", lambda x, name, severity, generator: (seen.append((name, len(x))), x)[1]
    )
    corrupt_chunk(torch.rand(16, 3, 32, 32), 5.0, 0.5, generator())
    assert seen == [(name, 2) for name in corruptions.TRAINING]


@pytest.mark.parametrize("size", [24, 32])
def test_a_crop_is_a_piece_of_the_image_or_of_its_mirror(size: int) -> None:
    images = torch.rand(40, 3, 32, 32)
    crops = augment(images, size, generator())
    padded = np.pad(images.numpy(), ((0, 0), (0, 0), (4, 4), (4, 4)), mode="reflect") if size == 32 else images.numpy()
    mirrored = 0
    for image, crop in zip(padded, crops.numpy(), strict=True):
        windows = np.lib.stride_tricks.sliding_window_view(image, (3, size, size))[0]
        plain = (windows == crop).all((2, 3, 4)).any()
        flipped = (windows == crop[:, :, ::-1]).all((2, 3, 4)).any()
        assert plain or flipped
        mirrored += not plain
    assert 8 <= mirrored <= 32


def test_impossible_shares_are_refused(sample: tuple) -> None:
    with pytest.raises(ValueError, match="3 processes cannot share a batch of 64 images in chunks of 16"):
        Loader(*sample, RECIPE, 0, 0, 3)
    with pytest.raises(ValueError, match="needs as many training images, got 200"):
        Loader(*sample, replace(RECIPE, batch=256), 0)


def test_whole_severities_are_drawn_evenly_and_zeros_pad_a_crop() -> None:
    generator = torch.Generator().manual_seed(0)
    _, severity = corrupt_chunk(torch.rand(4000, 3, 8, 8), 3.0, 0.25, generator, ("speckle_noise",), whole=True)
    values, counts = severity[1000:].unique(return_counts=True)
    assert values.tolist() == [1, 2, 3] and (severity[:1000] == 0).all()
    assert counts.min() > 900
    white = torch.ones(64, 3, 32, 32)
    padded = augment(white, 32, torch.Generator().manual_seed(0), "zeros")
    assert padded.min() == 0 and augment(white, 32, torch.Generator().manual_seed(0)).min() == 1
    assert torch.equal(padded.amax((1, 2, 3)), torch.ones(64))
