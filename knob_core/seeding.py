"""One generator for each named piece of work, so that no result depends on how the work was cut.

The state is a hash of (seed, names and numbers of the piece): pieces are independent, and each can be redone alone.
"""

from __future__ import annotations

import zlib

import numpy as np
import torch

MAX_SEED = 2**63 - 1


def generator(device: str | torch.device, seed: int, *piece: int | str) -> torch.Generator:
    """The generator of one piece of work; a device has its own random numbers."""
    if isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or not 0 <= seed <= MAX_SEED:
        raise ValueError(f"seed is {seed!r}, expected a whole number in [0, {MAX_SEED}]")
    numbers = [zlib.crc32(part.encode()) if isinstance(part, str) else int(part) for part in piece]
    (state,) = np.random.SeedSequence([int(seed), *numbers]).generate_state(1, np.uint64)
    return torch.Generator(device=device).manual_seed(int(state))
