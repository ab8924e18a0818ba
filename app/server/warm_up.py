"""Compile in the background, when the server starts, what the first visitor of *Tune* would have to wait for.

Compiled code is kept on disk (`knob_core._arrays.compiled`), so this takes long once, and a moment ever after.
"""

from __future__ import annotations

import threading

import numpy as np

from knob_core.branches import Branches
from knob_core.maps.many_settings import ManySettings
from knob_core.settings import HOME


def compile_maps() -> None:
    """Measure a stream of eight frames at one setting, with weights and a memory as the console has them."""
    z = np.zeros((1, 8, 3), np.float32)
    stream = Branches(z, z, np.zeros((1, 8), np.float32), np.zeros((1, 8), np.int64), np.zeros(8, np.float32))
    ManySettings(stream).measure(np.array([HOME.zeta]), np.array([HOME.omega_n]))


def start() -> None:
    """In a thread that does not keep the server from ending."""
    threading.Thread(target=compile_maps, daemon=True, name="knob-warm-up").start()
