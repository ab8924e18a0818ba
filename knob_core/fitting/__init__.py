"""Fit Knob to streams of one's own: what to set, what it buys, and what else would do.

    found = knob_core.fit(logits)                               # some hundred frames, no labels: a home for this model
    found = knob_core.fit(logits, labels, groups, max_delay=3)  # a new class is shown within 3 frames on average
    print(found); stream = KnobStream(wrap.classifier(model), settings=found.settings)

Without labels: `listening`. With them the same is where a fit by likelihood starts, with a prior around it (`tuned`);
temperature, offsets and holds of the classes are taken where groups that were not fitted earn them. Every number in the
table comes from groups that were not fitted, all rivals are tuned alike, and where nothing does clearly better than
"off" there, "off" is what comes back.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from knob_core import metrics
from knob_core._arrays.checks import shown, whole_number
from knob_core._arrays.top import top1
from knob_core.fitting.listening import ZETA, home
from knob_core.fitting.streams import Streams, given, joined
from knob_core.fitting.tuned import (
    LOST,
    OWN_RUNGS,
    Contender,
    OwnMemory,
    Rival,
    chosen,
    clearly,
    earned,
    moved,
    own,
    rival,
    rungs,
)
from knob_core.measures.change import ChangeCounts, count
from knob_core.measures.stability import flips, sure_and_wrong
from knob_core.rivals.bare import Bare
from knob_core.rivals.base import Filter, Floats
from knob_core.settings import Settings

OURS, OFF, OFF_TEMPERED = "Knob", "off", "off, with a temperature"
FEW_GROUPS = 5  # with fewer, streams are compared one by one
CALMER = 0.8  # excess flips as a share of the bare model's that count as clearly calmer, where the groups agree
Progress = Callable[[float, str], object]  # part done in [0, 1], what is being done


@dataclass(frozen=True)
class Row:
    """One contender on streams it was not fitted on."""

    name: str
    accuracy: float  # in [0, 1]: right answers
    excess_flips: float  # per 100 frames
    delay: float  # frames until a new class is shown, mean; NaN where no class changes
    confident_errors: float  # per 100 frames
    nll: float  # nats
    known_as: str = ""  # how a user of that rule knows it


@dataclass(frozen=True)
class Fit:
    """What was found."""

    settings: Settings  # for KnobStream, the console and export; off where nothing helps
    helps: bool
    words: str
    cautious: Settings | None = None  # without labels: never far below the model itself
    likeliest: Settings | None = None  # with a limit: what would be taken without one
    table: tuple[Row, ...] = ()  # on unseen groups: ours, off, the rivals
    earned: str = ""  # what was fitted beside knobs and answer: tau, offsets o, holds s
    nll: float = math.nan  # on the fitted streams
    nll_before: float = math.nan  # the same without Knob
    flips: float = math.nan  # changes of the answer per 100 frames
    flips_before: float = math.nan
    delay: float = math.nan  # frames, as max_delay counts them
    best_rival: str = ""  # by NLL on unseen groups
    rival_parameters: dict[str, Any] = field(default_factory=dict)  # of it, fitted on all streams

    @property
    def knobs(self) -> tuple[float, float]:
        """zeta, omega_n."""
        return self.settings.zeta, self.settings.omega_n

    @property
    def rival_words(self) -> str:
        """The best rival with its parameters."""
        return f"{self.best_rival}: " + ", ".join(_written(*item) for item in self.rival_parameters.items())

    def __str__(self) -> str:
        if not self.table:
            return self.words
        titles = ("right answers", "excess flips", "delay", "confident errors", "NLL")
        lines = [self.words, f"{'on unseen streams':34}" + "".join(f"{title:>17}" for title in titles) + "  known as"]
        for row in self.table:
            numbers = f"{row.accuracy:17.2%}{row.excess_flips:17.2f}{row.delay:17.2f}{row.confident_errors:17.2f}"
            lines.append(f"{row.name:34}{numbers}{row.nll:17.4f}  {row.known_as}")
        if self.best_rival:
            lines.append(self.rival_words)
        return "\n".join(lines)


def fit(
    logits: Any,  # (T, K), (R, T, K) or a list of (T, K): a classifier's; NaN where a frame did not come
    labels: Any = None,  # (T,), (R, T), (R,) or a list of (T,): classes, -1 where unknown; None: without labels
    groups: Any = None,  # (R,) what must not be split: a person, a recording; None: every stream by itself
    max_delay: float = math.inf,  # frames, mean, until a new class is shown: the calmest that keeps it is taken
    *,
    rivals: Mapping[str, type[Filter]] | None = None,  # None: the strong ones; {}: none
    seed: int = 0,
    progress: Progress | None = None,
    go_on: Callable[[], object] | None = None,  # called often; what it raises ends the fit
) -> Fit:
    """The setting for a model's streams, and what it and others do on streams that they were not fitted on."""
    number = isinstance(max_delay, (int, float, np.integer, np.floating)) and not isinstance(max_delay, bool)
    if not number or not max_delay > 0:
        raise ValueError(f"max_delay is {shown(max_delay)}, expected a number of frames > 0")
    seed = whole_number("seed", seed, 0)
    streams = given(logits, labels, groups, go_on)
    say = progress or (lambda part, what: None)
    say(0.0, "listening")
    if labels is None:
        return _listened(streams, say)
    kinds = _strong() if rivals is None else dict(rivals)
    judged = streams.rows(np.asarray(streams.labelled.any(-1)))
    if len(np.unique(judged.groups)) < 2:
        raise ValueError("only one group or stream has labels, expected at least 2: one to fit, one to judge")
    limit = float(max_delay)
    entries: dict[str, Callable[[Streams], Contender]] = {
        OURS: lambda known: chosen(own, OWN_RUNGS, known, limit, seed),
        OFF_TEMPERED: lambda known: rival(Bare, known, ""),
    }
    for kind in kinds.values():
        entries[kind.NAME] = partial(_chosen_rival, kind, limit, seed)
    unseen, answers = _cross_validated(judged, entries, seed, say)
    known_as = {kind.NAME: kind.KNOWN_AS for kind in kinds.values()}
    table = tuple(_row(name, unseen, p, known_as.get(name, "")) for name, p in answers.items())
    say(0.9, "fitting on everything")
    rung = earned(own, OWN_RUNGS, judged, seed)
    likeliest = moved(own(judged, rung), judged, math.inf)
    ours = moved(likeliest, judged, limit)
    helps = _helps(unseen, *(answers[name] for name in (OURS, OFF, OFF_TEMPERED)))
    best = min(table[3:], key=lambda row: row.nll, default=None)
    again = entries[best.name](judged) if best is not None else None
    before = metrics.softmax(judged.held)
    p = ours.probabilities(judged) if helps else before
    counts = _counts(judged, p)
    say(1.0, "done")
    return Fit(
        settings=_settings(ours) if helps else Settings(on=False),
        helps=helps,
        words=_words(helps, float(counts.delay_mean), limit, table),
        likeliest=_settings(likeliest) if helps and math.isfinite(limit) else None,
        table=table,
        earned=rung if helps else "",
        nll=float(judged.losses(p).mean()),
        nll_before=float(judged.losses(before).mean()),
        flips=flips(top1(p)),
        flips_before=flips(top1(before)),
        delay=float(counts.delay_mean),
        best_rival=best.name if best is not None else "",
        rival_parameters=again.parameters if isinstance(again, Rival) else {},
    )


