"""Filters of class logits to compare our own memory with, one a module, all with the interface of `base.Filter`."""

from __future__ import annotations

from knob_core.rivals.bare import Bare
from knob_core.rivals.base import Filter
from knob_core.rivals.change_point import ChangePoint
from knob_core.rivals.cusum import Cusum
from knob_core.rivals.debounce import Debounce
from knob_core.rivals.hmm import Hmm
from knob_core.rivals.hysteresis import Hysteresis
from knob_core.rivals.majority import SlidingMajority
from knob_core.rivals.median import SlidingMedian
from knob_core.rivals.moving_average import EmaOfLogits, EmaOfProbabilities
from knob_core.rivals.one_euro import OneEuroOfLogits, OneEuroOfProbabilities
from knob_core.rivals.second_order import SecondOrder
from knob_core.rivals.two_speeds import TwoSpeeds
from knob_core.rivals.with_command import ChangePointWithCommand, CusumWithCommand, HmmWithCommand

RIVALS: dict[str, type[Filter]] = {
    "bare": Bare,
    "ema-logits": EmaOfLogits,
    "ema-p": EmaOfProbabilities,
    "one-euro-logits": OneEuroOfLogits,
    "one-euro-p": OneEuroOfProbabilities,
    "second-order": SecondOrder,
    "median": SlidingMedian,
    "majority": SlidingMajority,
    "hmm": Hmm,
    "cusum": Cusum,
    "change-point": ChangePoint,
    "two-speeds": TwoSpeeds,
    "hysteresis": Hysteresis,
    "debounce": Debounce,
}

WITH_COMMAND: dict[str, type[Filter]] = {
    "hmm-u": HmmWithCommand,
    "cusum-u": CusumWithCommand,
    "change-point-u": ChangePointWithCommand,
}

STRONG = {
    key: RIVALS[key]
    for key in ("ema-logits", "two-speeds", "one-euro-logits", "hmm", "cusum", "change-point", "hysteresis", "debounce")
}
