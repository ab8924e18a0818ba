"""One generator for each named piece of work, so that no result depends on how the work was cut.

The state is a hash of (seed, names and numbers of the piece): pieces are independent, and each can be redone alone.
"""

from __future__ import annotations

import hashlib

import torch

from knob_core._arrays.checks import whole_number

MAX_SEED = 2**63 - 1


def generator(device: str | torch.device, seed: int, *piece: int | str) -> torch.Generator:
    """The generator of one piece of work; a device has its own random numbers."""
    seed = whole_number("seed", seed, 0, MAX_SEED)
    name = repr([part if isinstance(part, str) else int(part) for part in (seed, *piece)])
    state = int.from_bytes(hashlib.sha256(name.encode()).digest()[:8], "little")
    return torch.Generator(device=device).manual_seed(state)
