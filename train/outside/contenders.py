"""Who stands in the table, and what each costs on streams that nothing was fitted on.

A contender sees the fitting half once and becomes a function from logits (R, T, K) to the answer's logits. Filters take
the parameters, of a fixed number tried, with the lowest NLL after an output temperature of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields

import numpy as np

from knob_core import metrics
from knob_core._arrays.top import pick
from knob_core.fitting import fit
from knob_core.measures.change import count
from knob_core.measures.stability import sure_and_wrong
from knob_core.measures.truth import truth
from knob_core.metrics import temperature_scaling
from knob_core.response import respond
from knob_core.rivals import RIVALS
from knob_core.rivals.base import Filter
from knob_core.settings import HOME, Settings
from knob_core.tuning import space
from knob_core.tuning.search import minimise
from knob_core.wrap import branches_of
from train.outside.streams import OutsideStreams

EVALUATIONS = 200
FILTERS = ("bare", "ema-logits", "one-euro-logits", "second-order", "hmm", "cusum", "change-point")
OFF, DEFAULT, FITTED = "bare", "attentive, default", "attentive, fitted"
Answer = Callable[[np.ndarray], np.ndarray]  # logits (R, T, K) -> logits of the answer (R, T, K)


@dataclass(frozen=True)
class Contender:
    """Something that answers, and what was chosen for it."""

    name: str
    answer: Answer
    chosen: dict[str, float]


@dataclass(frozen=True)
class Row:
    """One contender on the testing half."""

    contender: str
    nll: float  # nats
    nll_less_bare: float  # the same less the bare model's
    nll_error: float  # standard error of that difference, over streams
    accuracy: float  # in [0, 1]
    excess_flips: float  # per 100 frames
    delay: float  # frames until a new class is shown, mean
    confident_errors: float  # per 100 frames


def contenders(known: OutsideStreams, evaluations: int = EVALUATIONS, seed: int = 0) -> list[Contender]:
    """All of them, after a look at the fitting half."""
    at_home = Contender(DEFAULT, settled(HOME), {"zeta": HOME.zeta, "omega_n": HOME.omega_n})
    filters = [tuned(RIVALS[name], known, evaluations, seed) for name in FILTERS]
    return [Contender(OFF, lambda z: z, {}), *filters, at_home, fitted(known, seed)]


def settled(settings: Settings) -> Answer:
    """A single classifier under a setting, as the runtime would show it."""
    return lambda z: np.log(np.maximum(respond(branches_of(z), settings)[0].probabilities, 1e-300))


def fitted(known: OutsideStreams, seed: int = 0) -> Contender:
    """Attentive memory after `fit`."""
    settings = fit(known.z, known.labels, rivals={}, seed=seed).settings
    chosen = {"zeta": settings.zeta, "omega_n": settings.omega_n}
    return Contender(FITTED, settled(settings), chosen | (settings.weights.to_dict() if settings.weights else {}))


def tuned(kind: type[Filter], known: OutsideStreams, evaluations: int, seed: int = 0) -> Contender:
    """The filter with the lowest NLL of those tried, with its temperature."""
    labels = known.labels.ravel()

    def tried(point: np.ndarray) -> tuple[Filter, float, float]:
        """(filter, temperature, NLL)."""
        filter_ = kind(**space.values(point, kind.PARAMETERS))
        answer = filter_.run(known.z)[0].reshape(len(labels), -1)
        temperature = temperature_scaling.fit(answer, labels)
        return filter_, temperature, metrics.nll(metrics.softmax(answer / temperature), labels)

    best = minimise(lambda point: tried(point)[2], _home(kind), evaluations, seed).best
    assert best is not None
    filter_, temperature, _ = tried(best)
    chosen = {name: float(getattr(filter_, name)) for name in kind.PARAMETERS}
    name = f"{kind.NAME}, temperature" if not kind.PARAMETERS else kind.NAME
    return Contender(name, lambda z: filter_.run(z)[0] / temperature, chosen | {"output_temperature": temperature})


def _home(kind: type[Filter]) -> np.ndarray:
    """The fields' defaults as a point of the unit cube; the middle of the range for a field without one."""
    defaults = {field.name: field.default for field in fields(kind) if field.default is not MISSING}  # type: ignore[arg-type]
    places = (space.place(defaults[name], span) if name in defaults else 0.5 for name, span in kind.PARAMETERS.items())
    return np.array(list(places))


def rows(entries: list[Contender], unseen: OutsideStreams) -> list[Row]:
    """Every contender on the testing half; what the bare model sees of it decides which changes are counted."""
    z = unseen.z.astype(np.float64)
    known = truth(unseen.labels, z.argmax(-1))
    bare = nll_of_streams(z, unseen.labels)
    table = []
    for entry in entries:
        answer = entry.answer(z)
        predicted, by_stream = answer.argmax(-1), nll_of_streams(answer, unseen.labels)
        correct, counts = predicted == unseen.labels, count(predicted, known)
        difference = by_stream - bare  # (R,)
        table.append(
            Row(
                contender=entry.name,
                nll=float(by_stream.mean()),
                nll_less_bare=float(difference.mean()),
                nll_error=float(difference.std(ddof=1) / np.sqrt(len(difference))),
                accuracy=float(correct.mean()),
                excess_flips=float(counts.excess_flips),
                delay=float(counts.delay_mean),
                confident_errors=sure_and_wrong(metrics.softmax(answer).max(-1), correct),
            )
        )
    return table


def nll_of_streams(answer: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Mean NLL of each stream, (R,)."""
    return -np.asarray(pick(metrics.log_softmax(answer), labels)).mean(-1)