def _strong() -> dict[str, type[Filter]]:
    from knob_core.rivals import STRONG  # imports every rival

    return dict(STRONG)


def _settings(found: Contender) -> Settings:
    assert isinstance(found, OwnMemory)
    return Settings(zeta=ZETA, omega_n=found.omega_n, weights=found.weights)


def _listened(streams: Streams, say: Progress) -> Fit:
    """Without labels."""
    found = [home(streams.z, cautious) for cautious in (False, True)]
    say(1.0, "done")
    settings, cautious = (
        Settings(zeta=ZETA, omega_n=one.omega_n, weights=one.weights) if one.on else Settings(on=False) for one in found
    )
    before, after = (flips(top1(p)) for p in (streams.held, found[0].probabilities(streams.held)))
    if not found[0].on:
        words = "Classes do not stay from frame to frame on these streams: off."
    else:
        words = (
            f"omega_n {settings.omega_n:.2f} rad/frame from {int((~np.isnan(streams.z[..., 0])).sum())} frames without "
            f"labels: {before:.1f} -> {after:.1f} changes of the answer per 100 frames. A more cautious home: "
        )
        words += f"omega_n {cautious.omega_n:.2f}." if cautious.on else "off."
    return Fit(settings, found[0].on, words, cautious=cautious, flips=after, flips_before=before)


