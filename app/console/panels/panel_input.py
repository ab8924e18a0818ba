"""What a panel draws from, and how its numbers are written."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from app.console.compared import Compared
from app.console.pins import Pin
from app.console.setting_words import acting_gate
from app.console.shown_stream import ShownStream
from knob_core.gates import Gate
from knob_core.response import Response
from knob_core.settings import Settings


@dataclass(frozen=True)
class PanelInput:
    """The stream under the present setting."""

    settings: Settings
    stream: ShownStream
    response: Response  # of all paths
    newest: int | None = None  # live: the frame drawn last
    pin: Pin | None = None  # the one that is drawn
    compared: list[Compared] | None = None  # the table's rows, where it is open
    sort: str = ""  # the table's order
    refused: str = ""  # why a pin in the table did not get its new name

    @property
    def drawn(self) -> str:
        """The name of the pin that is drawn."""
        return self.pin.name if self.pin else ""

    @property
    def gated(self) -> bool:
        return self.stream.gated

    @property
    def remembers(self) -> bool:
        """A memory acts."""
        return self.settings.acting_memory(self.stream.attentive) is not None

    @property
    def acting(self) -> Gate:
        """The gate that acts from frame to frame."""
        return acting_gate(self.settings, self.stream.method)


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
