"""The knobs that lessons turn: the console's two knobs, and a few of their own."""

from __future__ import annotations

from typing import Any

from app.widgets.knobs import KNOBS

ZETA, OMEGA_N = KNOBS
FRAME_RATE: dict[str, Any] = {
    "id": "frame_rate", "symbol": "fps", "name": "camera", "low": 5.0, "high": 60.0, "home": 30.0, "unit": "frames/s",
    "words": ["few", "many"], "ticks": [5, 10, 20, 30, 40, 50, 60],
    "zones": [[5, 24, "slow"], [24, 60, "middle"]],
    "help": "How many frames the camera takes a second. Drag up or right; Shift is fine; or type a number.",
}  # fmt: skip
RHYTHM: dict[str, Any] = {
    "id": "rhythm", "symbol": "n", "name": "rhythm", "low": 1.0, "high": 30.0, "home": 12.0, "unit": "frames",
    "words": ["hasty", "patient"], "ticks": [1, 2, 3, 5, 10, 20, 30], "zones": [[1, 30, "middle"]],
    "help": (
        "Frames between one turn of the knob and the next (rounded to whole frames). Shift is fine; or type a number."
    ),
}  # fmt: skip
