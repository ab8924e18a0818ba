"""Set the spring to a model from a few hundred of its own frames, without labels.

tau    so that frames are .75 certain on average: mean q = .75 (`knob_core.knob`)
d, a   d = 1 / sd(q), a = -d mean(q): omega_n then means the same for every model, rad/frame at a frame of average
       certainty; b, eps, f and zeta are constants
omega  whose answers agree most with a reading of the same streams in both directions of time, a better judge than any
       answer that knows the past only; of those that agree about as well, the nearest to where most models want it

The cautious home asks another reader, a hidden Markov model (`knob_core.rivals.hmm`) whose switch and temperature are
the likeliest for the unlabelled streams: where errors last, or classes do not, it agrees with the model as it is.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from knob_core import metrics
from knob_core.memories import Attentive
from knob_core.rivals.base import Floats
from knob_core.rivals.hmm import Hmm, forward
from knob_core.tuning import space
from knob_core.tuning.search import minimise

CERTAIN = 0.75  # mean certainty of a frame that tau makes
SPREAD = 0.05  # least sd(q): a few frames may be equally certain by chance
BASE = Attentive(b=2.0, eps=0.01, f=0.4)
ZETA = 1.0
OMEGAS = np.geomspace(0.03, 4.0, 15)  # rad/frame
USUAL, AWAY = 0.6, 0.02  # rad/frame where most models want it; agreement that a factor e away from it must bring
READER_EVALUATIONS = 40
LEAST_GAIN = 0.1  # nats a frame that the frames before must tell about a frame; else classes do not stay
MOST_SWITCH = 0.25  # probability of another class at the next frame
CALM = 0.4  # rad/frame of the reading in both directions


class Home(NamedTuple):
    """Where a model's spring should stand."""

    weights: Attentive
    omega_n: float  # rad/frame
    on: bool  # whether to remember at all

    def probabilities(self, z: Floats) -> Floats:
        """Of the answer (R, T, K)."""
        return self.weights.run_logits(z, ZETA, self.omega_n).probabilities if self.on else metrics.softmax(z)


def home(z: Floats, cautious: bool = False) -> Home:
    """From logits (R, T, K), rows with NaN for frames that did not come."""
    came = np.asarray(~np.isnan(z).any(-1))
    weights = measured(z[came], temperature(z[came]))
    answers = [weights.run_logits(z, ZETA, omega).probabilities.argmax(-1) for omega in OMEGAS]
    reader = _Reader(z, came)
    both_ways = _both_ways(z, came, weights).argmax(-1)
    found = np.array([(answer == both_ways)[came].mean() for answer in answers])
    place = int(np.argmax(found - AWAY * np.log(OMEGAS / USUAL) ** 2))
    on = reader.gain > LEAST_GAIN and reader.switch < MOST_SWITCH
    if cautious and on:
        read = reader.believed().argmax(-1)
        found = np.array([(answer == read)[came].mean() for answer in answers])
        bare = float((np.nan_to_num(z).argmax(-1) == read)[came].mean())
        good = np.flatnonzero(found[place:] >= (bare + max(bare, found.max())) / 2)
        on, place = len(good) > 0, place + int(good[0] if len(good) else 0)
    return Home(weights, float(OMEGAS[place]), on)


def certainty(z: Floats, tau: float, offsets: Floats | float = 0.0) -> Floats:
    """q (...) of logits z (..., K)."""
    log_p = np.maximum(metrics.log_softmax((z + offsets) / tau), -700.0)
    return 1 + (np.exp(log_p) * log_p).sum(-1) / math.log(z.shape[-1])


def temperature(z: Floats) -> float:
    """The tau at which frames z (N, K) are CERTAIN on average."""
    low, high = math.log(1e-2), math.log(1e2)
    for _ in range(24):
        middle = (low + high) / 2
        low, high = (middle, high) if certainty(z, math.exp(middle)).mean() > CERTAIN else (low, middle)
    return math.exp((low + high) / 2)


def measured(z: Floats, tau: float, offsets: tuple[float, ...] = (), base: Attentive = BASE) -> Attentive:
    """`base` with tau and offsets, and with a and d as they are measured on frames z (N, K)."""
    q = certainty(z, tau, np.array(offsets) if offsets else 0.0)
    d = 1 / max(float(q.std()), SPREAD)
    return replace(base, a=-d * float(q.mean()), d=d, tau=tau, o=offsets)


def _turned(came: np.ndarray) -> np.ndarray:
    """(R, T, 1) places of the frames from the last that came to the first; what is missing at the end stays there."""
    frames = came.shape[1] - came[:, ::-1].argmax(1)[:, None]  # (R, 1)
    t = np.arange(came.shape[1])
    return np.where(t < frames, frames - 1 - t, t)[..., None]


def _both_ways(z: Floats, came: np.ndarray, weights: Attentive) -> Floats:
    """What is remembered of the past times what is remembered of the future, (R, T, K)."""
    memory, turned = replace(weights, f=0.0), _turned(came)
    past = memory.run_logits(z, ZETA, CALM).probabilities
    future = memory.run_logits(np.take_along_axis(z, turned, 1), ZETA, CALM).probabilities
    return past * np.take_along_axis(future, turned, 1)


class _Reader:
    """A hidden Markov model of the streams, as likely as its switch and temperature can make it."""

    def __init__(self, z: Floats, came: np.ndarray) -> None:
        self._z, self._came, self._classes = np.where(came[..., None], z, 0.0), came, z.shape[-1]
        spans = {name: Hmm.PARAMETERS[name] for name in ("switch", "temperature")}
        search = minimise(lambda x: -self._fit(**space.values(x, spans)), np.array([0.9, 0.3]), READER_EVALUATIONS, 0)
        assert search.best is not None
        self.gain = -search.lowest  # nats a frame, over frames that have nothing to do with each other
        self.switch, self.temperature = space.values(search.best, spans).values()

    def _likelihoods(self, temperature: float) -> Floats:
        p = (1 - BASE.eps) * metrics.softmax(self._z / temperature) + BASE.eps / self._classes
        return np.where(self._came[..., None], p, 1 / self._classes)

    def _even(self) -> Floats:
        return np.full((len(self._z), self._classes), 1 / self._classes)

    def _fit(self, switch: float, temperature: float) -> float:
        seen, even = self._likelihoods(temperature), self._even()
        before = np.concatenate([even[:, None], forward(seen, even, switch)[:, :-1]], 1)
        expected = (1 - switch) * before + switch / (self._classes - 1) * (1 - before)
        return float(np.log(self._classes * (seen * expected).sum(-1))[self._came].mean())

    def believed(self) -> Floats:
        """Of every frame after all of them, but for a factor of each frame, (R, T, K)."""
        seen, even, turned = self._likelihoods(self.temperature), self._even(), _turned(self._came)
        past = forward(seen, even, self.switch)
        future = forward(np.take_along_axis(seen, turned, 1), even, self.switch)
        return past * np.take_along_axis(future, turned, 1) / seen
