"""What the README tells people to type works as it stands, and a stranger finds it soon."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import readme_examples
from readme_examples import README

ROOT = Path(__file__).parents[1]


@pytest.mark.slow
def test_the_examples_run_in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names = readme_examples.run()
    assert names["p"].shape == (5,) and abs(names["p"].sum() - 1) < 1e-9


def test_picture_and_first_example_come_early() -> None:
    lines = README.splitlines()
    assert len(lines) <= 100
    assert any("docs/knob.gif" in line for line in lines[:15])
    assert lines.index("```python") < 30
    assert 0 < (ROOT / "docs" / "knob.gif").stat().st_size <= 2e6


def test_commands_and_files_that_are_named_exist() -> None:
    for path in re.findall(r"\]\((?!http|#)([^)]+)\)", README):
        assert (ROOT / path).exists(), path


def test_the_version_stands_in_one_place_and_the_changelog_is_of_it() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+) \(\d{4}-\d\d-\d\d\)$", changes, re.MULTILINE).group(1) == project["version"]
