"""Your own model with the knobs: any function from frames to logits, set up without labels. Needs `pip install .`"""

from __future__ import annotations

import numpy as np

from knob_core import KnobStream, fit, wrap

CLASSES = 4
PICTURES = np.random.default_rng(0).normal(0, 1, (CLASSES, 64))  # one a class


def model(frames: np.ndarray) -> np.ndarray:
    """Frames (N, 64) -> logits (N, K); put your network here, a torch module is taken too."""
    return frames @ PICTURES.T / 16


def watched(frames: int, seed: int) -> np.ndarray:
    """(T, 64): a noisy view of one picture after the other."""
    rng = np.random.default_rng(seed)
    return PICTURES[np.arange(frames) // 40 % CLASSES] + rng.normal(0, 2.5, (frames, 64))


def main() -> None:
    found = fit(model(watched(600, seed=1)))  # (T, K): a few hundred frames that you watched, no labels
    print(found)
    stream = KnobStream(wrap.classifier(model), settings=found.settings)
    shown = [(int(model(frame[None]).argmax()), stream.step(frame[None]).label[0]) for frame in watched(160, seed=2)]
    alone, held = np.diff(np.array(shown), axis=0).T != 0
    print(f"the answer changes {alone.sum()} times without Knob, {held.sum()} times with it; 3 changes are true")
    stream.omega_n /= 2  # calmer from the next frame on; nothing is reset


if __name__ == "__main__":
    main()
