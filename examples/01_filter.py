"""A stream of logits through Knob: fewer changes of the answer, and a new class is shown soon. Needs `pip install .`"""

from __future__ import annotations

import numpy as np

from knob_core import Knob

FRAMES, CLASSES = 300, 5


def camera(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """(T,) true classes, a new one every 60 frames, and noisy logits (T, K), as a classifier would give them."""
    truth = np.arange(FRAMES) // 60 % CLASSES
    return truth, 2.5 * np.eye(CLASSES)[truth] + rng.normal(0, 1.2, (FRAMES, CLASSES))


def changes(answers: np.ndarray) -> int:
    return int((np.diff(answers) != 0).sum())


def main() -> None:
    truth, logits = camera(np.random.default_rng(0))
    print(f"the truth changes {changes(truth)} times, the classifier's answer {changes(logits.argmax(1))} times")
    for omega_n in (0.4, 0.1, 0.02):  # rad/frame: lower is calmer, and later
        knob = Knob(zeta=1.0, omega_n=omega_n)
        answers = np.array([knob(frame).argmax() for frame in logits])  # frame by frame, as in a live loop
        print(f"omega_n {omega_n:4}: changes {changes(answers)} times, right in {(answers == truth).mean():.0%}")


if __name__ == "__main__":
    main()
