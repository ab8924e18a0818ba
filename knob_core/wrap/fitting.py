"""Fit Knob to labelled streams of one's own: what to set, what it buys, and what else would do.

    from knob_core.wrap.fitting import fit
    found = fit(logits, None, labels, max_delay=3)  # (R, T, K) and (R, T): a new class is shown within 3 frames
    print(found); stream = KnobStream(wrap.classifier(model), settings=found.settings)

Attentive memory's weights, both knobs and a temperature are fitted together by the likelihood (`attentive_fit`) from
a general start, or from another one that does clearly better on streams it was not fitted on.
Faster settings are made from it by turning omega_n up; of all of them the likeliest that keeps the limit is taken, so a
looser limit never fits worse. Cross-validation sets it beside "off" and beside plain filters: where it does not beat
"off" on streams it has not seen, "off" is what comes back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from knob_core import fusion, gate, metrics
from knob_core._arrays.checks import as_array, real_numbers, require_finite, require_size, shown, whole_number
from knob_core._arrays.ruled_out import finite
from knob_core.gate import sigmoid
from knob_core.measures.change import ChangeCounts, count
from knob_core.measures.stability import flips, sure_and_wrong
from knob_core.measures.truth import truth
from knob_core.memories import Attentive
from knob_core.metrics import temperature_scaling
from knob_core.rivals.base import Filter
from knob_core.settings import Settings
from knob_core.tuning import space
from knob_core.tuning.search import minimise
from knob_core.wrap.attentive_fit import LIMITS, Labelled, Setting, fit_nll
from knob_core.wrap.probabilities import require_logits

GENERAL = Setting(1.0, 0.4, Attentive(a=-0.75, b=2.0, d=1.0, tau=1.0, eps=0.01, f=0.3))
OTHERS = (
    Setting(1.0, 1.5, GENERAL.weights),
    Setting(2.0, 0.1, replace(GENERAL.weights, b=1.0)),
    Setting(1.0, 0.8, replace(GENERAL.weights, a=0.0, b=0.0, d=0.0)),  # plain memory: nothing turns omega_n
)
CLEARLY = 2.0  # standard errors by which another start must do better than the general one
FASTER = 1.35  # omega_n of one setting to the next
RIVAL_EVALUATIONS = 40
LAG_FRAMES = 400
INSTANT = Setting(
    100.0, 100.0, Attentive(a=5.0, b=0.0, f=0.0)
)  # g = 1: nothing is remembered, a temperature alone is left
Progress = Callable[[float, str], object]  # part done in [0, 1], what is being done


@dataclass(frozen=True)
class Row:
    """One contender on streams it was not fitted on."""

    name: str
    nll: float  # nats
    accuracy: float  # in [0, 1]
    excess_flips: float  # per 100 frames
    delay: float  # frames until a new class is shown, mean; NaN where no class changes
    confident_errors: float  # per 100 frames


@dataclass(frozen=True)
class Fit:
    """What was found."""

    settings: Settings  # for KnobStream, the console and export; off where nothing helps
    helps: bool
    table: tuple[Row, ...]  # by cross-validation: ours, off, the rivals
    nll: float  # on the fitted streams
    nll_before: float  # the same without Knob
    flips: float  # changes of the answer per 100 frames
    flips_before: float
    delay: float  # frames, as max_delay counts them
    words: str

    @property
    def knobs(self) -> tuple[float, float]:
        """zeta, omega_n."""
        return self.settings.zeta, self.settings.omega_n

    def __str__(self) -> str:
        titles = ("NLL", "accuracy", "excess flips", "delay", "confident errors")
        head = f"{'on unseen streams':30}" + "".join(f"{title:>17}" for title in titles)
        rows = [
            f"{row.name:30}{row.nll:17.4f}{row.accuracy:17.2%}{row.excess_flips:17.2f}{row.delay:17.2f}"
            f"{row.confident_errors:17.2f}"
            for row in self.table
        ]
        return "\n".join([self.words, head, *rows])


def fit(
    z_static: Any,  # (R, T, K) logits of a single classifier, or of the static branch
    z_dyn: Any,  # (R, T, K) of the dynamic branch; None for a single classifier
    labels: Any,  # (R,) or (R, T) classes, -1 where unknown
    max_delay: float = math.inf,  # frames, mean, until a new class is shown
    u_star: Any = None,  # (R, T) the network's command, where there is one
    rivals: Mapping[str, type[Filter]] | None = None,  # None: the strong ones; {}: none
    seed: int = 0,
    progress: Progress | None = None,
    go_on: Callable[[], object] | None = None,  # called often; what it raises ends the fit
) -> Fit:
    """The best setting that keeps the limit, and what it and others do on streams that they were not fitted on."""
    number = isinstance(max_delay, (int, float, np.integer, np.floating)) and not isinstance(max_delay, bool)
    if not number or not max_delay > 0:
        raise ValueError(f"max_delay is {shown(max_delay)}, expected a number of frames > 0")
    seed = whole_number("seed", seed, 0)
    streams = _streams(z_static, z_dyn, labels, u_star)
    streams = streams if go_on is None else replace(streams, go_on=go_on)
    rivals = _strong() if rivals is None else rivals
    say = progress or (lambda part, what: None)
    say(0.0, "fitting")
    chosen = _choose(streams, max_delay)
    table = _cross_validate(streams, max_delay, rivals, seed, say)
    ours, off = table[0], table[1]
    helps = ours.nll < off.nll
    answer = chosen.run(streams.z) if helps else streams.z
    settings = (
        Settings(zeta=chosen.zeta, omega_n=chosen.omega_n, weights=chosen.weights) if helps else Settings(on=False)
    )
    delay = _delay(streams, chosen) if helps else _delay_of(streams, streams.z)
    say(1.0, "done")
    return Fit(
        settings, helps, table, streams.nll(answer), streams.nll(streams.z), flips(answer.argmax(-1)),
        flips(streams.z.argmax(-1)), delay, _words(helps, delay, max_delay, table),
    )  # fmt: skip


def _strong() -> dict[str, type[Filter]]:
    from knob_core.rivals import STRONG  # imports every rival

    return dict(STRONG)


def _words(helps: bool, delay: float, max_delay: float, table: tuple[Row, ...]) -> str:
    ours, off = table[:2]
    if not helps:
        return f"Nothing helps on these streams: off has NLL {off.nll:.4f}, the best fit {ours.nll:.4f} on unseen ones."
    words = f"Attentive memory: NLL {off.nll:.4f} -> {ours.nll:.4f}, accuracy {off.accuracy:.1%} -> {ours.accuracy:.1%}"
    if delay > max_delay:
        words += f"; a delay of {max_delay:g} frames cannot be kept: the fastest setting needs {delay:.1f}"
    better = min(table[2:], key=lambda row: row.nll, default=ours)
    if better.nll < ours.nll:
        words += f"; {better.name} has {better.nll:.4f}"
    return words + "."


# Choosing on some streams


def _choose(streams: Labelled, max_delay: float) -> Setting:
    """The likeliest setting that keeps the limit; the fastest where none does."""
    pool = [(setting, nll, _delay(streams, setting)) for setting, nll in _pool(streams)]
    kept = [entry for entry in pool if not entry[2] > max_delay]
    return min(kept, key=lambda entry: entry[1])[0] if kept else min(pool, key=lambda entry: entry[2])[0]


def _pool(streams: Labelled) -> list[tuple[Setting, float]]:
    """Settings and their NLL, whatever the limit: the best fit, ever faster ones, and one that remembers nothing."""
    best, nll = fit_nll(streams, _best_start(streams))
    found, omega_n = [(best, nll)], best.omega_n * FASTER
    while omega_n <= LIMITS["omega_n"][1] * 2:
        found.append(fit_nll(streams, best.put(omega_n=omega_n), ("t_0",)))
        omega_n *= FASTER
    return [*found, fit_nll(streams, INSTANT, ("t_0",))]


def _best_start(streams: Labelled) -> Setting:
    """The general start, or another whose fits to one half of the streams do clearly better on the other half.

    On the streams that were fitted, a start that learned them by heart would look best; and of several that do about
    as well, the luckiest is not the best.
    """
    try:
        folds = _folds(_judged(streams), seed=0)
    except ValueError:  # too little to be cut in two
        return GENERAL
    general = _nll_on_unseen(folds, GENERAL)
    found, least = GENERAL, 0.0
    for start in OTHERS:
        better = general - _nll_on_unseen(folds, start)  # (R,) nats
        clearly = CLEARLY * better.std(ddof=1) / math.sqrt(len(better))
        if better.mean() > max(least, clearly):
            found, least = start, float(better.mean())
    return found


def _nll_on_unseen(folds: list[tuple[Labelled, Labelled]], start: Setting) -> np.ndarray:
    """Of every stream (R,), fold after fold, by the fit that did not see it."""
    each = []
    for known, unseen in folds:
        answer = fit_nll(known, start)[0].run(unseen.z)
        each += [unseen.rows(np.array([row])).nll(answer[row : row + 1]) for row in range(len(answer))]
    return np.array(each)


def _delay(streams: Labelled, setting: Setting) -> float:
    """Mean frames until a new class is shown; where no class ever changes, until the memory has made 63 % of a step."""
    found = _delay_of(streams, setting.run(streams.z))
    if math.isfinite(found):
        return found
    return lag(setting.zeta, setting.omega_n * math.exp(setting.weights.a))


def _delay_of(streams: Labelled, answer: np.ndarray) -> float:
    return float(_counts(streams, answer).delay_mean)


def _counts(streams: Labelled, answer: np.ndarray) -> ChangeCounts:
    return count(answer.argmax(-1), truth(streams.labels, streams.z.argmax(-1)))


def lag(zeta: float, omega_n: float, fraction: float = 0.63) -> float:
    """Frames until a step has been followed to `fraction` without any evidence; infinite beyond LAG_FRAMES."""
    y, _ = gate.run(np.ones(LAG_FRAMES), zeta, omega_n)
    return float(np.argmax(y >= fraction)) if (y >= fraction).any() else np.inf


# Judging on others


def _cross_validate(
    streams: Labelled, max_delay: float, rivals: Mapping[str, type[Filter]], seed: int, say: Progress
) -> tuple[Row, ...]:
    """Everybody on streams that they were not fitted on, in two folds."""
    parts: dict[str, list[np.ndarray]] = {}
    jobs = 2 * (1 + len(rivals))
    folds = _folds(_judged(streams), seed)
    for side, (known, unseen) in enumerate(folds):
        say((1 + side * (1 + len(rivals))) / (jobs + 1), "cross-validating attentive memory")
        parts.setdefault("attentive memory", []).append(_choose(known, max_delay).run(unseen.z))
        parts.setdefault("off", []).append(unseen.z)
        for index, (name, kind) in enumerate(rivals.items()):
            say((2 + index + side * (1 + len(rivals))) / (jobs + 1), f"cross-validating {name}")
            filter_, temperature = _tuned(kind, known, max_delay, seed)
            parts.setdefault(kind.NAME, []).append(filter_.run(unseen.z)[0] / temperature)
    whole = _joined([unseen for _, unseen in folds])
    return tuple(_row(name, whole, np.concatenate(answers)) for name, answers in parts.items())


def _judged(streams: Labelled) -> Labelled:
    """The streams that have labels; a single one is cut into two."""
    streams = streams.rows(np.flatnonzero((streams.labels >= 0).any(-1)))
    return streams if len(streams.z) > 1 else _halves(streams)


def _folds(streams: Labelled, seed: int) -> list[tuple[Labelled, Labelled]]:
    """Twice (known, unseen): either half of the streams stands on either side once."""
    fold = np.random.default_rng(seed).permutation(len(streams.z)) % 2
    return [(streams.rows(fold == side), streams.rows(fold != side)) for side in (0, 1)]


def _joined(parts: list[Labelled]) -> Labelled:
    z, labels = (np.concatenate([getattr(part, name) for part in parts]) for name in ("z", "labels"))
    return replace(parts[0], z=z, labels=labels)


def _halves(streams: Labelled) -> Labelled:
    middle = streams.z.shape[1] // 2
    if middle < 2:
        raise ValueError(f"the only labelled stream has {streams.z.shape[1]} frames, expected at least 4")

    def cut(x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[:, :middle], x[:, middle : 2 * middle]])

    labels = cut(streams.labels)
    if not (labels >= 0).any(-1).all():
        raise ValueError("the only labelled stream has labels in one of its halves, expected some in both")
    return replace(streams, z=cut(streams.z), labels=labels)


def _tuned(kind: type[Filter], streams: Labelled, max_delay: float, seed: int) -> tuple[Filter, float]:
    """A rival's likeliest parameters that keep the limit, and its temperature."""
    labelled = streams.labels >= 0

    def at(point: np.ndarray) -> Filter:
        return kind(**space.values(point, kind.PARAMETERS))

    def cost(point: np.ndarray) -> float:
        answer, _ = at(point).run(streams.z)
        temperature = temperature_scaling.fit(answer[labelled], streams.labels[labelled])
        late = _delay_of(streams, answer) - max_delay
        return streams.nll(answer / temperature) + (max(0.0, late) if math.isfinite(late) else 0.0)

    found = minimise(cost, np.full(len(kind.PARAMETERS), 0.5), RIVAL_EVALUATIONS, seed)
    assert found.best is not None
    answer, _ = at(found.best).run(streams.z)
    return at(found.best), temperature_scaling.fit(answer[labelled], streams.labels[labelled])


