"""Computing a map in the background: coarse at first, then finer, with progress and cancel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from app.console.shown_stream import ShownStream
from app.server.background_jobs import Job, Jobs
from app.widgets.knobs import OMEGA_N, ZETA
from knob_core import methods
from knob_core.goals import Goals
from knob_core.maps import MEASURES, Grid, ManySettings, SettingsMap, refine
from knob_core.maps.frontier import RivalCurve, rival_curves
from knob_core.settings import Settings
from knob_core.tuning.streams import of_branches

PLACES = 33  # on each axis
GRID = Grid(ZETA, OMEGA_N, PLACES)


@dataclass(frozen=True)
class MapRequest:
    """Which streams, and all of the setting but the knobs; equal requests share a job."""

    ids: tuple[str, ...]  # of the streams
    settings: Settings  # with the knobs at home
    rivals: bool  # those that ship were tuned for this model
    private: bool  # the streams are a visitor's own
    streams: tuple[ShownStream, ...] = field(compare=False, repr=False, default=())


@dataclass(frozen=True)
class Charted:
    """A map as far as it is, and what it was measured on."""

    map: SettingsMap
    sets: tuple[ManySettings, ...]
    rivals: tuple[RivalCurve, ...] = ()
    off: dict[str, float] = field(default_factory=dict)  # every measure without Knob, in the worst set of streams


def request(streams: tuple[ShownStream, ...], settings: Settings, shipped: bool) -> MapRequest:
    """A map of these streams under the present memory and mode. `shipped`: they are of a model that ships."""
    home = Settings()
    kept = replace(settings, zeta=home.zeta, omega_n=home.omega_n, on=True, goals=Goals(), frame_rate=home.frame_rate)
    rivals = shipped and all(methods.get(stream.method).gate.gated for stream in streams)
    return MapRequest(tuple(stream.id for stream in streams), kept, rivals, not shipped, streams)


def sets_of(wanted: MapRequest, on: bool) -> tuple[ManySettings, ...]:
    """The streams, ready to be measured with or without Knob."""
    settings = replace(wanted.settings, on=on)
    return tuple(
        ManySettings(s.branches, settings, s.method, s.attentive, reset_reference=s.reset_reference)
        for s in wanted.streams
    )


def worst_at(sets: Sequence[ManySettings], knobs: Sequence[tuple[float, float]]) -> list[dict[str, float]]:
    """Every measure at some settings (zeta, omega_n), in the set of streams where it is worst."""
    zeta, omega_n = np.array(knobs).T
    parts = [one.measure(zeta, omega_n) for one in sets]
    values = {name: np.stack([part[name] for part in parts], -1)[:, None] for name in MEASURES}  # (S, 1, N)
    worst = {name: SettingsMap(zeta, omega_n[:1], values).worst(name)[:, 0] for name in MEASURES}
    return [{name: float(worst[name][i]) for name in MEASURES} for i in range(len(knobs))]


def compute(job: Job) -> Charted:
    """Level by level into `job.partial`; rivals come after the first picture."""
    wanted: MapRequest = job.key
    sets = sets_of(wanted, on=True)
    off = worst_at(sets_of(wanted, on=False), [(wanted.settings.zeta, wanted.settings.omega_n)])[0]
    charted: Charted | None = None
    for step in refine(sets, GRID):
        job.go_on()
        job.progress = step.share
        if step.map is not None:
            first = charted is None
            charted = Charted(step.map, sets, off=off) if charted is None else replace(charted, map=step.map)
            job.partial = charted
            if first and wanted.rivals:
                curves = rival_curves([of_branches(stream.branches) for stream in wanted.streams])
                job.partial = charted = replace(charted, rivals=tuple(curves))
    assert charted is not None
    return charted


JOBS = Jobs(compute, private=lambda wanted: wanted.private)
"""The process's maps."""
