"""What each method costs (the paper's Table 2): `python -m train.cost`; writes assets/results/cost.csv.

Parameters, multiply-accumulates of one 32x32 image, and batch-1 latency. Seconds depend on the machine and its load, so
the methods take turns in every round, the ratio to Static within a round is what counts, and on one CPU thread the
clock is the thread's own, which stands still while others have the processor.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch.utils.flop_counter import FlopCounterMode

from knob_core import methods, metrics, models
from knob_core.cli import tell
from knob_core.library import result_tables
from train import commands

WIDTHS = (16, 64)
ROUNDS = {16: 300, 64: 120}
WARM_UP = 10  # rounds


def parameters(model: torch.nn.Module) -> int:
    return sum(p.numel() for p in model.parameters())


def multiply_accumulates(model: models.GatedClassifier) -> int:
    """Of convolutions and matrix products for one image."""
    counter = FlopCounterMode(display=False)
    with counter, torch.inference_mode():
        model.predict(torch.zeros(1, 3, 32, 32, device=_device(model)))
    return counter.get_total_flops() // 2


def latencies(
    family: dict[str, models.GatedClassifier], rounds: int, seed: int = 0, warm_up: int = WARM_UP
) -> dict[str, np.ndarray]:
    """Milliseconds for one image, (rounds,) for each method; within a round they take turns in a new order."""
    image = torch.rand(1, 3, 32, 32, generator=torch.Generator().manual_seed(seed))
    orders = list(itertools.permutations(family))
    pick = np.random.default_rng(seed)
    alone = torch.get_num_threads() == 1 and all(_device(model).type == "cpu" for model in family.values())
    clock = time.thread_time if alone else time.perf_counter
    found: dict[str, list[float]] = {method: [] for method in family}
    with torch.inference_mode():
        for index in range(warm_up + rounds):
            for method in orders[pick.integers(len(orders))]:
                model = family[method]
                here = image.to(_device(model)).contiguous(memory_format=torch.channels_last)
                _wait(here)
                start = clock()
                model.predict(here)
                _wait(here)
                if index >= warm_up:
                    found[method].append(1e3 * (clock() - start))
    return {method: np.array(times) for method, times in found.items()}


def _device(model: models.GatedClassifier) -> torch.device:
    return next(model.parameters()).device


def _wait(tensor: torch.Tensor) -> None:
    if tensor.is_cuda:
        torch.cuda.synchronize(tensor.device)


def rows(width: int, rounds: int, device: str = "cpu") -> list[dict[str, Any]]:
    """One row for each method of a width."""
    torch.manual_seed(0)
    family = {}
    for method in models.METHODS:
        model = models.build(method, width).eval().to(device)
        family[method] = model.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    times = latencies(family, rounds)
    found = []
    for method, model in family.items():
        ratio = times[method] / times[methods.PLAINEST]
        q25, median, q75 = metrics.quartiles(ratio)
        found.append(
            {
                "width": width,
                "method": method,
                "parameters": parameters(model),
                "macs": multiply_accumulates(model),
                "latency_ms": float(np.median(times[method])),
                "ratio_to_static": float(median),
                "ratio_q25": float(q25),
                "ratio_q75": float(q75),
                "rounds": rounds,
                "threads": torch.get_num_threads(),
                "device": torch.device(device).type,
            }
        )
    return found


def work(args: argparse.Namespace) -> None:
    torch.set_num_threads(args.threads)
    found = [row for width in args.widths for row in rows(width, args.rounds or ROUNDS.get(width, 100), args.device)]
    tell(result_tables.write(found, args.out / "cost.csv").to_string(index=False))  # `... | true`: the file is there


def main(arguments: Sequence[str] | None = None) -> int:
    parser = commands.parser("train.cost", __doc__)
    parser.add_argument(
        "--widths", type=commands.whole(4, 256), nargs="+", action=commands.Several, default=list(WIDTHS)
    )
    parser.add_argument("--rounds", type=commands.positive, help="default: 300 at width 16, 120 at width 64")
    parser.add_argument("--threads", type=commands.threads, default=1, help="default: %(default)s")
    parser.add_argument("--device", type=commands.device, default="cpu")
    parser.add_argument(
        "--out", type=commands.out_folder, default=result_tables.RESULTS, metavar="DIR", help="default: assets/results"
    )
    args = parser.parse_args(arguments)
    return commands.run("train.cost", lambda: work(args))


if __name__ == "__main__":
    sys.exit(main())
