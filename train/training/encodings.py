"""What a frozen encoder said of a batch, remembered: all methods of a seed are shown the same batches.

The numbers are those of the first look, so a run ends with the same bits whether it remembers or computes.
"""

from __future__ import annotations

import torch
from torch import Tensor

from knob_core.models import GatedClassifier, encode

LIMIT = 2**30  # bytes; the pocket recipe's five epochs take 0.4 of it
Key = tuple[int, ...]


class Encodings:
    """Of one encoder, with the statistics of stages 1 to 3 where a static branch reads them.

    Batches that no longer fit are computed anew each time.
    """

    def __init__(self, limit: int = LIMIT, stages: bool = False) -> None:
        self._known: dict[Key, tuple[Tensor, Tensor]] = {}
        self._room, self._stages = limit, stages

    @torch.no_grad()
    def of(self, model: GatedClassifier, images: Tensor, key: Key) -> tuple[Tensor, Tensor]:
        """Features (N, 8w) and stage statistics (N, 2w or 14w) of the images that `key` stands for."""
        if key in self._known:
            return self._known[key]
        encoded = encode(model.encoder, images, self._stages)  # also where this method reads none: the next one may
        self._room -= sum(x.numel() * x.element_size() for x in encoded)
        if self._room >= 0:
            self._known[key] = encoded
        return encoded
