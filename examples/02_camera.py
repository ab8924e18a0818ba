"""A camera through the model that ships: python examples/02_camera.py [0 | video.mp4]. Needs `pip install '.[models]'`

With OpenCV (pip install opencv-python) it reads a camera or a video; without an argument it shows noisy sample images.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import numpy as np

from knob_core import KnobStream
from knob_core.data import CLASSES, load_sample


def opened(source: str) -> Iterator[np.ndarray]:
    import cv2

    video = cv2.VideoCapture(int(source) if source.isdecimal() else source)
    while (frame := video.read()[1]) is not None:
        yield frame[..., ::-1]  # OpenCV has BGR


def made_up() -> Iterator[np.ndarray]:
    """Four pictures of the sample, 25 frames of each, under noise: (32, 32, 3) bytes."""
    rng, (images, _, _) = np.random.default_rng(0), load_sample()
    for picture in images[::250].transpose(0, 2, 3, 1):
        for _ in range(25):
            yield np.clip(picture + rng.normal(0, 30, picture.shape), 0, 255).astype(np.uint8)


if __name__ == "__main__":
    stream = KnobStream("knob-ode-s0", zeta=1.0, omega_n=0.4)
    for number, frame in enumerate(opened(sys.argv[1]) if len(sys.argv) > 1 else made_up()):
        answer = stream.step(frame)
        print(f"{number:4}  {CLASSES[answer.label]:10}  {answer.p_max:.2f}  gate {answer.g:.2f}")
