"""The knobs that lessons turn: the console's two knobs, and a few of their own.

Damping begins at 0 here and has even steps below 0.05: where a lesson is about little damping, a step must be small.
"""

from __future__ import annotations

from typing import Any

from app.widgets.knobs import CRITICAL, KNOBS

_ZETA, OMEGA_N = KNOBS
ZETA: dict[str, Any] = {
    **_ZETA, "low": 0.0, "even_below": 0.05, "ticks": [0, *_ZETA["ticks"]],
    "zones": [[0, CRITICAL[0], "under"], *_ZETA["zones"][1:]],
}  # fmt: skip
FRAME_RATE: dict[str, Any] = {
    "id": "frame_rate", "symbol": "fps", "name": "camera", "low": 10.0, "high": 60.0, "home": 30.0, "unit": "frames/s",
    "words": ["few", "many"], "ticks": [10, 20, 30, 40, 50, 60],
    "zones": [[10, 24, "slow"], [24, 60, "middle"]],
    "help": "How many frames the camera takes a second. Drag up or right, or type a number.",
}  # fmt: skip
RHYTHM: dict[str, Any] = {
    "id": "rhythm", "symbol": "n", "name": "rhythm", "low": 1.0, "high": 30.0, "home": 12.0, "unit": "frames",
    "words": ["hasty", "patient"], "ticks": [1, 2, 3, 5, 10, 20, 30], "zones": [[1, 30, "middle"]],
    "help": (
        "Frames between one turn of the knob and the next (rounded to whole frames). Drag it, or type a number."
    ),
}  # fmt: skip
ATTENTION: dict[str, Any] = {
    "id": "attention", "symbol": "b", "name": "attention", "low": 0.0, "high": 8.0, "home": 0.0, "unit": "",
    "even_below": 1.0, "words": ["deaf", "all ears"], "ticks": [0, 1, 2, 4, 8], "zones": [[0, 8, "middle"]],
    "help": (
        "How strongly a frame that contradicts the memory turns ωₙ up; 0: not at all. Drag it, or type a number."
    ),
}  # fmt: skip
THIRD: dict[str, Any] = {
    "id": "third", "symbol": "r", "name": "third pole", "low": 0.2, "high": 20.0, "home": 20.0, "unit": "ωₙ",
    "words": ["third order", "second order"], "ticks": [0.2, 0.5, 1, 2, 5, 10, 20], "zones": [[0.2, 20, "middle"]],
    "help": (
        "Where the third pole is, in units of ωₙ: far out (20) it does nothing, near 1 it counts as much as the other "
        "two. Drag it, or type a number."
    ),
}  # fmt: skip
