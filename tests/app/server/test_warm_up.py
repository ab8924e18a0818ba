"""What is compiled in advance is what the Tune page runs."""

from __future__ import annotations

from app.server import warm_up
from knob_core.maps import _lanes, _tally


def test_the_kernels_of_the_map_are_compiled() -> None:
    warm_up.compile_maps()
    for kernel in (_lanes.attend_lanes, _tally.tally):
        assert getattr(
            kernel, "signatures", True
        )  # numba's list of compiled forms; NumPy's form where numba is missing
