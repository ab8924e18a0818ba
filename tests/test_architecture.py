"""Rules of the code base: who may import whom, what ships, and that a light import stays light."""

from __future__ import annotations

import ast
import importlib.util
import re
import subprocess
import sys
import tomllib
from importlib.metadata import requires
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

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
def test_data_flows_one_way(folder: str) -> None:
    files = sorted((ROOT / folder).rglob("*.py"))
    assert files
    offenders = {str(path.relative_to(ROOT)): found for path in files if (found := imports(path) & FORBIDDEN[folder])}
    assert not offenders


def test_one_file_reads_the_insides_of_streamlit() -> None:
    """Everything else uses `import streamlit as st` alone."""
    inside = re.compile(r"^\s*(?:from|import) streamlit\.", re.M)
    offenders = {path.name for path in (ROOT / "app").rglob("*.py") if inside.search(path.read_text())}
    assert offenders == {"streamlit_compat.py"}


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
    from app.console import stream_choice
    from app.results import benchmark_tables
    from knob_core import methods, models
    from knob_core.library import benchmark as tables

    for listed in (models.METHODS, stream_choice.MODEL_ORDER, benchmark_tables.METHODS, tables.METHODS):
        assert set(methods.METHODS) == set(listed), listed


def test_requirements_are_exact() -> None:
    lines = [line for line in (ROOT / "requirements.txt").read_text().splitlines() if line and line[0] != "#"]
    assert all(re.fullmatch(r"[a-z0-9_-]+==[0-9.]+", line) for line in lines), lines
    assert {"torch==2.13.0", "torchvision==0.28.0"} <= set(lines)


def pins(file: str) -> dict[str, Version]:
    """Name -> exact version of every line that has one."""
    text = (ROOT / file).read_text(encoding="utf-8")
    return {canonicalize_name(name): Version(v) for name, v in re.findall(r"^([\w.-]+)==([\w.]+)", text, re.MULTILINE)}


def test_the_exact_versions_lie_in_the_package_s_ranges() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    optional = project["optional-dependencies"]
    extras = (need for extra in ("models", "app", "train") for need in optional[extra])
    ranges = {
        canonicalize_name(wanted.name): wanted.specifier
        for wanted in map(Requirement, (*project["dependencies"], *extras))
        if wanted.name != project["name"]  # an extra that brings another
    }
    exact = pins("requirements.txt")
    assert exact.keys() <= ranges.keys()
    outside = {
        name: (str(version), str(ranges[name])) for name, version in exact.items() if version not in ranges[name]
    }
    assert not outside
    by_others = {"matplotlib"}  # only draws the report
    assert ranges.keys() - exact.keys() == by_others


def test_the_lock_has_the_exact_versions_with_hashes_and_no_address() -> None:
    text = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    locked, exact = pins("requirements.lock"), pins("requirements.txt")
    by_build = {"torch", "torchvision"}  # one version, several builds: see docs/install.md
    assert {name: locked.get(name) for name in exact.keys() - by_build} == {
        n: exact[n] for n in exact.keys() - by_build
    }
    assert not locked.keys() & by_build
    of_torch = {canonicalize_name(need.name) for need in map(Requirement, requires("torch") or []) if not need.marker}
    assert of_torch <= locked.keys()
    entries = re.split(r"\n(?=[\w.-]+==)", text)
    assert all("--hash=sha256:" in entry for entry in entries if re.match(r"[\w.-]+==", entry))
    assert "http" not in text
    made = (ROOT / "Makefile").read_text(encoding="utf-8").partition("$(VENV)/.run:")[2].partition("\n\n")[0]
    assert "--require-hashes -r requirements.lock" in made  # what `make app` installs


def test_the_clone_is_installed_with_a_builder_that_is_locked() -> None:
    made, project = ((ROOT / file).read_text(encoding="utf-8") for file in ("Makefile", "pyproject.toml"))
    assert "--no-deps --no-build-isolation --editable ." in made  # isolation fetches the builder without hashes
    locked = pins("requirements.lock")
    builder = {canonicalize_name(n.name) for n in map(Requirement, requires("hatchling") or []) if not n.marker}
    assert builder | {"editables"} <= locked.keys()
    assert f'"hatchling=={locked["hatchling"]}"' in project  # the developers' own


IMPORTED_FIRST = """
import importlib, sys
import knob_core  # comes first whatever is imported of it, and imports nothing of train
kept = set(sys.modules)
for name in sys.argv[1:]:
    for old in sorted(m for m in sys.modules if m.split(".")[0] in ("knob_core", "train") and m not in kept):
        parent, _, leaf = old.rpartition(".")
        vars(sys.modules.get(parent, sys)).pop(leaf, None)  # or `from parent import leaf` would still find it
    for old in [m for m in sys.modules if m.split(".")[0] in ("knob_core", "train") and m not in kept]:
        del sys.modules[old]
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(name, error)
"""


@pytest.mark.slow
def test_every_module_can_be_the_first_that_is_imported() -> None:
    files = [p for folder in ("knob_core", "train") for p in sorted((ROOT / folder).rglob("*.py"))]
    names = [".".join(p.relative_to(ROOT).with_suffix("").parts) for p in files if p.name != "__main__.py"]
    if importlib.util.find_spec("ray") is None:  # an extra that developers need not have
        names = [name for name in names if ".on_ray." not in name]
    command = [sys.executable, "-c", IMPORTED_FIRST, *(name.removesuffix(".__init__") for name in names)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert len(names) > 80
    assert done.stdout == ""


def test_nothing_is_pickled() -> None:
    users = {
        str(path.relative_to(ROOT))
        for folder in ("app", "knob_core", "train")
        for path in (ROOT / folder).rglob("*.py")
        if imports(path) & {"pickle", "joblib", "dill", "cloudpickle"} or "torch.load(" in path.read_text()
    }
    assert not users


def test_assets_stay_small() -> None:
    listed = subprocess.run(["git", "ls-files", "assets"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    sizes = [(ROOT / name).stat().st_size for name in listed.splitlines() if (ROOT / name).exists()]
    assert 0 < sum(sizes) <= 80e6  # without git nothing is listed, and nothing would be measured


def test_tests_in_a_browser_have_a_folder_of_their_own() -> None:
    """`make test` runs that folder apart, and nothing in it before."""
    tests = sorted((ROOT / "tests").rglob("test_*.py"))
    marked = {
        path
        for path in tests
        if re.search(r"^pytestmark = .*mark\.browser|^@pytest\.mark\.browser", path.read_text(), re.M)
    }
    assert marked == {path for path in tests if path.parent.name == "browser"}
