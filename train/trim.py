"""Fit Knob-ODE's command to static memory: `python -m train.trim CHECKPOINT ...`.

u* <- u* + b, with the b that minimises the cross-entropy of streams in which the static branch has memory.
Training compares the branches frame by frame, where the eye mostly wins; a memory of many noisy frames is worth more
than one frame, so the gate must close earlier. The order of samples by u* stays, and so does the AUC against OA.
Streams are of held-out images under the two training corruptions that chance redraws at every frame (where frames are
all alike, memory is the eye). b goes into the bias of the command's last layer.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from knob_core import checkpoint, data, fusion, gate, metrics
from knob_core.data import Images, Labels
from knob_core.data.pixels import to_bytes
from knob_core.memories import PLAIN
from knob_core.models import GatedClassifier
from knob_core.streams import ControlledStream
from train import commands
from train.measuring import branch_outputs
from train.training import selection

CORRUPTIONS = selection.require_training_corruptions(("speckle_noise", "spatter"))
FRAMES = 32
PATHS = 10  # images of one stream
STREAMS = 16  # of each corruption, each between two severities of its own
LIMITS = (-6.0, 6.0)  # of b
HELD_OUT = 2000  # the last training images, which the recipes never train on


@dataclass(frozen=True)
class Streams:
    """Branch outputs of P paths."""

    z_static: NDArray  # (P, T, K)
    z_dyn: NDArray  # (P, T, K)
    u_star: NDArray  # (P, T)
    labels: NDArray  # (P,)


@dataclass(frozen=True)
class Trim:
    offset: float  # b
    before: float  # mean cross-entropy, nats
    after: float


def streams(model: GatedClassifier, images: Images, labels: Labels, seed: int = 0) -> Streams:
    """Both corruptions, a turn between two severities, each stream over images of its own."""
    draw = np.random.default_rng(seed)
    member = branch_outputs.member(model, seed)
    parts: list[list[NDArray]] = []
    for number, name in enumerate(name for name in CORRUPTIONS for _ in range(STREAMS)):
        chosen = np.arange(number * PATHS, (number + 1) * PATHS) % len(labels)
        before, after = draw.uniform(0, 5, 2)
        severity = np.where(np.arange(FRAMES) < draw.integers(FRAMES // 4, 3 * FRAMES // 4), before, after)
        stream = ControlledStream(images[chosen], severity, name, 1, seed)
        frames = np.concatenate([to_bytes(stream.frames(0, FRAMES, path, 0)) for path in range(PATHS)])
        found = branch_outputs.compute([member], frames)[member.branches]
        shape = (PATHS, FRAMES)
        z_static, z_dyn = (z.reshape(*shape, -1) for z in (found.z_static, found.z_dyn))
        parts.append([z_static, z_dyn, found.u_star.reshape(shape), labels[chosen]])
    return Streams(*(np.concatenate(column) for column in zip(*parts, strict=True)))


def loss(made: Streams, zeta: float, omega_n: float, offset: float) -> float:
    """Mean cross-entropy with memory, every state starting from what its first frame shows."""
    u_star = made.u_star.astype(np.float64) + offset
    u = PLAIN.smooth(u_star[..., None], zeta, omega_n)[0][..., 0]
    z_static, _ = PLAIN.smooth(made.z_static.astype(np.float64), zeta, omega_n)
    z_fuse = fusion.fuse(z_static, made.z_dyn.astype(np.float64), gate.sigmoid(u))
    return float(metrics.cross_entropy(z_fuse, made.labels[:, None]).mean())


def fit(made: Streams, zeta: float, omega_n: float) -> Trim:
    """The best b; a scale as well would gain less than the noise of this fit and saturate the gate."""
    from scipy.optimize import minimize_scalar

    found = minimize_scalar(lambda b: loss(made, zeta, omega_n, b), bounds=LIMITS, method="bounded")
    return Trim(float(found.x), loss(made, zeta, omega_n, 0.0), float(found.fun))


def apply(model: GatedClassifier, trim: Trim) -> None:
    last: Any = model.command.net[-1]
    with torch.no_grad():
        last.bias.add_(trim.offset)


def trim_file(path: Path, out: Path, images: Images, labels: Labels) -> Trim:
    """Read a checkpoint, fit, and write it as `out`; its header says what was done, and it is done once."""
    header = checkpoint.read_header(path)
    if "trim" in header:
        raise ValueError(f"{path} has been trimmed already: {header['trim']}")
    model = checkpoint.load(path)
    if "zeta" not in model.dynamics.knobs:
        raise ValueError(f"{path} is a {model.method}; only knob-ode runs with static memory")
    trim = fit(streams(model, images, labels, int(header.get("seed", 0))), model.knobs.zeta, model.knobs.omega_n)
    apply(model, trim)
    done = {name: round(getattr(trim, name), 6) for name in ("offset", "before", "after")}
    checkpoint.save(model, out, {**header, "trim": done})
    return trim


def main(arguments: Sequence[str] | None = None) -> int:
    parser = commands.parser("train.trim", __doc__)
    parser.add_argument("checkpoints", nargs="+", type=Path, metavar="CHECKPOINT")
    parser.add_argument("--data", metavar="DIR", help="where CIFAR-10 lies (default: KNOB_DATA, ./data)")
    parser.add_argument("--out", type=Path, metavar="NAME", default=Path("trimmed.safetensors"),
                        help="file name beside each checkpoint (default: %(default)s)")  # fmt: skip
    args = parser.parse_args(arguments)

    def work() -> None:
        images, labels = data.load_cifar10(args.data, "train")
        for path in args.checkpoints:
            trim = trim_file(path, path.with_name(args.out.name), images[-HELD_OUT:], labels[-HELD_OUT:])
            print(f"{path}: u* <- u* {trim.offset:+.3f}, loss {trim.before:.4f} -> {trim.after:.4f}")

    return commands.run("train.trim", work)


if __name__ == "__main__":
    sys.exit(main())
