"""A running mean of the weights, which is what a stage with `average_epochs` ends with.

a <- a + (w - a) / min(t, horizon), t = 1, 2, ... steps: a plain mean first, then one that forgets exponentially.
Running statistics of batch normalisations are averaged alike, so they belong to the weights that stand beside them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn


class WeightAverage:
    """The mean of a model's floating-point state; empty before the first step."""

    def __init__(self, horizon: int) -> None:
        if horizon < 1:
            raise ValueError(f"the horizon of an average must be at least one step, got {horizon}")
        self.horizon = horizon
        self.mean: dict[str, Tensor] = {}

    @torch.no_grad()
    def update(self, model: nn.Module, steps: int) -> None:
        """Take in the weights after so many steps of the stage."""
        now = _floating(model)
        if not self.mean:
            self.mean = {name: value.clone() for name, value in now.items()}
        else:
            ends = [now[name] for name in self.mean]  # a restored mean has an order of its own
            torch._foreach_lerp_(list(self.mean.values()), ends, 1 / min(steps, self.horizon))

    @torch.no_grad()
    def write_to(self, model: nn.Module) -> None:
        """Replace the model's weights; nothing happens before the first step."""
        now = _floating(model)
        for name, value in self.mean.items():
            now[name].copy_(value)

    @contextmanager
    def inside(self, model: nn.Module) -> Iterator[None]:
        """The model with averaged weights for a while, then with its own again."""
        own = {name: value.clone() for name, value in _floating(model).items()}
        self.write_to(model)
        try:
            yield
        finally:
            now = _floating(model)
            with torch.no_grad():
                for name, value in own.items():
                    now[name].copy_(value)


def _floating(model: nn.Module) -> dict[str, Tensor]:
    return {name: value for name, value in model.state_dict().items() if value.is_floating_point()}
