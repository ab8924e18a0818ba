"""No filter: answer = z. What every other row is compared with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from knob_core.rivals.base import Filter, Floats, Range


@dataclass(frozen=True)
class Bare(Filter):
    """Every frame for itself."""

    NAME: ClassVar = "bare"
    KNOWN_AS: ClassVar = "the model as it is"
    PARAMETERS: ClassVar[dict[str, Range]] = {}
    SWEEP: ClassVar = None

    def _run(self, z: Floats, state: Any, u: Floats | None) -> tuple[Floats, Any]:
        return z.copy(), None
