"""Probe E-3 as rows: the gate's Bode plot, the whole model's, and the step with its quartiles, beside theory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from knob_core import methods, metrics
from knob_core.branches import Branches
from knob_core.probes import dynamics
from knob_core.response import respond
from knob_core.settings import Settings
from train.measuring import stream_images

GATE_FREQUENCIES = np.geomspace(0.002, 0.45, 24).round(6)  # cycles/frame
GATE_SETTINGS = ((0.7, 0.4), (1.0, 0.4), (0.2, 0.8), (2.0, 0.2), (0.7, 1.5))  # (zeta, omega_n)
STEP_SETTINGS = ((0.7, 0.4), (1.0, 0.4), (0.3, 0.6))  # shown on the step stream


def _db(h: np.ndarray) -> np.ndarray:
    return 20 * np.log10(np.abs(h))


def gate_bode() -> Iterator[dict[str, Any]]:
    """The gate alone at five settings: measured, theory, and the difference."""
    for zeta, omega_n in GATE_SETTINGS:
        bode = dynamics.gate_bode(zeta, omega_n, GATE_FREQUENCIES)
        for i, freq in enumerate(bode.freq):
            yield {
                "zeta": zeta,
                "omega_n": omega_n,
                "freq": freq,
                "measured_db": _db(bode.measured)[i],
                "theory_db": _db(bode.theory)[i],
                "measured_phase": np.degrees(np.angle(bode.measured[i])),
                "theory_phase": np.degrees(np.angle(bode.theory[i])),
                "error_db": bode.error_db[i],
                "error_degrees": bode.error_degrees[i],
            }


def stream_bode(
    tones: dict[str, Branches], method: str, settings: Settings, context: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """s -> g of one model at continuous and at rounded severities; theory is the gate's own curve."""
    freq = np.array(stream_images.TONES)
    kind = methods.get(method).gate
    acts = settings.on and "zeta" in kind.knobs  # of a first-order gate no theory is written
    ideal = kind.frequency_response(settings.zeta, settings.omega_n, freq)
    for rounded in (False, True):
        units = [stream_images.tone_unit(f, rounded) for f in stream_images.TONES]
        paths = [respond(tones[unit], settings, method)[0].g for unit in units]
        bode = dynamics.stream_bode(paths, freq, stream_images.TONE_FIRST)
        for i in range(len(freq)):
            row = {name: values[i] for name, values in asdict(bode).items()}
            gate_db = _db(ideal)[i] - _db(ideal)[0] if acts else 0.0
            severities = "rounded" if rounded else "continuous"
            yield {**context, "method": method, "severities": severities, **row, "gate_theory_db": gate_db}


def step_curves(
    branches: Branches, method: str, settings: Settings, context: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """Severity, gate and confidence over the frames of the step stream, quartiles over all paths."""
    response, _ = respond(branches, settings, method)
    quartiles = {name: metrics.quartiles(values) for name, values in (("g", response.g), ("p_max", response.p_max))}
    for t in range(len(branches.severity)):
        row: dict[str, Any] = {"frame": t, "severity": branches.severity[t]}
        for name, (q25, median, q75) in quartiles.items():
            row |= {f"{name}_q25": q25[t], f"{name}_median": median[t], f"{name}_q75": q75[t]}
        yield {**context, "method": method, **row}


def step_info(branches: Branches, settings: Settings, context: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Rise, overshoot, settling of the second-order gate's mean path, beside theory, for each step of the stream."""
    response, _ = respond(branches, settings, methods.DEFAULT)
    probes = dynamics.step_probes(response.u, branches.u_star, branches.severity, settings.zeta, settings.omega_n)
    for probe in probes:
        measured, ideal = asdict(probe.measured), asdict(probe.theory)
        for name in measured:
            yield {
                **context,
                "zeta": settings.zeta,
                "omega_n": settings.omega_n,
                "start": probe.start,
                "move": probe.move,
                "measure": name,
                "measured": measured[name],
                "theory": ideal[name],
            }
