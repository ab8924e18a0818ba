"""How long something takes, in CPU seconds: a busy machine does not count."""

from __future__ import annotations

import math
import time
from collections.abc import Callable


def fastest(work: Callable[[], object], times: int = 5) -> float:
    """Seconds of the quickest of several runs, after one to warm up."""
    work()
    best = math.inf
    for _ in range(times):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def alternately(works: dict[str, Callable[[], object]], turns: int) -> dict[str, float]:
    """Seconds of the best turn of each on this thread, after one turn to warm up."""
    best = dict.fromkeys(works, math.inf)
    for turn in range(turns + 1):
        for name, work in works.items():
            start = time.thread_time()
            work()
            if turn:
                best[name] = min(best[name], time.thread_time() - start)
    return best
