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


def _dot(a: Tensor, b: Tensor) -> Tensor:
    return torch.linalg.vecdot(a.flatten(1), b.flatten(1)).view(-1, 1, 1, 1)


def blend(images: Tensor, render: Callable[[Tensor], Tensor], severity: Tensor) -> Tensor:
    """Between whole severities, where a setting is whole (passes, grid, photons): x + a ((1 - f) r[lo] + f r[lo + 1]).

    r are the two settings' residuals. Averaging two pictures also averages their errors away, so `a` gives each image
    back the strength (1 - f) rms(r[lo]) + f rms(r[lo + 1]).
    """
    lo = severity.floor()
    low = render(lo)
    if not any_true(severity > lo):
        return low
    f = (severity - lo).to(low.dtype).view(-1, 1, 1, 1)
    before, after = low - images, render(severity.ceil()) - images
    bb, aa, ab = _dot(before, before), _dot(after, after), _dot(before, after)
    mixed = ((1 - f) ** 2 * bb + f**2 * aa + 2 * f * (1 - f) * ab).clamp(min=0).sqrt()
    a = (((1 - f) * bb.sqrt() + f * aa.sqrt()) / mixed.clamp(min=1e-12)).clamp(1, 2)
    return before.mul_(a * (1 - f)).addcmul_(after, a * f).add_(images)
