"""Tables of constants read at a real severity.

c(s) = (1 - f) c[lo] + f c[lo + 1], lo = floor(s), f = s - lo; row 0 of every table is the identity.
Reference: the CIFAR-10-C constants of Hendrycks & Dietterich, "Benchmarking Neural Network Robustness" (ICLR 2019).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

Table = Sequence[Sequence[float]]


def constants(table: Table, severity: Tensor, like: Tensor) -> list[Tensor]:
    """One (N, 1, 1, 1) tensor per column of `table`, linear between its rows; integer severities hit a row exactly."""
    rows = torch.tensor(table, dtype=like.dtype, device=like.device)  # (6, K)
    lo = severity.floor().clamp(max=len(table) - 2)
    f = (severity - lo).to(like.dtype)[:, None]  # (N, 1)
    index = lo.long()
    c = rows[index] * (1 - f) + rows[index + 1] * f  # (N, K)
    return [column.view(-1, 1, 1, 1) for column in c.unbind(1)]


def any_true(mask: Tensor) -> bool:
    """Whether some element holds; on the meta device, where nobody can know, yes."""
    return mask.is_meta or bool(mask.any())


def highest(severity: Tensor) -> int:
    """The table row that bounds every image's; on the meta device the last one."""
    return 5 if severity.is_meta else int(severity.max().ceil())


def _rms(residual: Tensor) -> Tensor:
    return residual.square().mean((1, 2, 3), keepdim=True).sqrt()  # (N, 1, 1, 1)


def blend(images: Tensor, render: Callable[[Tensor], Tensor], severity: Tensor) -> Tensor:
    """Between whole severities, where a setting is whole (passes, grid, photons): x + a ((1 - f) r[lo] + f r[lo + 1]).

    r are the two settings' residuals. Averaging two pictures also averages their errors away, so `a` gives each image
    back the strength (1 - f) rms(r[lo]) + f rms(r[lo + 1]).
    """
    lo = severity.floor()
    low = render(lo)
    if not any_true(severity > lo):
        return low
    high = render(severity.ceil())
    f = (severity - lo).to(low.dtype).view(-1, 1, 1, 1)
    before, after = low - images, high - images
    residual = before * (1 - f) + after * f
    strength = _rms(before) * (1 - f) + _rms(after) * f
    a = torch.where(strength > 0, strength / _rms(residual), 1.0).clamp(1, 2)
    return low * (1 - f) + high * f + (a - 1) * residual
