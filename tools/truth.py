"""Write knob_core/truth.csv: frames and answers that knob.py and knob.js must both give. `python -m tools.truth`.

A row is a frame: case, zeta, omega_n, logits z, of two branches z and d with u_star (empty: it did not come), then the
answer p and the gate's u. A line `# {...}` has the weights of the case that follows it.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from knob_core import files
from knob_core.knob import Knob

PATH = Path(__file__).parents[1] / "knob_core" / "truth.csv"
CLASSES, FRAMES = 3, 40
CASES = (  # weights; whether there are two branches
    ({}, False),
    ({"a": -0.4, "b": 3.0, "d": 2.5, "tau": 1.3, "eps": 0.005, "t_0": 0.2, "f": 0.1}, True),
    ({"b": 1.0, "f": 0.0, "o": [0.4, 0.0, -0.3], "s": [0.0, -1.0, 0.5]}, False),
)
TURNS = {10: (1.0, 0.1), 20: (0.2, 0.8), 30: (2.5, 2.0)}  # frame -> zeta, omega_n from there on


def rows() -> list[str]:
    """The lines of the file."""
    names = [f"{part}{i}" for part in "zd" for i in range(CLASSES)]
    lines = [",".join(["case", "zeta", "omega_n", *names, "u_star", *(f"p{i}" for i in range(CLASSES)), "u"])]
    draw = np.random.default_rng(7)
    for case, (weights, gated) in enumerate(CASES):
        lines.append("# " + json.dumps(weights))
        knob, label = Knob(1.0, 0.4, **weights), 0
        for t in range(FRAMES):
            knob.zeta, knob.omega_n = TURNS.get(t, (knob.zeta, knob.omega_n))
            label = int(draw.integers(CLASSES)) if t % 9 == 0 else label
            z, d = (draw.normal(0, spread, CLASSES).round(4) + 2 * np.eye(CLASSES)[label] for spread in (1, 2))
            given: list[np.ndarray | float] = [*z, *(d if gated else []), *([round(draw.normal(), 4)] if gated else [])]
            if lost := t in (15, 16):
                z = np.full(CLASSES, np.nan)
            p = knob(z, d, given[-1]) if gated else knob(z)
            blank = 2 * CLASSES + 1
            cells = [""] * blank if lost else [repr(float(x)) for x in given] + [""] * (blank - len(given))
            answer = [repr(float(x)) for x in (*p, knob.state["gate"][0, 0])]
            lines.append(",".join([str(case), repr(knob.zeta), repr(knob.omega_n), *cells, *answer]))
    return lines


if __name__ == "__main__":
    files.write_text(PATH, "\n".join(rows()) + "\n")
    print(f"wrote {PATH}")
