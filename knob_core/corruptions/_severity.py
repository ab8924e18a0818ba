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


def blend(render: Callable[[Tensor], Tensor], severity: Tensor) -> Tensor:
    """(1 - f) render(floor s) + f render(ceil s): how a setting that only exists at whole severities becomes continuous."""
    lo = severity.floor()
    f = severity - lo
    low = render(lo)
    if not any_true(f > 0):
        return low
    f = f.to(low.dtype).view(-1, 1, 1, 1)
    return low * (1 - f) + render(severity.ceil()) * f
