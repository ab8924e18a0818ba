"""The map of 64 x 64 settings: how much faster than a loop over response and measures, and how soon it shows."""

from __future__ import annotations

import time

import change_branches
import numpy as np

from knob_core.maps import Grid, ManySettings, refine
from knob_core.measures.change import measure
from knob_core.memories import Attentive
from knob_core.response import respond
from knob_core.settings import Settings

WEIGHTS = Attentive(
    a=0.25, b=2.15, c=0.98, d=0.5, tau=0.8, eps=0.0023, t_0=0.14, t_1=2.4, t_2=0.13, t_3=0.05, u_mean=0.45, u_scale=0.7,
    brake=0.4, eye=0.15,
)  # fmt: skip  # none of them 0: nothing can be left out
PATHS, FRAMES, CLASSES = 32, 240, 10
LOOPED = 24  # settings that the loop is timed over
CORES = 2  # that the map uses; the loop has one


def test_a_map_is_twenty_times_as_fast_as_a_loop_and_shows_itself_at_once() -> None:
    branches = change_branches.made_up(PATHS, FRAMES, CLASSES, dtype=np.float32)
    settings = Settings(weights=WEIGHTS)
    many = ManySettings(branches, settings)
    many.measure(np.ones(1), np.ones(1))  # compiles, or finds what was compiled
    bare = respond(branches, Settings(on=False))[0].predicted

    def looped(zeta: float, omega_n: float) -> None:
        chosen = Settings(weights=WEIGHTS, zeta=zeta, omega_n=omega_n)
        measure(branches, respond(branches, chosen)[0], bare)

    grid = Grid(size=64)
    looped(1.0, 0.4)
    places = np.random.default_rng(0).permutation(grid.size)[:LOOPED]
    began, used = time.perf_counter(), time.process_time()
    for place in places:
        looped(float(grid.zetas[place]), float(grid.omegas[-place - 1]))
    scale = grid.size**2 / LOOPED
    loop, loop_cpu = scale * (time.perf_counter() - began), scale * (time.process_time() - used)
    began, busy, first = time.perf_counter(), time.process_time(), 0.0
    for step in refine([many], grid, threads=CORES):
        if step.map is not None and not first:
            first = time.perf_counter() - began
    whole, busy = time.perf_counter() - began, time.process_time() - busy
    print(
        f"\n64 x 64 settings x all measures over {PATHS} x {FRAMES} frames: {busy:.1f} CPU seconds ({whole:.1f} s "
        f"by the clock on {CORES} cores, first picture after {first:.2f} s); a loop takes {loop:.0f} s by the clock, "
        f"{loop_cpu:.0f} CPU seconds: {loop / whole:.1f} times as long by the clock, {loop_cpu / busy:.1f} in CPU time"
    )
    assert loop / whole >= 20  # wants an idle machine
    assert first <= 1.0 and whole <= 10.0
