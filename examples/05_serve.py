"""A service, a client that sends logits, and a knob turned from elsewhere. Needs `pip install '.[serve]'`"""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from knob_core.client import Service, Stream

PORT = sys.argv[1] if len(sys.argv) > 1 else "8600"
CLASSES = 3


def main(url: str) -> None:
    rng = np.random.default_rng(0)
    with Stream(url, "door") as stream:  # waits until the service is there, and connects again by itself
        for number in range(60):
            if number == 30:
                Service(url).turn(omega_n=0.05)  # as an operator would, while it runs
            logits = 2.0 * np.eye(CLASSES)[number // 20] + rng.normal(0, 1, CLASSES)
            answer = stream.step(logits)
            print(f"{number:3}  class {answer['label']}  {answer['p_max']:.2f}  omega_n {answer['omega_n']:.2f}")
        stream.leave()  # the stream has ended


if __name__ == "__main__":
    command = [sys.executable, "-m", "knob_core.serving", f"logits:{CLASSES}", "--port", PORT, "--log-level", "error"]
    service = subprocess.Popen(command)  # as `knob serve logits:3` would in a second terminal
    try:
        main(f"http://127.0.0.1:{PORT}")
    finally:
        service.terminate()
        service.wait()
