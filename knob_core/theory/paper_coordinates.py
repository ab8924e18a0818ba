"""The paper's own state [u, du/dt], for the lesson that shows why Knob does not use it.

x_t = A_d x_{t-1} + B_d u_star_t,  A_d = (I - dt/2 A)^-1 (I + dt/2 A),  A = [[0, 1], [-omega_n^2, -2 zeta omega_n]]
(paper, equations 3 and 4). With constant knobs it is the gate of `knob_core.gate`. When omega_n moves, what is stored
in du/dt is read anew against every omega_n: turning the knob pumps it, as a child pumps a swing, without limit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from knob_core._arrays import checks as check
from knob_core._arrays.broadcasting import by_frame, initial_state, lead_shape
from knob_core.gate import coefficients


def run_paper_coordinates(
    u_star: Any, zeta: Any, omega_n: Any, dt: Any = 1.0, state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """u (..., T) and the last [u, du/dt] (..., 2); arguments as in `gate.run`. What grows past 1e308 is infinite."""
    x = check.real_array("u_star", u_star, min_ndim=1)
    zeta, omega_n, dt = check.knobs(zeta, omega_n, dt)
    frames, lead = x.shape[-1], lead_shape("u_star", x, zeta=zeta, omega_n=omega_n, dt=dt)
    u, du = np.moveaxis(initial_state(state, (*lead, 2), x, 0.0), -1, 0)
    a, b = coefficients(zeta, omega_n, dt)  # of [u, v], v = du / omega_n
    moving = (x, omega_n, a[..., 0, 0], a[..., 0, 1], a[..., 1, 0], a[..., 1, 1], b[..., 0], b[..., 1])
    us = []
    with np.errstate(over="ignore", invalid="ignore"):
        for x_t, w, a11, a12, a21, a22, b1, b2 in zip(*(by_frame(m, frames) for m in moving), strict=True):
            u, du = a11 * u + a12 / w * du + b1 * x_t, w * a21 * u + a22 * du + w * b2 * x_t
            us.append(u)
    return np.stack(us, -1), np.stack([u, du], -1)
