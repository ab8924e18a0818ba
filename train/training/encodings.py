"""What a frozen encoder said of a batch, remembered: all methods of a seed are shown the same batches.

The numbers are those of the first look, so a run ends with the same bits whether it remembers or computes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from knob_core.models import GatedClassifier, stage_statistics

LIMIT = 2**30  # bytes; the pocket recipe's five epochs take 0.4 of it
Key = tuple[int, ...]


class Encodings:
    """Of one encoder. Batches that no longer fit are computed anew each time."""

    def __init__(self, limit: int = LIMIT) -> None:
        self._known: dict[Key, tuple[Tensor, Tensor]] = {}
        self._room = limit

    @torch.no_grad()
    def of(self, model: GatedClassifier, images: Tensor, key: Key) -> tuple[Tensor, Tensor]:
        """Features (N, 8w) and stage statistics (N, 2w) of the images that `key` stands for."""
        if key in self._known:
            return self._known[key]
        features, first = model.encoder(images)
        encoded = features, stage_statistics(first)  # also where this method reads none: the next one may
        self._room -= sum(x.numel() * x.element_size() for x in encoded)
        if self._room >= 0:
            self._known[key] = encoded
        return encoded
