"""What an operator gets on a stream: every method, plain memory, and smoothing of the probabilities from outside.

Rows of measures (flips, jitter, lag, confident errors, NLL, ECE) and the trade-off between flips and lag. Still images
never charge memory for its inertia, so lag is also measured at a cut: in the middle of a step's bad stretch every path
is given another image, and the frames are counted until the new class has made 63 % (95 %) of its way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from knob_core import methods, theory
from knob_core.branches import Branches
from knob_core.measures.stability import jitter, lag, measure, steps
from knob_core.response import Response, respond
from knob_core.rivals import smoothing
from knob_core.settings import Settings

FIRST = 30  # frames in which every state comes in from rest; not measured
HOME = Settings(zeta=0.7, omega_n=0.4, memory="off")  # where the published tables were made
OFF = Settings(on=False, memory="off")  # frame by frame

# The trade-off's sweeps.
OMEGAS = tuple(float(x) for x in np.geomspace(0.05, 3.0, 15).round(4))  # rad/frame
ZETAS = (0.7, 1.0)
CUTOFFS = tuple(float(x) for x in np.geomspace(0.003, 0.5, 15).round(5))  # cycles/frame, of the one-euro filter
BETAS = (0.0, 0.1, 1.0)  # cycles/frame for a speed of 1/frame
ONE_EURO_BETA = 0.1  # of the table

Variant = Callable[[dict[str, Branches]], tuple[Branches, Response]]


def gated(method: str, settings: Settings) -> Variant:
    """A method under a setting of the knobs."""
    return lambda by_method: (by_method[method], respond(by_method[method], settings, method)[0])


def smoothed(method: str, smooth: Callable[[np.ndarray], np.ndarray]) -> Variant:
    """A method frame by frame, its probabilities smoothed afterwards; it has no gate to speak of."""

    def run(by_method: dict[str, Branches]) -> tuple[Branches, Response]:
        plain = respond(by_method[method], OFF, method)[0]
        p = smooth(plain.probabilities)
        none = np.full(p.shape[:2], np.nan)
        return by_method[method], Response(none, none, none, p, p.max(axis=-1), p.argmax(axis=-1))

    return run


def home_lag() -> float:
    """Frames until the home setting has made 63 % of a step: what the smoothers of the table are matched to."""
    y = theory.step_response(HOME.zeta, HOME.omega_n, 200)
    return float(np.flatnonzero(y >= 0.63)[0])


def unturned(method: str) -> Settings:
    """What a method runs with when no knob is turned: home where its gate has inertia, else frame by frame."""
    return HOME if methods.get(method).gate.inertia else OFF


def variants(trained: dict[str, Settings], known: Iterable[str] = methods.METHODS) -> dict[str, Variant]:
    """The rows of the table for the `known` methods; `trained` holds the knobs that a method learnt."""
    with_memory = replace(HOME, memory="plain")
    matched = 1 / max(home_lag(), 1.0)  # rad/frame: a first-order lag of so many frames
    found = {
        **{method: gated(method, unturned(method)) for method in methods.METHODS if method in known},
        "knob-ode + memory": gated("knob-ode", with_memory),
        "static + memory": gated("static", with_memory),
        "knob-ia + EMA of p": smoothed("knob-ia", lambda p: smoothing.ema(p, matched)),
        "knob-ia + one-euro of p": smoothed(
            "knob-ia", lambda p: smoothing.one_euro(p, matched / (2 * np.pi), ONE_EURO_BETA)
        ),
        "static + EMA of p": smoothed("static", lambda p: smoothing.ema(p, matched)),
    }
    for method, settings in trained.items():
        found[f"{method}, trained knobs"] = gated(method, settings)
    return found


def row(variant: Variant, by_method: dict[str, Branches]) -> dict[str, float]:
    """All measures of one variant on one stream, after the first frames; the gate's own beside the output's."""
    branches, response = variant(by_method)
    severity = branches.severity[FIRST:]
    g, p_max = response.g[:, FIRST:], response.p_max[:, FIRST:]
    found = asdict(measure(branches, response, FIRST))
    found["gate_lag63"], found["gate_lag95"] = found.pop("lag63"), found.pop("lag95")
    return {
        **found,
        "gate_jitter": jitter(g, severity),
        "output_lag63": lag(p_max, severity, 0.63),
        "output_lag95": lag(p_max, severity, 0.95),
        **cut_lags(variant, by_method),
    }


def cut_lags(variant: Variant, by_method: dict[str, Branches]) -> dict[str, float]:
    """Frames after a change of the picture until the output has followed; NaN where the stream has no step."""
    severity = next(iter(by_method.values())).severity
    stretches = steps(severity)
    if not stretches:
        return {"cut_lag63": np.nan, "cut_lag95": np.nan}
    start, end = max(stretches, key=lambda stretch: stretch[1] - stretch[0])
    frame = (start + end) // 2
    branches, response = variant({method: cut(b, frame) for method, b in by_method.items()})
    new = np.roll(branches.labels, len(branches.labels) // 2)
    changes = new != branches.labels
    p = response.probabilities[changes, :, new[changes]].mean(axis=0)  # (T,) of the new class
    before, after = p[start + (frame - start) // 2 : frame].mean(), p[(frame + end) // 2 : end].mean()
    way = (p[frame:end] - before) / (after - before)
    found = {}
    for name, part in (("cut_lag63", 0.63), ("cut_lag95", 0.95)):
        arrived = np.flatnonzero(way >= part)
        found[name] = float(arrived[0]) if len(arrived) else np.nan
    return found


def cut(branches: Branches, frame: int) -> Branches:
    """From `frame` on every path shows what another one does, half of the paths away; labels stay those before."""
    shift = len(branches.labels) // 2
    later = np.arange(len(branches.severity)) >= frame
    arrays = (branches.z_static, branches.z_dyn, branches.u_star[..., None])
    z_static, z_dyn, u_star = (np.where(later[:, None], np.roll(a, shift, axis=0), a) for a in arrays)
    return Branches(z_static, z_dyn, u_star[..., 0], branches.labels, branches.severity)


def table(
    by_method: dict[str, Branches], trained: dict[str, Settings], context: dict[str, Any]
) -> Iterator[dict[str, Any]]:
    """One row for each variant on one stream."""
    for name, variant in variants(trained, by_method).items():
        yield {**context, "variant": name, **row(variant, by_method)}


def trade_off(by_method: dict[str, Branches], context: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The same measures along each sweep of the settings."""
    for family, setting, variant in sweeps():
        yield {**context, "family": family, **setting, **row(variant, by_method)}


def sweeps() -> Iterator[tuple[str, dict[str, float], Variant]]:
    yield "knob-ia frame by frame", {}, gated("knob-ia", OFF)
    for omega in OMEGAS:
        for zeta in ZETAS:
            setting = {"zeta": zeta, "omega_n": omega}
            yield "knob-ode", setting, gated("knob-ode", Settings(zeta, omega, memory="off"))
            yield "knob-ode + memory", setting, gated("knob-ode", Settings(zeta, omega, memory="plain"))
            yield "static + memory", setting, gated("static", Settings(zeta, omega, memory="plain"))
        yield "knob-ia + EMA of p", {"omega_n": omega}, smoothed("knob-ia", _ema(omega))
    for cutoff in CUTOFFS:
        for beta in BETAS:
            setting = {"min_cutoff": cutoff, "beta": beta}
            yield "knob-ia + one-euro of p", setting, smoothed("knob-ia", _one_euro(cutoff, beta))


def _ema(omega: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda p: smoothing.ema(p, omega)


def _one_euro(cutoff: float, beta: float) -> Callable[[np.ndarray], np.ndarray]:
    return lambda p: smoothing.one_euro(p, cutoff, beta)
