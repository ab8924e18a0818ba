"""Our memory and its rivals, tuned alike on labelled streams: by likelihood, then along the one parameter that calms.

A rung of the ladder has more parameters than the one below it; it is taken where fits to some of the groups do
clearly better on the others, group by group. Offsets follow from counting, o_k grows where class k is shown too
rarely, and the likelihood takes a share of them. The prior of our memory is a standard normal around its home without
labels, set against the number of stretches of one class.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from knob_core import metrics
from knob_core._arrays.top import top1
from knob_core.fitting.listening import BASE, ZETA, measured
from knob_core.fitting.streams import Streams
from knob_core.gates import NO_GATE
from knob_core.measures.change import count
from knob_core.memories import Attentive, Frames
from knob_core.metrics import temperature_scaling
from knob_core.rivals.base import Filter, Floats, Range
from knob_core.tuning import space
from knob_core.tuning.search import minimise

LOST = 0.003  # share of right answers that a memory may cost
FEWEST_GROUPS, MANY_GROUPS = 4, 12  # to judge rungs by; with many, halves will do
SURELY = 0.9  # of Student's t: how sure a better rung must be
LEAST = 0.002  # nats that it must bring
SWEPT = 14  # settings along the one parameter
OFFSET_ROUNDS, OFFSET_STEPS = 2, 4
MOST_HOLDS = 20  # classes up to which holds are tried
THINNED = 2500  # frames that a rival's temperature is fitted on during its search
EVALUATIONS, RIVAL_EVALUATIONS = 24, 40  # of ours for each parameter, and of a rival


@dataclass(frozen=True)
class Contender:
    """What answers, and its place on the way from calm to alert."""

    def probabilities(self, streams: Streams) -> Floats:
        """Of the answer, (R, T, K)."""
        raise NotImplementedError

    def places(self) -> list[Contender]:
        """The same along the one parameter that is swept."""
        raise NotImplementedError


@dataclass(frozen=True)
class OwnMemory(Contender):
    """Attentive memory with its knobs."""

    omega_n: float
    weights: Attentive
    rung: str = ""

    def probabilities(self, streams: Streams) -> Floats:
        frames = Frames(streams.held, streams.held, np.zeros(streams.labels.shape))
        return self.weights.run(frames, NO_GATE, ZETA, self.omega_n, None, streams.lost).probabilities

    def places(self) -> list[Contender]:
        return [replace(self, omega_n=float(x)) for x in np.geomspace(0.02, 8.0, SWEPT)]


@dataclass(frozen=True)
class Rival(Contender):
    """A filter with an output temperature."""

    filter_: Filter
    temperature: float

    def probabilities(self, streams: Streams) -> Floats:
        return metrics.softmax(self.filter_.run(streams.held)[0] / self.temperature)

    def places(self) -> list[Contender]:
        sweep = self.filter_.SWEEP
        if sweep is None:
            return []
        values = {space.value(c, self.filter_.PARAMETERS[sweep]) for c in np.linspace(0, 1, SWEPT)}
        return [replace(self, filter_=replace(self.filter_, **{sweep: x})) for x in sorted(values)]  # type: ignore[type-var]

    @property
    def parameters(self) -> dict[str, Any]:
        """Everything that decides an answer."""
        return {x.name: getattr(self.filter_, x.name) for x in fields(self.filter_)} | {"temperature": self.temperature}  # type: ignore[arg-type]


Fitted = Callable[[Streams, str], Contender]
OWN_RUNGS = ("", "omega tau", "omega tau o", "omega tau o s")


def own(streams: Streams, rung: str) -> OwnMemory:
    """Attentive memory with the parameters of a rung: t_0 and f always; tau and omega_n, offsets o, holds s."""
    start, classes = streams.home, streams.z.shape[2]
    parts, tau = rung.split(), start.weights.tau
    spans = {"t_0": Range(-2.0, 2.0, "linear"), "f": Range(0.0, 0.8, "linear")}
    prior = {"t_0": (0.0, 1.0), "f": (BASE.f, 0.3)}
    if parts:
        spans |= {"tau": Range(0.1 * tau, 10 * tau, "log"), "omega_n": Range(0.02, 8.0, "log")}
        prior |= {"tau": (math.log(tau), 1.0), "omega_n": (math.log(start.omega_n), 0.5)}
    strength = 0.5 / streams.stretches
    at: dict[str, Any] = {name: getattr(start.weights, name, start.omega_n) for name in spans}
    offsets, holds = np.zeros(classes), np.zeros(classes)

    def memory(**at: float) -> OwnMemory:
        t_0 = at["t_0"] + math.log(at.get("tau", tau) / tau)  # flatter frames want a sharper memory
        base = replace(BASE, t_0=t_0, f=at["f"], s=tuple(holds.tolist()) if holds.any() else ())
        o = at.get("share", 1.0) * offsets
        weights = measured(streams.frames, at.get("tau", tau), tuple(o.tolist()) if o.any() else (), base)
        return OwnMemory(at.get("omega_n", start.omega_n), weights, rung)

    def cost(point: np.ndarray) -> float:
        at = space.values(point, spans)
        found = float(streams.losses(memory(**at).probabilities(streams)).mean())
        logs = {name: math.log(x) if spans[name].scale == "log" else x for name, x in at.items()}
        return found + strength * sum(((logs[name] - mean) / sd) ** 2 for name, (mean, sd) in prior.items())

    def search(evaluations: int) -> dict[str, Any]:
        place = np.array([space.place(at[name], span) for name, span in spans.items()])
        best = minimise(cost, place, evaluations, 0, grid=0.0).best
        assert best is not None
        return space.values(best, spans)

    def with_offsets() -> tuple[dict[str, Any], Floats]:
        nonlocal at
        for _ in range(OFFSET_ROUNDS):
            for _ in range(OFFSET_STEPS):
                offsets[:] += at["tau"] * rarer(streams, memory(**at).probabilities(streams))
            spans["share"], prior["share"], at["share"] = (
                Range(0.0, 1.5, "linear"),
                (0.0, at["tau"] / max(float(np.sqrt(offsets @ offsets)), 1e-6)),
                1.0,
            )
            at = search(EVALUATIONS // 2 * len(spans))
            offsets[:] *= at["share"]
            at["share"] = 1.0
        return at, offsets.copy()

    at = streams.once(bool(parts), lambda: search(EVALUATIONS * len(spans)))
    if "o" in parts:
        at, offsets[:] = streams.once("o", with_offsets)
    if "s" in parts:
        sides = dict.fromkeys(map(str, range(classes)), Range(-2.0, 2.0, "linear"))

        def cost_of_holds(point: np.ndarray) -> float:
            holds[:] = list(space.values(point, sides).values())
            return float(streams.losses(memory(**at).probabilities(streams)).mean()) + strength * float(holds @ holds)

        best = minimise(cost_of_holds, np.full(classes, 0.5), 10 + 6 * classes, 0, grid=0.0).best
        assert best is not None
        holds[:] = list(space.values(best, sides).values())
    return memory(**at)


def rarer(streams: Streams, p: Floats) -> Floats:
    """log of how much rarer each class (K,) is shown than it is, counted in stretches; one more of each pulls to 0."""
    classes, stretches = p.shape[2], streams.stretches
    shown = p[streams.labelled].mean(0)
    true = np.bincount(streams.labels[streams.labelled], minlength=classes) / streams.labelled.sum()
    return np.log((stretches * true + 1) / (stretches * shown + 1))


def rungs(kind: type[Filter]) -> tuple[str, ...]:
    """Of a rival."""
    return ("", "o") if "offsets" in {x.name for x in fields(kind)} else ("",)  # type: ignore[arg-type]


def rival(kind: type[Filter], streams: Streams, rung: str, seed: int = 0) -> Rival:
    """The likeliest of the parameters tried, with its temperature, and with offsets where the rung has them."""
    labels = streams.labels[streams.labelled]
    thin = slice(None, None, max(1, len(labels) // THINNED))
    offsets = np.zeros(streams.z.shape[2])

    def at(point: np.ndarray) -> Filter:
        more = {"offsets": tuple(offsets.tolist())} if offsets.any() else {}
        return kind(**space.values(point, kind.PARAMETERS), **more)

    def cost(point: np.ndarray) -> float:
        streams.go_on()
        answer = at(point).run(streams.held)[0][streams.labelled][thin]
        temperature = temperature_scaling.fit(answer, labels[thin], 1e-3)
        return metrics.nll(metrics.softmax(answer / temperature), labels[thin])

    def tempered(filter_: Filter) -> Rival:
        return Rival(filter_, temperature_scaling.fit(filter_.run(streams.held)[0][streams.labelled], labels))

    middle = np.full(len(kind.PARAMETERS), 0.5)
    best = streams.once(kind, lambda: minimise(cost, middle, RIVAL_EVALUATIONS, seed).best)
    assert best is not None
    for _ in range(OFFSET_ROUNDS if "o" in rung else 0):
        for _ in range(OFFSET_STEPS):
            shown = top1(at(best).run(streams.held)[0])
            offsets += rarer(streams, (shown[..., None] == np.arange(len(offsets))).astype(np.float64))
        best = minimise(cost, best, RIVAL_EVALUATIONS // 2, seed, grid=0.0).best
        assert best is not None
    return tempered(at(best))


def chosen(fitted: Fitted, ladder: tuple[str, ...], streams: Streams, max_delay: float, seed: int) -> Contender:
    """Fitted with what is earned, and moved to what the operator asked for."""
    rung = earned(fitted, ladder, streams, seed) if len(ladder) > 1 else ladder[0]
    return moved(fitted(streams, rung), streams, max_delay)


def earned(fitted: Fitted, ladder: tuple[str, ...], streams: Streams, seed: int) -> str:
    """The rung whose fits to some of the groups do clearly better on the others than those below it."""
    best, groups = ladder[0], len(np.unique(streams.groups))
    if groups < FEWEST_GROUPS:
        return best
    folds = [fold for fold in streams.folds(2 if groups >= MANY_GROUPS else 3, seed) if fold[0].stretches]

    def unseen(rung: str) -> tuple[Floats, float]:
        losses, right = [], []
        for known, unseen in folds:
            p = fitted(known, rung).probabilities(unseen)
            losses.append(unseen.by_group(unseen.losses(p)))
            right.append(unseen.accuracy(p))
        return np.concatenate(losses), float(np.mean(right))

    loss, right = unseen(best)
    for rung in ladder[1:]:
        if "s" in rung.split() and (streams.z.shape[2] > MOST_HOLDS or "o" not in best.split()):
            continue
        other, other_right = unseen(rung)
        if clearly(loss - other) and other_right > right - LOST:
            best, loss, right = rung, other, other_right
    return best


def clearly(gains: Floats) -> bool:
    """Whether gains (G,), one a group, are above LEAST on average, and above 0 beyond chance."""
    from scipy.stats import t

    groups = len(gains)
    if groups < 2 or gains.mean() <= LEAST:
        return False
    return bool(gains.mean() > t.ppf(SURELY, groups - 1) * gains.std(ddof=1) / math.sqrt(groups))


def moved(contender: Contender, streams: Streams, max_delay: float) -> Contender:
    """The calmest place that keeps the limit, or, without a limit, the likeliest; none that costs right answers."""
    bare = float((top1(streams.held) == streams.labels)[streams.labelled].mean())
    here = streams.accuracy(contender.probabilities(streams))
    if math.isinf(max_delay) and here >= bare - LOST:
        return contender
    places = [contender, *contender.places()]
    rows = []
    for place in places:
        p = place.probabilities(streams)
        counts = count(np.where(streams.labelled, top1(p), -1), streams.known)
        delay, flips = float(counts.delay_mean), float(counts.excess_flips)
        rows.append((streams.accuracy(p), delay, flips, float(streams.losses(p).mean())))
    right, delay, flips, nll = np.array(rows).T
    late = np.maximum(np.nan_to_num(delay) - max_delay, 0.0)
    wrong = np.maximum(bare - LOST - right, 0.0)
    calm = np.nan_to_num(flips) if math.isfinite(max_delay) and np.isfinite(delay).all() else np.zeros(len(rows))
    return places[int(np.lexsort((nll, calm, wrong, late))[0])]
