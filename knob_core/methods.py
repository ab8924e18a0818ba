"""The methods, once: key, name, gate, colour, marker, and what the paper reports. Free of torch.

Every list of methods (models, menus, report, pictures, tests) is read from `METHODS`; a new method is one row here, and
one class if its gate is of a new kind (`knob_core.gates`) or it mixes its branches without one (`knob_core.models`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from knob_core.gates import FIRST_ORDER, INSTANT, NO_GATE, SECOND_ORDER, Gate
from knob_core.third_order import THIRD_ORDER


class PaperRow(NamedTuple):
    """Tables 1 and 2 of the paper (ResNet-18, CIFAR-10-C with all 19 corruptions, Reset Mode, mean of three runs)."""

    avg_c: float  # percent
    ece_deb: float
    latency_ms: float
    params_m: float  # millions
    gflops: float


@dataclass(frozen=True)
class Method:
    """One method of the family."""

    key: str  # in file names, links and commands
    name: str
    words: str  # what it is, after the name
    gate: Gate
    colour: str  # a name of knob_core.palette
    marker: str  # square, diamond, triangle-up, cross, circle, star ...
    paper: PaperRow | None = None  # None: the paper does not have it

    @property
    def title(self) -> str:
        """Name and what it is, for a menu."""
        return f"{self.name}: {self.words}"


METHODS: dict[str, Method] = {
    method.key: method
    for method in (  # in the paper's order, then ours
        Method("static", "Static", "the robust branch alone", NO_GATE, "static", "square",
               PaperRow(71.25, 0.1553, 3.48, 11.70, 0.5584)),
        Method("attention", "Attention", "a mix without a gate", NO_GATE, "severity", "diamond",
               PaperRow(70.45, 0.1648, 3.51, 11.90, 0.5586)),
        Method("knob-ia", "Knob-IA", "the gate, frame by frame", INSTANT, "confidence", "triangle-up",
               PaperRow(72.52, 0.1617, 3.49, 11.77, 0.5585)),
        Method("ode-lite", "ODE-Lite", "a first-order gate", FIRST_ORDER, "under", "cross",
               PaperRow(71.62, 0.1488, 3.64, 11.77, 0.5585)),
        Method("knob-ode", "Knob-ODE", "the second-order gate", SECOND_ORDER, "gate", "circle",
               PaperRow(71.49, 0.1829, 4.41, 11.77, 0.5585)),
        Method("third-order", "Third order", "the gate with a third pole", THIRD_ORDER, "critical", "star"),
    )
}  # fmt: skip
DEFAULT = "knob-ode"  # what a wrapped model runs as, and what opens first
PLAINEST = "static"  # what every cost is a multiple of
GATED = tuple(key for key, method in METHODS.items() if method.gate.gated)


def get(key: str) -> Method:
    """The method of that key."""
    if key not in METHODS:
        raise ValueError(f"method is {key!r}, expected one of {', '.join(METHODS)}")
    return METHODS[key]
