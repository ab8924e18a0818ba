"""What one step of a stream says, and how sure it is.

label = argmax p, p_max = max p of the answer; T_eff and CSR of the frame's fusion, as in `knob_core.fusion`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Answer:
    """One frame of N streams; of a single frame, the same without the first axis and as plain numbers."""

    probabilities: np.ndarray  # (N, K)
    label: np.ndarray  # (N,) class, -1 where a stream has never seen a good frame
    p_max: np.ndarray  # (N,)
    g: np.ndarray  # (N,) in [0, 1]
    u: np.ndarray  # (N,)
    u_star: np.ndarray  # (N,) the command that was followed
    omega: np.ndarray  # (N,) the natural frequency that acted, rad/frame
    t_eff: np.ndarray  # (N,) >= 1, NaN where nothing was seen
    csr: np.ndarray  # (N,) <= 1, NaN where nothing was seen
    disagreement: np.ndarray  # (N,) frames in a row whose own class was another one than the label
    missing: np.ndarray  # (N,) bool: no good frame this time, the last one was held
    age: np.ndarray  # (N,) frames since the last good frame, 0 now
    zeta: float  # the knobs that acted, both of one turn; (N,) where every stream has its own
    omega_n: float  # rad/frame, alike

    def single(self) -> Answer:
        """The only stream's answer, as plain numbers."""
        values: dict[str, Any] = {field.name: getattr(self, field.name) for field in fields(self)}
        return Answer(**{name: _first(value) for name, value in values.items()})


def _first(value: Any) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return value[0] if value.ndim > 1 else value[0].item()
