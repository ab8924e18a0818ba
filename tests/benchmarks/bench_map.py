"""The map of 33 x 33 settings beside a plain loop over response and measures, and how soon it shows."""

from __future__ import annotations

import time

import change_branches
import numpy as np

from knob_core.maps import Grid, ManySettings, refine
from knob_core.measures.change import measure
from knob_core.response import respond
from knob_core.settings import Settings

PATHS, FRAMES, CLASSES = 8, 240, 10
LOOPED = 60  # settings that the loop is timed over
CORES = 2  # that the map uses; the loop has one


def test_a_map_shows_itself_at_once_and_costs_no_more_than_a_loop() -> None:
    branches = change_branches.made_up(PATHS, FRAMES, CLASSES, dtype=np.float32)
    many = ManySettings(branches)
    many.measure(np.ones(1), np.ones(1))  # compiles, or finds what was compiled
    bare, grid = respond(branches, Settings(on=False))[0].predicted, Grid()
    places = np.random.default_rng(0).integers(grid.size, size=(LOOPED, 2))
    used = time.process_time()
    for i, j in places:
        chosen = Settings(zeta=float(grid.zetas[i]), omega_n=float(grid.omegas[j]))
        measure(branches, respond(branches, chosen)[0], bare)
    loop = grid.size**2 / LOOPED * (time.process_time() - used)
    began, busy, first = time.perf_counter(), time.process_time(), 0.0
    for step in refine([many], grid, threads=CORES):
        if step.map is not None and not first:
            first = time.perf_counter() - began
    whole, busy = time.perf_counter() - began, time.process_time() - busy
    print(
        f"\n{grid.size} x {grid.size} settings x all measures over {PATHS} x {FRAMES} frames: {whole:.1f} s on {CORES} "
        f"cores, {busy:.1f} CPU seconds, first picture after {first:.2f} s; a loop takes {loop:.1f} CPU seconds"
    )
    assert busy <= 1.3 * loop
    assert first <= 0.3 and busy <= 3.0
