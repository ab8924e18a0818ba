"""The answer to a press of Find, and what it was about: shown later, it may be about something else."""

from __future__ import annotations

from dataclasses import dataclass

from app.tune.map_job import MapRequest
from knob_core.goals import Goals
from knob_core.maps.find import Found
from knob_core.settings import Settings


@dataclass(frozen=True)
class Answer:
    """One setting for these streams and goals."""

    found: Found
    wanted: MapRequest
    goals: Goals

    def holds(self, wanted: MapRequest, settings: Settings) -> bool:
        """Streams, memory, goals and knobs are still those that it speaks of."""
        knobs = (settings.zeta, settings.omega_n) == (self.found.zeta, self.found.omega_n)
        return settings.on and knobs and (self.wanted, self.goals) == (wanted, settings.goals)
