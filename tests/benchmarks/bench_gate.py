"""What the gate costs: against scipy's bare filter, and a whole grid of knobs against python-control.

Times are CPU time of this thread, best of several turns taken alternately, so that a busy machine hits all alike.
"""

from __future__ import annotations

import control
import numpy as np
from scipy.signal import lfilter
from timing import alternately

from knob_core import gate


def test_a_thousand_streams_cost_what_scipys_filter_costs() -> None:
    u_star = np.random.default_rng(0).normal(size=(1000, 10_000))
    zeta, omega_n = 0.7, 0.4
    a, b = gate.coefficients(zeta, omega_n)
    numerator, denominator = [b[0], b[0]], [1.0, -np.trace(a), np.linalg.det(a)]
    np.testing.assert_allclose(gate.run(u_star, zeta, omega_n)[0], lfilter(numerator, denominator, u_star), atol=1e-12)

    single, per_stream = u_star.astype(np.float32), np.full((1000, 1), zeta)
    best = alternately(
        {
            "scipy.signal.lfilter": lambda: lfilter(numerator, denominator, u_star),
            "gate.run, scalar knobs": lambda: gate.run(u_star, zeta, omega_n),
            "gate.run, float32": lambda: gate.run(single, zeta, omega_n),
            "gate.run, knobs per stream": lambda: gate.run(u_star, per_stream, omega_n),
        },
        turns=5,
    )
    bare = best["scipy.signal.lfilter"]
    print("\n1,000 streams x 10,000 frames")
    for name, seconds in best.items():
        print(f"  {name:28} {seconds * 1e3:8.1f} ms   {seconds / bare:5.2f} x lfilter")
    assert best["gate.run, scalar knobs"] <= 1.3 * bare


def test_a_grid_of_knobs_is_fifty_times_faster_than_python_control() -> None:
    streams, frames = 32, 400
    u_star = np.random.default_rng(0).normal(size=(streams, frames))
    zeta, omega_n = np.geomspace(0.05, 3, 64)[:, None, None, None], np.geomspace(0.02, 3, 64)[:, None, None]
    u, _ = gate.run(u_star, zeta, omega_n)  # (64, 64, 32, 400)

    a, b = gate.coefficients(zeta[40, 0, 0, 0], omega_n[30, 0, 0])
    one = control.ss(a, b[:, None], a[:1], b[:1, None], True)
    side_by_side = control.ss(*(np.kron(np.eye(streams), m) for m in (a, b[:, None], a[:1], b[:1, None])), True)
    t = np.arange(frames)
    np.testing.assert_allclose(control.forced_response(one, t, u_star[0]).outputs, u[40, 30, 0], atol=1e-12)
    np.testing.assert_allclose(control.forced_response(side_by_side, t, u_star).outputs, u[40, 30], atol=1e-12)

    best = alternately(
        {
            "gate.run, the whole grid": lambda: gate.run(u_star, zeta, omega_n),
            "forced_response, one stream of one pair": lambda: control.forced_response(one, t, u_star[0]),
            "forced_response, 32 streams of one pair": lambda: control.forced_response(side_by_side, t, u_star),
        },
        turns=3,
    )
    grid, single, block = best.values()
    print(f"\n64 x 64 knobs, {streams} streams x {frames} frames: {grid:.2f} s, {grid / 4096 * 1e6:.0f} us a pair")
    print(f"  against forced_response for each pair and stream      {4096 * streams * single / grid:7.0f} x faster")
    print(f"  against one 32-channel forced_response for each pair  {4096 * block / grid:7.0f} x faster")
    assert 4096 * streams * single >= 50 * grid
