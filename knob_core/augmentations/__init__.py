"""Random changes of training pictures that keep their class, in batches, on any device; none is a test corruption.

y = spectrum(mixed chains of tone and geometry operations(x)), every draw from one generator.
References: Hendrycks et al., "AugMix" (ICLR 2020); Chen et al., "Amplitude-Phase Recombination" (ICCV 2021).
Which operations are left out, and why: train/PROTOCOL.md.
"""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from knob_core.augmentations import chains, spectrum

OPERATIONS = (*chains.OPERATIONS, *spectrum.OPERATIONS)  # names of everything that can happen to a picture


@torch.no_grad()
def augment(images: Tensor, generator: Generator | None = None) -> Tensor:
    """Images (N, 3, H, W) in [0, 1], each changed by draws of its own; the result lies in [0, 1] again."""
    if images.ndim != 4 or images.shape[1] != 3 or not images.is_floating_point():
        raise ValueError(
            f"images must be floats of shape (N, 3, H, W) in [0, 1], got {images.dtype} {tuple(images.shape)}"
        )
    if not len(images):
        return images.clone()
    return spectrum.perturb(chains.mix(images, generator), generator)
