"""What a panel draws from, and how its numbers are written."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from app.console.compared import Compared
from app.console.pins import Pin
from app.console.setting_words import acting_gate
from knob_core.branches import Branches
from knob_core.gates import Gate
from knob_core.response import gate_alone
from knob_core.settings import Settings


class Judged(NamedTuple):
    """Answers whose truth is known, over all paths: (N,) each, now and without Knob."""

    confidence: np.ndarray
    correct: np.ndarray
    confidence_without: np.ndarray
    correct_without: np.ndarray


@dataclass(frozen=True)
class PanelInput:
    """One image's paths under the present setting."""

    settings: Settings
    method: str
    u: np.ndarray  # (r, T)
    u_star: np.ndarray  # (r, T)
    severity: np.ndarray  # (T,)
    newest: int | None = None  # live: the frame drawn last
    pin: Pin | None = None  # the one that is drawn
    changing: bool = False  # the picture changes
    probe: tuple[Branches, str] | None = None  # where it does: a fixed picture's paths, and its name
    judged: Judged | None = None  # None where nothing is labelled
    compared: list[Compared] | None = None  # the table's rows, where it is open
    sort: str = ""  # the table's order
    refused: str = ""  # why a pin in the table did not get its new name
    reset_reference: float | None = None  # the form of the model's Reset Mode

    @property
    def drawn(self) -> str:
        """The name of the pin that is drawn."""
        return self.pin.name if self.pin else ""

    def on_fixed_picture(self) -> tuple[PanelInput | None, str]:
        """(What the gate's step and tone are measured on, its name in words); None where there is nothing to measure.

        Where the picture changes the gate is moved by the pictures too, so that a fixed one stands in for it.
        """
        if not self.changing:
            return self, "this stream"
        if self.probe is None:
            return None, ""
        branches, name = self.probe
        u = gate_alone(branches.u_star, self.settings, self.method, self.reset_reference)
        fixed = replace(self, u=u, u_star=branches.u_star, severity=branches.severity, changing=False)
        return fixed, f"a fixed picture ({name})"

    @property
    def acting(self) -> Gate:
        """The gate that acts from frame to frame."""
        return acting_gate(self.settings, self.method)


def frames_text(value: float) -> str:
    """`12.0 frames`, or a dash."""
    return f"{value:.1f} frames" if np.isfinite(value) else "–"


def seconds_text(frames: float, frame_rate: float) -> str:
    """Frames as seconds, or nothing."""
    return f"{frames / frame_rate:.2f} s" if np.isfinite(frames) else ""


def decibels_text(gain: float) -> str:
    """`−3.0 dB`."""
    return f"{20 * np.log10(gain):.1f} dB".replace("-", "−")


def complex_text(z: complex) -> str:
    """`0.512 + 0.300j`, or the real part alone."""
    if abs(z.imag) <= 5e-4:
        return f"{z.real:.3f}".replace("-", "−")
    sign = "+" if z.imag >= 0 else "−"
    return f"{z.real:.3f} {sign} {abs(z.imag):.3f}j".replace("-", "−")