def _row(name: str, streams: Labelled, answer: np.ndarray) -> Row:
    predicted, labelled = answer.argmax(-1), streams.labels >= 0
    counts = _counts(streams, answer)
    p_max = metrics.softmax(answer).max(-1)
    correct = predicted == streams.labels
    return Row(
        name, streams.nll(answer), float(correct[labelled].mean()), float(counts.excess_flips),
        float(counts.delay_mean), sure_and_wrong(p_max[labelled], correct[labelled]),
    )  # fmt: skip


# What comes in


def _streams(z_static: Any, z_dyn: Any, labels: Any, u_star: Any) -> Labelled:
    """The frames' own logits with labels (R, T)."""
    z = real_numbers("z_static", z_static)
    other = z if z_dyn is None else real_numbers("z_dyn", z_dyn)
    if z.ndim != 3 or z.shape != other.shape or (np.array(z.shape) < (1, 2, 2)).any():
        raise ValueError(
            f"z_static and z_dyn have shapes {z.shape} and {other.shape}, "
            "expected one shape (R, T, K) with R >= 1, T >= 2 and K >= 2: the knobs are fitted on streams"
        )
    z, other = finite(z), finite(other)  # as the stream takes them
    for name, x in (("z_static", z), ("z_dyn", other)):
        require_finite(name, x)
        require_size(name, x)
    require_logits("z_static" if z_dyn is not None else "logits", z)
    require_logits("z_dyn", other)
    target = _labels(labels, z.shape)
    if z_dyn is None:
        return Labelled(z, target)
    u = np.zeros(z.shape[:2]) if u_star is None else real_numbers("u_star", u_star)
    if u.shape != z.shape[:2] or not np.isfinite(u).all():
        raise ValueError(f"u_star has shape {u.shape}, expected finite numbers of shape {z.shape[:2]}")
    return Labelled(fusion.fuse(z, other, sigmoid(u)), target)


def _labels(labels: Any, shape: tuple[int, ...]) -> np.ndarray:
    """(R, T), -1 where unknown."""
    paths, frames, classes = shape
    target = as_array("labels", labels)
    if target.dtype.kind not in "iu" or target.shape not in ((paths,), (paths, frames)):
        raise ValueError(
            f"labels are {target.dtype} of shape {target.shape}, expected integers ({paths},) or ({paths}, {frames})"
        )
    if target.min() < -1 or target.max() >= classes or target.max() < 0:
        raise ValueError(f"labels lie in [{target.min()}, {target.max()}], expected [0, {classes - 1}], or -1")
    return np.broadcast_to(target if target.ndim == 2 else target[:, None], (paths, frames)).astype(np.int64)
