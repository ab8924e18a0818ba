"""Every example runs as it stands, in an empty folder and without a camera or a screen, and stays short."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from knob_core.assets import ROOT
from tools.screenshots import free_port

EXAMPLES = ROOT / "examples"
SAYS = {  # script -> what it prints, last
    "01_filter.py": "omega_n 0.02: changes",
    "02_camera.py": "  99  ",
    "03_your_model.py": "3 changes are true",
    "04_fit.py": "knob.toml is written",
    "05_serve.py": " 59  class",
}
NEEDS = {"02_camera.py": "torch", "05_serve.py": "prometheus_client"}


def test_every_example_is_run_and_short() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == SAYS.keys()
    for path in EXAMPLES.glob("*.py"):
        assert len(path.read_text(encoding="utf-8").splitlines()) < 40, path.name


@pytest.mark.slow
@pytest.mark.parametrize("name", SAYS)
def test_an_example_runs(name: str, tmp_path: Path) -> None:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    given = [str(free_port())] if name == "05_serve.py" else []
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / name), *given],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert SAYS[name] in done.stdout.splitlines()[-1], done.stdout


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.chdir(tmp_path)
    book = json.loads((EXAMPLES / "knob.ipynb").read_text(encoding="utf-8"))
    code = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    assert sum(len(cell.splitlines()) for cell in code) < 40
    names: dict[str, object] = {}
    for cell in code:
        exec(cell, names)
    assert names["calm"] < names["bare"]
