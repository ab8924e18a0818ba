"""A filter over a stream of class logits: what every rival, and our own memory, looks like from outside.

    answer_t, state_t = f(z_t, state_{t-1}, u_t),    softmax(answer) are the probabilities shown

z is (R, T, K): R streams of T frames over K classes, or (R, K) for one frame. The state holds one row a stream; None
means that nothing has been seen. u, the gate's command (R, T), is for filters that use it; rivals do not.
`step` is a `run` of one frame, and a stream that is cut anywhere goes on bit for bit.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from knob_core._arrays import checks as check

Scale = Literal["log", "logit", "linear", "int"]
Floats = NDArray[np.float64]


class Range(NamedTuple):
    """Where a parameter is searched, and on which scale its steps are equal; "int" steps are equal in log."""

    low: float
    high: float
    scale: Scale


class Filter:
    """Checks what comes in and leaves the arithmetic to `_run`. Subclasses are frozen dataclasses."""

    NAME: ClassVar[str]  # in words
    KNOWN_AS: ClassVar[str] = ""  # how a user of the rule knows it
    PARAMETERS: ClassVar[dict[str, Range]]  # what the tuner may choose
    SWEEP: ClassVar[str | None]  # the parameter that trades calm against alert; None where there is nothing to turn

    def step(self, z: Any, state: Any = None, u: Any = None) -> tuple[Floats, Any]:
        """One frame of many streams: z (R, K), u (R,) -> (answer (R, K), state)."""
        z = check.real_array("z", z)
        if z.ndim != 2:
            raise ValueError(f"z must be one frame (R, K), got shape {z.shape}")
        answer, state = self.run(z[:, None], state, None if u is None else np.asarray(u)[:, None])
        return answer[:, 0], state

    def run(self, z: Any, state: Any = None, u: Any = None) -> tuple[Floats, Any]:
        """All frames: z (R, T, K), u (R, T) -> (answer (R, T, K), state after the last frame)."""
        z = check.real_array("z", z)
        if z.ndim != 3 or z.shape[2] < 2:
            raise ValueError(f"z must be (R, T, K) with K >= 2, got shape {z.shape}")
        if u is not None:
            u = check.real_array("u", u).astype(np.float64)
            if u.shape != z.shape[:2]:
                raise ValueError(f"u must have shape {z.shape[:2]}, got {u.shape}")
        z = np.ascontiguousarray(z, np.float64)
        if state is not None and len(state[0]) != len(z):
            raise ValueError(f"the state has {len(state[0])} streams, z has {len(z)}")
        return self._run(z, state, u)

    def _run(self, z: Floats, state: Any, u: Floats | None) -> tuple[Floats, Any]:
        raise NotImplementedError

    def _require(self, name: str, low: float, high: float = np.inf, *, above: bool = False) -> None:
        """The field is a finite number in [low, high], or above low; it is kept as a plain float."""
        object.__setattr__(self, name, float(check.knob(name, getattr(self, name), low, above=above, high=high)))

    def _require_offsets(self) -> None:
        """The field `offsets` is a tuple of finite numbers, as plain floats."""
        offsets = check.real_numbers("offsets", self.offsets).tolist() if len(self.offsets) else []  # type: ignore[attr-defined]
        if not np.isfinite(offsets).all():
            raise ValueError(f"offsets must be finite, got {offsets}")
        object.__setattr__(self, "offsets", tuple(offsets))

    def _offset(self, z: Floats) -> Floats:
        """z with the offset of each class added."""
        offsets: tuple[float, ...] = self.offsets  # type: ignore[attr-defined]
        if offsets and len(offsets) != z.shape[-1]:
            raise ValueError(f"offsets has {len(offsets)} numbers, expected one for each of {z.shape[-1]} classes")
        return z + np.array(offsets) if offsets else z

    def _require_int(self, name: str, low: int, high: int) -> None:
        object.__setattr__(self, name, check.whole_number(name, getattr(self, name), low, high))
