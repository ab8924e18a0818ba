"""What is compiled in advance is what the Tune page runs."""

from __future__ import annotations

from app.server import warm_up
from knob_core._arrays import compiled
from knob_core.memories._loop import follow


def test_the_loop_of_the_map_is_compiled() -> None:
    warm_up.compile_maps()
    assert not compiled.available() or follow.machine_code().signatures  # numba's list of compiled forms
