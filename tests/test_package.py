"""The built package in a fresh environment and an empty folder: what people get from `pip install .`."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parent.parent
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
LARGEST = 3e6  # bytes of the wheel; a shipped pocket model is half of it

pytestmark = pytest.mark.slow


class Installed(NamedTuple):
    """An environment with the wheel in it."""

    sdist: Path
    wheel: Path
    bin: Path
    folder: Path  # empty

    def run(self, *arguments: str, cwd: Path | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        own = {k: v for k, v in os.environ.items() if not k.startswith(("KNOB_", "PYTHON"))}
        command = [str(self.bin / arguments[0]), *arguments[1:]]
        return subprocess.run(
            command, cwd=cwd or self.folder, env=own | environment, capture_output=True, text=True, check=False
        )


def checked(*command: object, cwd: Path = ROOT) -> None:
    done = subprocess.run([str(x) for x in command], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """The source distribution, the wheel built from it, and an environment that has it and borrows torch from ours."""
    top = tmp_path_factory.mktemp("package")
    checked(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", top / "dist")
    (sdist,) = (top / "dist").glob("*.tar.gz")
    checked(sys.executable, "-m", "pip", "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", top / "dist", sdist)
    (wheel,) = (top / "dist").glob("*.whl")
    checked(sys.executable, "-m", "venv", "--without-pip", top / "venv")
    python = top / "venv" / "bin" / "python"
    checked(sys.executable, "-m", "pip", "--python", python, "install", "-q", "--no-deps", "--no-index", wheel)
    (site,) = (top / "venv" / "lib").glob("python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib"))  # its own .pth files are not read
    (top / "empty").mkdir()
    return Installed(sdist, wheel, python.parent, top / "empty")


def test_one_package_no_common_names_and_a_small_file(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as file:
        names = file.namelist()
    assert {name.split("/")[0] for name in names} == {"knob_core", f"knob_core-{VERSION}.dist-info"}
    assert {"knob_core/py.typed", "knob_core/data/__init__.py", "knob_core/shipped/frost/frost5.webp"} <= set(names)
    assert {"knob_core/shipped/real/speech.npz", "knob_core/shipped/real/README.md"} <= set(names)
    assert "knob_core/shipped/frost/NOTICE.md" in names  # the textures' licence goes with them
    assert installed.wheel.stat().st_size < LARGEST
    with tarfile.open(installed.sdist) as archive:
        assert {name.split("/")[1] for name in archive.getnames()} >= {"knob_core", "assets", "LICENSE", "README.md"}


def test_the_readme_examples_run_in_an_empty_folder(installed: Installed) -> None:
    done = installed.run("python", str(ROOT / "tests" / "helpers" / "readme_examples.py"))
    assert done.returncode == 0, done.stderr
    assert "changes of the answer per 100 frames" in done.stdout  # what listening found
    where = installed.run("python", "-c", "import knob_core; print(knob_core.__file__)")
    assert where.stdout.startswith(str(installed.bin.parent)), where  # not our own copy


def test_nothing_but_knob_core_can_be_imported(installed: Installed) -> None:
    code = "from importlib.util import find_spec as f; print(*map(bool, map(f, ('knob_core', 'app', 'train'))))"
    assert installed.run("python", "-c", code).stdout.split() == ["True", "False", "False"]


SHIPPED = """
import torch
from knob_core import corrupt, data, library
from knob_core.runtime import KnobStream

assert corrupt(torch.rand(2, 3, 32, 32), "frost", 3).shape == (2, 3, 32, 32)
for load in (data.load_sample, library.streams, lambda: KnobStream("static-s2")):
    try:
        load()
        print("found")
    except FileNotFoundError as error:
        print(error)
"""


def test_every_corruption_works_and_what_is_left_out_is_named(installed: Installed) -> None:
    alone = installed.run("python", "-c", SHIPPED)
    said = alone.stdout.splitlines()
    assert len(said) == 3, alone
    assert all("clone the repository and set KNOB_ASSETS" in line for line in said), said
    with_a_clone = installed.run("python", "-c", SHIPPED, KNOB_ASSETS=str(ROOT / "assets"))
    assert with_a_clone.stdout.split() == ["found"] * 3, with_a_clone


def test_the_command_says_what_it_needs_and_runs_in_a_clone(installed: Installed) -> None:
    assert installed.run("knob", "--version").stdout == f"knob {VERSION}\n"
    outside = installed.run("knob", "evaluate", "--help")
    assert outside.returncode == 2 and "needs a clone of the repository" in outside.stderr
    inside = installed.run("knob", "evaluate", "--help", cwd=ROOT / "tests")
    assert inside.returncode == 0 and "CHECKPOINT" in inside.stdout, inside.stderr
