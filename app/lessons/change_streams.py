"""Streams for the lessons on change: what a real network said about 36 streams of 300 frames, no picture needed.

Content and damage of the picture change independently in them (`knob_core.streams.change`). The pictures are training
pictures that the network never saw in training, damaged by pairs of training corruptions: no test material.
Made, once, by
    python -m train.change_streams --checkpoint assets/checkpoints/knob-ode-s0.safetensors --split pairs --streams 36 \
        --seed 18 --out F.npz
    python -m app.lessons.change_streams F.npz
which writes the file beside this module. The network was that of the recipe `pocket`: a little less accurate than what
ships now, so that there is something to calm.
"""

from __future__ import annotations

import io
import sys
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from knob_core import branches, files, fusion, gate
from knob_core.measures import change
from knob_core.measures.truth import Truth, truth
from knob_core.rivals.base import Filter

FILE = Path(__file__).with_name("change_streams.npz")
SET = 6  # streams of one variant
SETS = 6


@dataclass(frozen=True)
class Streams:
    """SET streams of T frames over K classes."""

    z: np.ndarray  # (SET, T, K) the network's logits without Knob
    u_star: np.ndarray  # (SET, T) its command
    known: Truth

    @property
    def bare(self) -> np.ndarray:
        """(SET, T) the answers without Knob."""
        return self.z.argmax(-1)

    @property
    def cuts_of_first(self) -> np.ndarray:
        """(C,) frames of the first stream at which a cut that counts comes."""
        return self.known.cut_frame[self.known.cut_stream == 0]


@dataclass(frozen=True)
class Followed:
    """How answers followed the streams."""

    answer: np.ndarray  # (SET, T) class shown
    flips: float  # excess flips per 100 frames
    delay: float  # frames, mean over the cuts


@lru_cache(maxsize=SETS)
def streams(number: int) -> Streams:
    """One of the sets."""
    with np.load(FILE, allow_pickle=False) as file:
        part = slice(SET * number, SET * (number + 1))
        z, u_star, labels, content = (file[name][part] for name in ("z", "u_star", "labels", "content"))
    z = z.astype(np.float64)
    known = truth(labels.astype(np.int64), z.argmax(-1), content.astype(np.int64), same_class=False)
    return Streams(z, u_star.astype(np.float64), known)


def followed(of: Streams, logits: np.ndarray) -> Followed:
    """Measure answers, given as logits (SET, T, K)."""
    answer = logits.argmax(-1)
    counted = change.count(answer, of.known)
    return Followed(answer, float(counted.excess_flips), float(counted.delay_mean))


def filtered(of: Streams, by: Filter) -> Followed:
    """Measure what a filter makes of the streams."""
    return followed(of, by.run(of.z)[0])


def main(source: str) -> None:
    """Keep of a file of branch outputs what the lessons need."""
    made = branches.load(source)
    if made.content is None or len(made.z_static) != SET * SETS:
        raise SystemExit(f"{source} does not hold {SET * SETS} change streams")
    z = fusion.fuse(made.z_static, made.z_dyn, gate.sigmoid(made.u_star))
    _, content = np.unique(made.content, return_inverse=True)
    buffer = io.BytesIO()
    np.savez_compressed(
        buffer, z=z.astype(np.float16), u_star=made.u_star.astype(np.float16), labels=made.frame_labels.astype(np.int8),
        content=content.reshape(made.content.shape).astype(np.int16),
    )  # fmt: skip
    files.write_bytes(FILE, buffer.getvalue())


if __name__ == "__main__":
    main(sys.argv[1])
