"""One filter of each kind, and logits of streams that change their class."""

from __future__ import annotations

import numpy as np

from knob_core.rivals import RIVALS, WITH_COMMAND
from knob_core.rivals.base import Filter

FILTERS: dict[str, Filter] = {
    "bare": RIVALS["bare"](),
    "ema-logits": RIVALS["ema-logits"](omega=0.3),
    "ema-p": RIVALS["ema-p"](omega=0.3),
    "one-euro-logits": RIVALS["one-euro-logits"](min_cutoff=0.05, beta=0.05),
    "one-euro-p": RIVALS["one-euro-p"](min_cutoff=0.05),
    "second-order": RIVALS["second-order"](omega_n=0.4, zeta=0.7),
    "median": RIVALS["median"](window=4),
    "majority": RIVALS["majority"](window=5),
    "hmm": RIVALS["hmm"](switch=0.01, temperature=2.0),
    "cusum": RIVALS["cusum"](threshold=2.0),
    "change-point": RIVALS["change-point"](hazard=0.01, runs=12),
    "two-speeds": RIVALS["two-speeds"](omega=0.6, slower=0.4),
    "hysteresis": RIVALS["hysteresis"](hold=3),
    "debounce": RIVALS["debounce"](window=4, share=0.75),
    "hmm-u": WITH_COMMAND["hmm-u"](switch=0.01, temperature=2.0),
    "cusum-u": WITH_COMMAND["cusum-u"](threshold=2.0),
    "change-point-u": WITH_COMMAND["change-point-u"](hazard=0.01, runs=12),
}


def changing_logits(
    streams: int = 3, frames: int = 40, classes: int = 4, seed: int = 0
) -> tuple[np.ndarray, np.ndarray]:
    """(z (R, T, K), labels (R, T)): a new class every tenth frame or so, seen through noise."""
    rng = np.random.default_rng(seed)
    cuts = rng.random((streams, frames)) < 0.1
    labels = (rng.integers(classes, size=(streams, 1)) + np.cumsum(cuts, 1)) % classes
    return rng.normal(0, 1.5, (streams, frames, classes)) + 3.0 * (labels[..., None] == np.arange(classes)), labels
