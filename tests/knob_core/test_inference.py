"""A network over many pictures gives what it gives for each batch, in order, and leaves no gradient."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from knob_core.inference import over_batches


def picture_mean(images: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    return images.mean((1, 2, 3)), torch.full((len(images),), len(images))


def test_outputs_are_joined_in_the_order_of_the_pictures() -> None:
    images = torch.arange(7.0)[:, None, None, None].expand(7, 3, 4, 4) / 10
    mean, size = over_batches(picture_mean, images, batch=3)
    torch.testing.assert_close(mean, torch.arange(7.0) / 10)
    assert size.tolist() == [3, 3, 3, 3, 3, 3, 1]


def test_bytes_become_numbers_from_0_to_1_and_channels_come_last() -> None:
    seen = []
    images = np.full((2, 3, 4, 4), 51, np.uint8)
    (first,) = over_batches(lambda x: (seen.append(x) or x[:, 0, 0, 0],), images, "cpu")
    assert first.tolist() == pytest.approx([0.2, 0.2])
    assert seen[0].is_contiguous(memory_format=torch.channels_last)


def test_there_is_no_gradient() -> None:
    layer = torch.nn.Linear(4, 1)
    (out,) = over_batches(lambda x: (layer(x).flatten(1),), torch.rand(2, 3, 4, 4))
    assert not out.requires_grad
    (out * layer.weight.sum()).sum().backward()  # and the result may be used in a loss


@pytest.mark.parametrize(("count", "batch"), [(0, 5), (5, 0), (5, -1)])
def test_no_pictures_or_no_batch(count: int, batch: int) -> None:
    with pytest.raises(ValueError, match=f"got {count} images in batches of {batch}"):
        over_batches(picture_mean, torch.rand(count, 3, 4, 4), batch=batch)