def _chosen_rival(kind: type[Filter], limit: float, seed: int, known: Streams) -> Contender:
    return chosen(lambda known, rung: rival(kind, known, rung, seed), rungs(kind), known, limit, seed)


def _cross_validated(
    streams: Streams, entries: Mapping[str, Callable[[Streams], Contender]], seed: int, say: Progress
) -> tuple[Streams, dict[str, Floats]]:
    """Everybody's probabilities on groups that they were not fitted on, and these streams in that order."""
    folds, parts = streams.folds(2, seed), {name: [] for name in (OURS, OFF, *entries)}  # type: ignore[var-annotated]
    for side, (known, unseen) in enumerate(folds):
        parts[OFF].append(metrics.softmax(unseen.held))
        for index, (name, fitted) in enumerate(entries.items()):
            say(0.9 * (side + index / len(entries)) / 2, f"cross-validating {name}")
            parts[name].append(fitted(known).probabilities(unseen))
    return joined([unseen for _, unseen in folds]), {name: np.concatenate(p) for name, p in parts.items()}


def _counts(streams: Streams, p: Floats) -> ChangeCounts:
    return count(np.where(streams.labelled, top1(p), -1), streams.known)


def _row(name: str, streams: Streams, p: Floats, known_as: str) -> Row:
    counts, right = _counts(streams, p), (top1(p) == streams.labels)[streams.labelled]
    wrong = sure_and_wrong(p.max(-1)[streams.labelled], right)
    nll = float(streams.losses(p).mean())
    return Row(name, float(right.mean()), float(counts.excess_flips), float(counts.delay_mean), wrong, nll, known_as)


def _helps(streams: Streams, ours: Floats, off: Floats, tempered: Floats) -> bool:
    """Clearly likelier than off with a temperature of its own, or clearly calmer; and right about as often as off."""
    few = len(np.unique(streams.groups)) < FEW_GROUPS
    by = replace(streams, groups=np.arange(len(streams.z))) if few else streams
    if (
        streams.accuracy(ours) < streams.accuracy(off) - LOST
        or streams.losses(ours).mean() > streams.losses(off).mean()
    ):
        return False
    if clearly(by.by_group(by.losses(tempered)) - by.by_group(by.losses(ours))):
        return True
    calm, bare = (_counts(by, p) for p in (ours, off))
    fewer = np.asarray(np.bincount(by.groups, bare.excess - calm.excess), np.float64)
    return bool(calm.excess_flips <= CALMER * bare.excess_flips) and clearly(fewer)


def _words(helps: bool, delay: float, limit: float, table: tuple[Row, ...]) -> str:
    ours, off = table[:2]
    if not helps:
        return (
            f"Nothing is clearly better than off on these streams: right answers {off.accuracy:.1%} -> "
            f"{ours.accuracy:.1%}, NLL {off.nll:.4f} -> {ours.nll:.4f} on unseen ones."
        )
    words = (
        f"Right answers {off.accuracy:.1%} -> {ours.accuracy:.1%}, excess flips {off.excess_flips:.1f} -> "
        f"{ours.excess_flips:.1f} per 100 frames, NLL {off.nll:.4f} -> {ours.nll:.4f}"
    )
    if delay > limit:
        words += f"; a delay of {limit:g} frames cannot be kept: the fastest setting needs {delay:.1f}"
    better = min(table[3:], key=lambda row: row.nll, default=ours)
    if better.nll < ours.nll:
        words += f"; {better.name} has NLL {better.nll:.4f}"
    return words + "."


def _written(name: str, value: Any) -> str:
    if isinstance(value, tuple):
        return f"{name} ({', '.join(f'{x:.3g}' for x in value)})"
    return f"{name} {value:.4g}"
