"""Tuned filters as a table in Markdown: excess flips and NLL at the target delays, one row a filter."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from knob_core.tuning import front
from knob_core.tuning.tune import DELAYS, Tuned


def table(tuned: Mapping[str, Tuned]) -> str:
    """On the streams they were tuned on; a delay that a filter does not reach has a star."""
    heads = [f"{delay:g} frames" for delay in DELAYS]
    lines = [f"| excess flips per 100 (NLL) at a mean delay of | {' | '.join(heads)} | best NLL |"]
    lines.append("|---" * (len(heads) + 2) + "|")
    return "\n".join(lines + [_line(t) for t in tuned.values()])


def _line(tuned: Tuned) -> str:
    curve = tuned.curve
    between = front.at_delay(curve.delay, curve.flips, DELAYS)
    stars = np.where(front.off_range(curve.delay, DELAYS) > 0, "*", "")
    pairs = zip(between.mix(curve.flips), between.mix(curve.nll), stars, strict=True)
    cells = [f"{flips:.2f}{star} ({nll:.3f})" for flips, nll, star in pairs]
    return f"| {tuned.kind.NAME} | {' | '.join(cells)} | {curve.nll.min():.3f} |"
