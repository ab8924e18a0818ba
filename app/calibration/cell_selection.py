"""Which of the shipped predictions are looked at: a model, some corruptions, some severities; and its link form.

A selection is plain values: it keys every cache and stands in the link, where nothing is trusted.
"""

from __future__ import annotations

from dataclasses import dataclass

from app.console.stream_choice import CORRUPTION_NAMES
from knob_core import methods
from knob_core.methods import GATED

SEVERITIES = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Selection:
    """A model and some of its 95 cells."""

    method: str = methods.DEFAULT
    seed: int = 0
    corruptions: tuple[str, ...] = CORRUPTION_NAMES
    severities: tuple[int, ...] = SEVERITIES

    def __post_init__(self) -> None:
        if self.method not in GATED:
            raise ValueError(f"method is {self.method!r}, expected one of {', '.join(GATED)}")
        if not self.corruptions or not set(self.corruptions) <= set(CORRUPTION_NAMES):
            raise ValueError(f"corruptions are {self.corruptions}, expected some of {', '.join(CORRUPTION_NAMES)}")
        if not self.severities or not set(self.severities) <= set(SEVERITIES):
            raise ValueError(f"severities are {self.severities}, expected some of {SEVERITIES}")

    @property
    def knobs_act(self) -> bool:
        """Whether turning does anything."""
        return methods.get(self.method).gate.inertia


HOME = Selection()


def of_model(method: str, seed: int) -> Selection:
    """All cells of the console's model; of the default one where the console's has no gate."""
    return Selection(method, seed) if method in GATED else HOME


def to_link(selection: Selection, home: Selection = HOME) -> str:
    """`knob-ode~0~fog.snow~135`; nothing for what is at home."""
    if selection == home:
        return ""
    corruptions = "" if selection.corruptions == CORRUPTION_NAMES else ".".join(selection.corruptions)
    severities = "" if selection.severities == SEVERITIES else "".join(map(str, selection.severities))
    return f"{selection.method}~{selection.seed}~{corruptions}~{severities}"


def from_link(text: str, home: Selection = HOME) -> tuple[Selection, list[str]]:
    """What a link says, or home and the reason."""
    if not text:
        return home, []
    try:
        method, seed, corruptions, severities = text[:600].split("~")
        names = tuple(dict.fromkeys(corruptions.split("."))) if corruptions else CORRUPTION_NAMES
        ordered = tuple(name for name in CORRUPTION_NAMES if name in names)
        unknown = [name for name in names if name not in CORRUPTION_NAMES]
        if unknown:
            raise ValueError(f"there is no corruption {unknown[0][:40]!r}")
        levels = tuple(sorted({int(level) for level in severities})) if severities else SEVERITIES
        return Selection(method, int(seed), ordered, levels), []
    except ValueError as error:
        return home, [f"cells = {text[:24]!r} in the link cannot be used ({str(error)[:120]})"]
