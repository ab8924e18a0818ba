"""Where networks run: a GPU where there is one, unless a device is named."""

from __future__ import annotations

import torch


def pick(name: str | torch.device = "auto") -> torch.device:
    """The device of that name; "auto" is the first GPU, or the CPU."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    return torch.device(name)
