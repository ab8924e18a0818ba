"""All measures of one set of streams at many settings (zeta, omega_n), without keeping what every frame answered.

Equal to `knob_core.response.respond` and `knob_core.measures.change.measure` at each setting, and many times as fast:
LANES settings go through the streams together (`_lanes`), are counted (`_tally`), and leave one number a measure.
"""

from __future__ import annotations

import threading
from dataclasses import fields

import numpy as np

from knob_core import methods
from knob_core._arrays import checks as check
from knob_core.branches import Branches
from knob_core.gates import Gate
from knob_core.maps import _lanes, _tally
from knob_core.measures.change import ChangeMeasures
from knob_core.measures.truth import truth
from knob_core.memories import OFF, PLAIN, Attentive, Inputs
from knob_core.memories.attentive import fused
from knob_core.response import respond
from knob_core.settings import Settings

LANES = 32  # settings side by side
FIELDS = tuple(field.name for field in fields(ChangeMeasures))


class ManySettings:
    """One set of streams, ready to be measured at any knobs. Threads may share it."""

    def __init__(
        self,
        branches: Branches,
        settings: Settings | None = None,
        method: str = methods.DEFAULT,
        attentive: Attentive | None = None,
        same_class: bool = True,
        reset_reference: float | None = None,
    ) -> None:
        """`settings` says all but the knobs: memory, mode, weights.

        `attentive` are the model's own weights, `reset_reference` the form of its Reset Mode (`knob_core.gates`).
        """
        settings = settings or Settings()
        self.gate: Gate = methods.get(method).gate.normalised(reset_reference)
        self.reset = settings.mode == "reset" or not settings.on
        if not settings.on:
            self.gate = self.gate.without_inertia
        self.memory = settings.acting_memory(attentive)
        self.cool = 1 / settings.temperature
        self.labels = np.ascontiguousarray(branches.frame_labels, np.int64)
        without = respond(branches, Settings(on=False), method)[0]
        self.known = truth(self.labels, without.predicted, branches.content, same_class)
        self._own = threading.local()
        self.there = int((self.labels >= 0).sum())
        self.u_star = branches.u_star
        if isinstance(self.memory, Attentive):
            g = methods.get(method).gate.without_inertia.reset(branches.u_star, settings.zeta, settings.omega_n)[1]
            z = fused(Inputs(branches.z_static, branches.z_dyn, branches.u_star, g, g))
            self.z = np.ascontiguousarray(self.memory.clipped(z))
            self.weights = self.memory.weights(self.z.shape[-1])
            self.shared = _lanes.shared(self.z, self.memory.command(branches.u_star), self.weights)
        else:  # the memory is linear, so its inputs may be cooled instead of its answer
            self.z_static = np.ascontiguousarray(branches.z_static, np.float64) * self.cool
            self.z_dyn = np.ascontiguousarray(branches.z_dyn, np.float64) * self.cool

    @property
    def frames(self) -> int:
        """Of all streams together."""
        return self.labels.size

    def measure(self, zeta: np.ndarray, omega_n: np.ndarray) -> dict[str, np.ndarray]:
        """Every measure of `ChangeMeasures` at S settings, each (S,)."""
        zeta, omega_n = (np.ascontiguousarray(x, np.float64) for x in (zeta, omega_n))
        check.knobs(zeta, omega_n, 1.0)
        if zeta.ndim != 1 or zeta.shape != omega_n.shape or not len(zeta):
            raise ValueError(f"zeta and omega_n have shapes {zeta.shape}, {omega_n.shape}, expected one (S,), S >= 1")
        many = len(zeta)
        zeta, omega_n = (np.pad(x, (0, -many % LANES), "edge") for x in (zeta, omega_n))
        parts = [self._measure(zeta[i : i + LANES], omega_n[i : i + LANES]) for i in range(0, many, LANES)]
        return {name: np.concatenate([part[name] for part in parts])[:many] for name in FIELDS}

    def _measure(self, zeta: np.ndarray, omega_n: np.ndarray) -> dict[str, np.ndarray]:
        known, (predicted, p_max, nll, out) = self.known, self._scratch()
        if isinstance(self.memory, Attentive):
            _lanes.attend_lanes(self.z, *self.shared, self.cool, self.labels, self.weights, zeta, omega_n, predicted,
                                p_max, nll)  # fmt: skip
        else:
            assert self.memory in (OFF, PLAIN)
            g = self._gates(zeta, omega_n)
            _lanes.fuse_lanes(self.z_static, self.z_dyn, g, self.labels, self.memory is PLAIN,
                              zeta, omega_n, predicted, p_max, nll)  # fmt: skip
        _tally.tally(predicted, p_max, self.labels, known.both_known, known.start, known.length, known.changed,
                     known.counted, out)  # fmt: skip
        return self._rates(out, nll)

    def _scratch(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, _tally.Tally]:
        """This thread's arrays for LANES settings: predicted, p_max, nll and an empty tally."""
        if not hasattr(self._own, "arrays"):
            shape = (*self.labels.shape, LANES)
            self._own.arrays = (
                np.empty(shape, np.int16),
                np.empty(shape),
                np.empty(LANES),
                _tally.empty(LANES, self.known),
            )
        for sums in self._own.arrays[-1][:-1]:
            sums[:] = 0
        return self._own.arrays

    def _gates(self, zeta: np.ndarray, omega_n: np.ndarray) -> np.ndarray:
        """g (R, T, L)."""
        g, u_star = np.empty((*self.labels.shape, len(zeta))), np.asarray(self.u_star, np.float64)
        for lane, knobs in enumerate(zip(zeta.tolist(), omega_n.tolist(), strict=True)):
            g[..., lane] = self.gate.reset(u_star, *knobs)[1] if self.reset else self.gate.run(u_star, *knobs).g
        return g

    def _rates(self, out: _tally.Tally, nll: np.ndarray) -> dict[str, np.ndarray]:
        lanes, cuts = len(nll), len(out.delays)
        none = np.full(lanes, np.nan)
        ece, floor = none.copy(), none.copy()
        if self.there:
            _tally.sort_keys(out.keys, np.empty(self.there, np.int32))
            _tally.calibration(out.keys, ece, floor)
        steps, judged = self.labels[:, 1:].size, int(self.known.both_known.sum())
        median, ninety = np.quantile(out.delays, [0.5, 0.9], axis=0) if cuts else (none, none)

        def rate(count: np.ndarray, whole: int, scale: float = 1.0) -> np.ndarray:
            return scale * count / whole if whole else none

        return {
            "excess_flips": rate(out.excess, judged, 100.0),
            "false_alarms": rate(out.alarms, judged, 100.0),
            "delay_median": median,
            "delay_90": ninety,
            "delay_mean": rate(out.delays.sum(0), cuts),
            "missed": rate(out.never, cuts),
            "cuts": np.full(lanes, cuts),
            "flips": rate(out.flips, steps, 100.0),
            "sure_wrong": rate(out.sure_wrong, self.there, 100.0),
            "accuracy": rate(out.right, self.there),
            "nll": rate(nll, self.there),
            "ece": ece,
            "ece_floor": floor,
        }
