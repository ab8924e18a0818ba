"""knob.py, its compiled form and knob.js give the answers of truth.csv."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from knob_core import knob
from knob_core.memories import attentive

FOLDER = Path(knob.__file__).parent
SCRIPT = """
import { readFileSync } from "node:fs";
import { Knob } from %s;
const [head, ...lines] = readFileSync(%s, "utf8").trim().split("\\n"), names = head.split(",");
let worst = 0, weights = {}, seen = null, knob = null;
for (const line of lines) {
  if (line.startsWith("# ")) { weights = JSON.parse(line.slice(2)); continue; }
  const cells = line.split(","), row = Object.fromEntries(names.map((name, i) => [name, cells[i]]));
  if (row.case !== seen) { knob = new Knob(weights); seen = row.case; }
  const part = (letter) => [0, 1, 2].map((i) => Number(row[letter + i]));
  knob.zeta = Number(row.zeta); knob.omega_n = Number(row.omega_n);
  const p = row.z0 === "" ? knob.next(null)
    : row.d0 === "" ? knob.next(part("z")) : knob.next(part("z"), part("d"), Number(row.u_star));
  worst = Math.max(worst, Math.abs(knob.u - Number(row.u)), ...part("p").map((x, i) => Math.abs(x - p[i])));
}
console.log(worst);
"""


def cases() -> list[tuple[dict[str, object], list[dict[str, float]]]]:
    """Weights and rows of each case; NaN for an empty cell."""
    head, *lines = (FOLDER / "truth.csv").read_text().splitlines()
    found: list[tuple[dict[str, object], list[dict[str, float]]]] = []
    for line in lines:
        if line.startswith("# "):
            found.append((json.loads(line[2:]), []))
        else:
            cells = [float(cell) if cell else np.nan for cell in line.split(",")]
            found[-1][1].append(dict(zip(head.split(","), cells, strict=True)))
    return found


@pytest.mark.parametrize("kind", [knob.Knob, attentive.Knob], ids=["definition", "compiled"])
def test_python_gives_the_recorded_answers(kind: type[knob.Knob]) -> None:
    for weights, rows in cases():
        followed, gated = kind(1.0, 0.4, **weights), not np.isnan(rows[0]["d0"])
        for row in rows:
            z, d, p = (np.array([row[f"{letter}{i}"] for i in range(3)]) for letter in "zdp")
            followed.zeta, followed.omega_n = row["zeta"], row["omega_n"]
            answer = followed(z, d, row["u_star"]) if gated else followed(z)
            np.testing.assert_allclose(answer, p, atol=1e-9, rtol=0)
            assert abs(followed.state["gate"][0, 0] - row["u"]) < 1e-9


@pytest.mark.skipif(shutil.which("node") is None, reason="needs Node.js")
def test_javascript_gives_the_recorded_answers() -> None:
    script = SCRIPT % (json.dumps((FOLDER / "knob.js").as_uri()), json.dumps(str(FOLDER / "truth.csv")))
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=True, timeout=60
    )
    assert float(done.stdout) < 1e-6


def test_the_file_is_the_definitions() -> None:
    from tools import truth

    assert truth.rows() == (FOLDER / "truth.csv").read_text().splitlines()
