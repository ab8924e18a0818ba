"""The house's own rules: who may import whom, what ships, and that a light import stays light."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FORBIDDEN = {
    "knob_core": {"streamlit", "plotly", "app", "train"},
    "train": {"streamlit", "app"},
    "app/figures": {"streamlit", "torch", "torchvision"},
}
LIGHT = (
    "gate",
    "theory",
    "fusion",
    "metrics",
    "schedules",
    "settings",
    "branches",
    "measures.stability",
    "measures.change",
    "streams.change",
    "data",
    "library",
)


def imports(path: Path) -> set[str]:
    """Top-level packages a file imports, wherever in it."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.split(".")[0])
    return names


@pytest.mark.parametrize("folder", FORBIDDEN)
def test_data_walks_one_way(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    offenders = {str(path.relative_to(ROOT)): found for path in files if (found := imports(path) & FORBIDDEN[folder])}
    assert not offenders


@pytest.mark.parametrize("module", LIGHT)
def test_the_live_arithmetic_needs_no_torch(module: str) -> None:
    code = f"import sys, knob_core.{module}; sys.exit('torch' in sys.modules or 'streamlit' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0


def test_the_doors_open_and_cost_nothing_before() -> None:
    import knob_core

    code = "import sys, knob_core; sys.exit(bool({'torch', 'numpy', 'scipy'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
    assert 8 <= len(knob_core.__all__) <= 12
    for name in knob_core.__all__:
        assert callable(getattr(knob_core, name)), name
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = knob_core.nothing


def test_a_registry_lists_the_same_methods_everywhere() -> None:
    from app import benchmark, choice
    from knob_core import models, response
    from train.report import results

    for listed in (response.DYNAMICS, choice.METHODS, benchmark.METHODS, results.NAMES):
        assert set(models.METHODS) <= set(listed), listed


def test_requirements_are_exact() -> None:
    lines = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if line and line[0] != "#"]
    assert all(re.fullmatch(r"[a-z0-9_-]+==[0-9.]+", line) for line in lines), lines
    assert {"torch==2.13.0", "torchvision==0.28.0"} <= set(lines)


def test_nothing_is_pickled() -> None:
    users = {
        str(path.relative_to(ROOT))
        for folder in ("app", "knob_core", "train")
        for path in (ROOT / folder).rglob("*.py")
        if imports(path) & {"pickle", "joblib", "dill", "cloudpickle"} or "torch.load(" in path.read_text()
    }
    assert not users


def test_assets_stay_small() -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "assets"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout
    sizes = [(ROOT / name).stat().st_size for name in tracked.splitlines() if (ROOT / name).exists()]
    assert sum(sizes) <= 80e6
