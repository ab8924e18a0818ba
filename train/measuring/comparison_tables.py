"""Rows of `errors` and `differences`: how sure every score is, and each gated method beside its plain rivals.

Errors are over pictures, of the mean over seeds. A difference is paired: both sides have the same pictures and seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from knob_core.methods import GATED, PLAINEST
from train.measuring.picture_scores import SCORES, PictureScores, average

SMOOTHED = f"{PLAINEST}-smoothed"  # Static with the static branch's label smoothing: train.fit --method static-smoothed
ALL_SEEDS = "all"


class Rival(NamedTuple):
    words: str
    method: str  # empty: the gated model's own
    output: str


RIVALS = (
    Rival("constant gate", "", "constant"),
    Rival("better branch", "", "better"),
    Rival("Static", PLAINEST, "fused"),
    Rival("Static, T (clean)", PLAINEST, "fused_t_clean"),
    Rival("Static, T (corrupted)", PLAINEST, "fused_t_corrupted"),
    Rival("Static, smoothed", SMOOTHED, "fused"),
    Rival("Static, smoothed, T (corrupted)", SMOOTHED, "fused_t_corrupted"),
)
GATES = ("fused", "settled")
Scored = Mapping[tuple[str, int], Mapping[str, Mapping[str, PictureScores]]]  # (method, seed) -> output -> scope


def errors(scored: Scored) -> Iterator[dict[str, Any]]:
    """One row for each method, output, scope and score: its mean over seeds with its error over pictures."""
    for method in dict.fromkeys(method for method, _ in scored):
        models = [outputs for (name, _), outputs in scored.items() if name == method]
        for output, scopes in models[0].items():
            for scope in scopes:
                mean = average([model[output][scope] for model in models])
                for name in SCORES:
                    value, error = mean.estimate(name)
                    who = {"method": method, "output": output, "scope": scope, "score": name}
                    yield {**who, "seeds": len(models), "value": value, "error": error}


def differences(scored: Scored) -> Iterator[dict[str, Any]]:
    """Ours less the rival's, seed by seed and over all seeds; rivals that were not measured are left out."""
    for method in GATED:
        seeds = [seed for name, seed in scored if name == method]
        for output in GATES:
            for rival in RIVALS:
                other = rival.method or method
                shared = [seed for seed in seeds if (other, seed) in scored]
                if not shared:
                    continue
                ours, theirs = ([scored[name, seed] for seed in shared] for name in (method, other))
                for scope in ours[0][output]:
                    parts = [a[output][scope] - b[rival.output][scope] for a, b in zip(ours, theirs, strict=True)]
                    named: list[tuple[Any, PictureScores]] = [(ALL_SEEDS, average(parts))]
                    named += zip(shared, parts, strict=True)
                    for seed, part in named:
                        for name in SCORES:
                            found = part.estimate(name)
                            low, high = found.interval
                            yield {"method": method, "output": output, "rival": rival.words, "scope": scope,
                                   "seed": seed, "score": name, "difference": found.value, "error": found.error,
                                   "low": low, "high": high}  # fmt: skip
