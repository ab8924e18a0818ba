"""About: what it says of this installation is true, and saying it does not load torch."""

from __future__ import annotations

import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from app.console import shipped_models
from app.server import installation
from knob_core import methods

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def page() -> AppTest:
    return AppTest.from_file(str(ROOT / "app" / "app_pages" / "about.py"), default_timeout=60).run()


def text(at: AppTest) -> str:
    return "\n".join(element.value for kind in ("markdown", "caption", "header") for element in at.get(kind))


def test_the_page_tells_equation_architecture_citation_device_and_versions(page: AppTest) -> None:
    assert not page.exception
    said = text(page)
    for wanted in (
        "The equation",
        "Architecture",
        "How to cite",
        "This installation",
        "Device:",
        "Checkpoint:",
        "Jiang",
    ):
        assert wanted in said
    assert len(page.latex) == 3
    table = page.table[0].value
    found = dict(zip(table["what"], table["version"], strict=True))
    assert found["python"] == platform.python_version()
    for name in installation.PACKAGES:
        assert found[name] == version(name)


def test_every_module_of_the_architecture_exists(page: AppTest) -> None:
    import re

    row = next(element.value for element in page.markdown if "| step | where |" in element.value)
    named = [name for name in re.findall(r"`([\w/.]+)`", row) if name != "app/figures/"]
    assert len(named) >= 7
    for name in named:
        assert (ROOT / "knob_core" / name).exists(), name


def test_a_missing_checkpoint_is_named_with_the_command_that_makes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "checkpoint", lambda method, seed: None)
    at = AppTest.from_file(str(ROOT / "app" / "app_pages" / "about.py"), default_timeout=60).run()
    assert "python -m train.fit" in text(at)


def test_checkpoint_facts_are_those_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import hashlib

    import numpy as np
    from safetensors.numpy import save_file

    monkeypatch.setattr(shipped_models, "FOLDER", tmp_path)
    raw = np.log(np.expm1(np.array([0.7, 0.4])))  # softplus's inverse
    path = tmp_path / "knob-ode-s3.safetensors"
    save_file({"knobs.raw": raw.astype(np.float32)}, path)
    found = installation.checkpoint("knob-ode", 3)
    assert found is not None
    assert found.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert found.bytes == path.stat().st_size
    assert found.knobs == (0.7, 0.4)
    assert installation.checkpoint("knob-ode", 4) is None


@pytest.mark.parametrize("build, words", [("2.0.0+cpu", "no GPU support"), ("not installed", "not installed")])
def test_the_device_is_told_without_torch(monkeypatch: pytest.MonkeyPatch, build: str, words: str) -> None:
    monkeypatch.setattr(installation, "installed", lambda name: build)
    assert words in installation.device()


def test_a_gpu_build_is_not_asked_before_torch_is_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installation, "installed", lambda name: "2.0.0+cu130")
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    assert installation.device() == ""


def test_the_page_does_not_load_torch() -> None:
    code = (
        "import sys; from streamlit.testing.v1 import AppTest; "
        "at = AppTest.from_file('app/app_pages/about.py', default_timeout=60).run(); "
        "assert not at.exception; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, env=None)


def test_the_model_is_called_by_its_name(page: AppTest) -> None:
    assert f"**Checkpoint:** {methods.get(methods.DEFAULT).name}, seed 0" in text(page)
