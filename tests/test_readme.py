"""What the README tells people to type works as it stands."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import readme_examples
from readme_examples import README

from knob_core.runtime import KnobStream


def test_the_camera_example(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.chdir(tmp_path)
    names = readme_examples.camera_example()
    assert len(capsys.readouterr().out.splitlines()) == 5
    stream = names["stream"]
    assert isinstance(stream, KnobStream) and stream.zeta == 1.5


@pytest.mark.slow
def test_the_example_with_your_own_model():
    names = readme_examples.own_model_example()
    assert names["answer"].probabilities.shape == (3, 4)
    assert (names["stream"].zeta, names["stream"].omega_n) == names["found"].knobs
    assert names["found"].flips < names["found"].flips_before / 3


def test_commands_and_files_that_are_named_exist():
    root = Path(__file__).parents[1]
    for module in re.findall(r"python -m ([\w.]+)", README):
        if module.startswith("train."):
            path = root / module.replace(".", "/")
            assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module
    for path in re.findall(r"\]\((?!http|#)([^)]+)\)", README):
        if not path.startswith("assets/screenshots/"):
            assert (root / path).exists(), path
