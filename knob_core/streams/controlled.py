"""A controlled stream: still images, noise redrawn at every frame, severity s(t).

x[p, t] = corrupt(image[p], s(t); noise[p, t]), where a path p is one image in one realisation of the noise.
The unit of seeding is a block: BLOCK frames of one path. Blocks are always rendered whole, so pixels depend on the
seed, the path, the frame and its severity alone, and not on batch size, stream length or the other paths.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from knob_core._arrays.checks import whole_number
from knob_core.corruptions import NAMES, corrupt
from knob_core.data.pixels import to_unit
from knob_core.seeding import generator

BLOCK = 64  # frames
MAX_SEVERITY = 5.0

Indices = NDArray[np.int64]  # (B,)


@dataclass(frozen=True)
class Frames:
    """A batch of frames and where in the stream they belong."""

    images: Tensor  # (B, 3, H, W) float32 in [0, 1]
    image: Indices  # which still image
    realisation: Indices  # which draw of the noise
    frame: Indices  # t
    severity: NDArray[np.float64]  # s(t)

    def __len__(self) -> int:
        return len(self.frame)

    def __getitem__(self, part: slice) -> Frames:
        return Frames(
            self.images[part], self.image[part], self.realisation[part], self.frame[part], self.severity[part]
        )


class ControlledStream:
    """Images (N, 3, H, W) x realisations of the noise, T frames each; nothing is rendered before it is asked for."""

    def __init__(
        self,
        images: NDArray[np.uint8] | Tensor,
        severity: ArrayLike,
        corruption: str,
        realisations: int = 1,
        seed: int = 0,
        device: str | torch.device | None = None,
    ) -> None:
        if corruption not in NAMES:
            raise ValueError(f"corruption is {corruption!r}, expected one of {', '.join(NAMES)}")
        self.images = to_unit(images, device)  # (N, 3, H, W)
        if self.images.ndim != 4 or not len(self.images):
            raise ValueError(f"images have shape {tuple(self.images.shape)}, expected (N, 3, H, W) with N >= 1")
        self.severity = _severity(severity)  # (T,)
        self.corruption, self.seed = corruption, seed
        self.realisations = whole_number("realisations", realisations, 1)
        generator("cpu", seed)  # refuses a bad seed now and not at the first frame

    @property
    def paths(self) -> int:
        """Number of (image, realisation) pairs; path p is image p // realisations, realisation p % realisations."""
        return len(self.images) * self.realisations

    @property
    def length(self) -> int:
        """Frames of one path, T."""
        return len(self.severity)

    @property
    def blocks(self) -> int:
        """Blocks of one path, the last one perhaps cut short."""
        return -(-self.length // BLOCK)

    def __len__(self) -> int:
        """Frames of all paths together."""
        return self.paths * self.length

    def frames(self, t0: int, t1: int, image: int = 0, realisation: int = 0) -> Tensor:
        """Frames t0 <= t < t1 of one path, (t1 - t0, 3, H, W); only the blocks they lie in are rendered."""
        for name, value, bound in (("image", image, len(self.images)), ("realisation", realisation, self.realisations)):
            if not 0 <= value < bound:
                raise ValueError(f"{name} is {value!r}, expected 0 to {bound - 1}")
        if not 0 <= t0 < t1 <= self.length:
            raise ValueError(f"t0, t1 are {t0!r}, {t1!r}, expected 0 <= t0 < t1 <= {self.length}")
        path = image * self.realisations + realisation
        first = t0 // BLOCK
        blocks = [self._block(path, block) for block in range(first, -(-t1 // BLOCK))]
        return torch.cat(blocks)[t0 - first * BLOCK : t1 - first * BLOCK]

    def batches(self, batch_size: int = 256) -> Iterator[Frames]:
        """Every frame of every path once, BLOCK frames of all paths before the next; only a batch is held."""
        return self._batches(whole_number("batch_size", batch_size, 1))

    def __iter__(self) -> Iterator[Frames]:
        return self.batches()

    def steps(self) -> Iterator[Tensor]:
        """Frame after frame, all paths at once, (paths, 3, H, W), as a camera would deliver them."""
        for block in range(self.blocks):
            rendered = torch.stack(
                [self._block(path, block) for path in range(self.paths)], dim=1
            )  # (t, paths, 3, H, W)
            yield from rendered

    def _batches(self, batch_size: int) -> Iterator[Frames]:
        waiting: list[Frames] = []
        for block in range(self.blocks):
            for path in range(self.paths):
                waiting.append(self._labelled(path, block))
                if sum(map(len, waiting)) < batch_size:
                    continue
                ready = _join(waiting)
                whole = len(ready) - len(ready) % batch_size
                for start in range(0, whole, batch_size):
                    yield ready[start : start + batch_size]
                waiting = [ready[whole:]] if whole < len(ready) else []
        if waiting:
            yield _join(waiting)

    def _labelled(self, path: int, block: int) -> Frames:
        images = self._block(path, block)
        t = block * BLOCK + np.arange(len(images))
        image, realisation = divmod(path, self.realisations)
        return Frames(images, np.full_like(t, image), np.full_like(t, realisation), t, self.severity[t])

    def _block(self, path: int, block: int) -> Tensor:
        """Frames of one block, (<= BLOCK, 3, H, W): a last block is rendered whole and then cut to the stream's end."""
        t = block * BLOCK + np.arange(BLOCK)
        image, realisation = divmod(path, self.realisations)
        still = self.images[image].expand(BLOCK, -1, -1, -1)
        noise = generator(still.device, self.seed, "stream", self.corruption, image, realisation, block)
        severity = torch.from_numpy(self.severity[np.minimum(t, self.length - 1)]).to(still)
        return corrupt(still, self.corruption, severity, noise)[: self.length - block * BLOCK]


def _severity(severity: ArrayLike) -> NDArray[np.float64]:
    s = np.asarray(severity, np.float64)
    if s.ndim != 1 or not len(s):
        raise ValueError(f"severity has shape {s.shape}, expected one number a frame (T,), T >= 1")
    outside = np.flatnonzero(~((s >= 0) & (s <= MAX_SEVERITY)))  # NaN is outside too
    if len(outside):
        raise ValueError(f"severity is {s[outside[0]]} in frame {outside[0]}, expected [0, {MAX_SEVERITY:g}]")
    return s


def _join(pieces: list[Frames]) -> Frames:
    if len(pieces) == 1:
        return pieces[0]
    columns = ([getattr(piece, name) for piece in pieces] for name in ("image", "realisation", "frame", "severity"))
    return Frames(torch.cat([piece.images for piece in pieces]), *map(np.concatenate, columns))
