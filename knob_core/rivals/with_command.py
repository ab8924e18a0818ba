"""The strong filters with the gate's command: a frame that the network itself trusts less counts for less.

z <- z exp(slope u), u the command u* of the frame; the filter's own temperature makes up for u's mean.
They know what our own filter knows. Without u, as for a model that has none, they are the filters they come from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from knob_core.rivals.base import Filter, Floats, Range
from knob_core.rivals.change_point import ChangePoint
from knob_core.rivals.cusum import Cusum
from knob_core.rivals.hmm import Hmm

SLOPE = Range(0.03, 3.0, "log")
LARGEST = 5.0  # of |slope u|


def sharpen(z: Floats, u: Floats | None, slope: float) -> Floats:
    """z exp(slope u), (R, T, K)."""
    return z if u is None else z * np.exp(np.clip(slope * u, -LARGEST, LARGEST))[..., None]


class Sharpened(Filter):
    """Put before a filter's class: its logits are sharpened first."""

    slope: float

    def __post_init__(self) -> None:
        super().__post_init__()  # type: ignore[misc]
        self._require("slope", 0)

    def _run(self, z: Floats, state: Any, u: Floats | None) -> tuple[Floats, Any]:
        return super()._run(sharpen(z, u, self.slope), state, u)


@dataclass(frozen=True)
class HmmWithCommand(Sharpened, Hmm):
    """Frames of less trust have flatter likelihoods."""

    slope: float = 1.0

    NAME: ClassVar = "HMM forward filter, with u*"
    PARAMETERS: ClassVar = {**Hmm.PARAMETERS, "slope": SLOPE}


@dataclass(frozen=True)
class CusumWithCommand(Sharpened, Cusum):
    """Frames of less trust weigh less in the mean and contradict it less."""

    slope: float = 0.5

    NAME: ClassVar = "CUSUM with reset, with u*"
    PARAMETERS: ClassVar = {**Cusum.PARAMETERS, "slope": SLOPE}


@dataclass(frozen=True)
class ChangePointWithCommand(Sharpened, ChangePoint):
    """Frames of less trust vote for several classes at once."""

    slope: float = 0.5

    NAME: ClassVar = "Bayesian change-point, with u*"
    PARAMETERS: ClassVar = {**ChangePoint.PARAMETERS, "slope": SLOPE}
