"""What one step of a stream says, and how sure it is.

p = softmax(z_fuse / temperature), label = argmax p, p_max = max p; T_eff and CSR as in `knob_core.fusion`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from knob_core import fusion
from knob_core.memories import Remembered
from knob_core.metrics.temperature_scaling import tempered


@dataclass(frozen=True)
class Answer:
    """One frame of N streams; of a single frame, the same without the first axis and as plain numbers."""

    probabilities: np.ndarray  # (N, K)
    label: np.ndarray  # (N,) class, -1 where a stream has never seen a good frame
    p_max: np.ndarray  # (N,)
    g: np.ndarray  # (N,) in [0, 1]
    u: np.ndarray  # (N,)
    u_star: np.ndarray  # (N,) the command that was followed
    t_eff: np.ndarray  # (N,) >= 1, NaN where nothing was seen
    csr: np.ndarray  # (N,) <= 1, NaN where nothing was seen
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


def answer(remembered: Remembered[np.ndarray], seen: np.ndarray, temperature: float, **rest: Any) -> Answer:
    """Say everything about an answer with memory, of streams that have seen (N,) bool a good frame."""
    assert remembered.z_memory is not None and remembered.z_eye is not None  # `advance` of every memory gives both
    fused = fusion.diagnose(remembered.z_memory, remembered.z_eye, remembered.g)
    z = tempered(remembered.z, temperature)
    e = np.exp(z - z.max(axis=-1, keepdims=True))
    probabilities = e / e.sum(axis=-1, keepdims=True)  # (N, K); metrics.softmax adds in an order that depends on N
    return Answer(
        probabilities=probabilities,
        label=np.where(seen, probabilities.argmax(axis=-1), -1),
        p_max=probabilities.max(axis=-1),
        g=remembered.g,
        t_eff=np.where(seen, fused.t_eff, np.nan),
        csr=np.where(seen, fused.csr, np.nan),
        **rest,
    )
