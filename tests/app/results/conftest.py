"""Made-up result tables for the pages that show them."""

from __future__ import annotations

import shutil
from pathlib import Path

import made_results
import pytest

from app.results import result_files


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_results.write(tmp_path_factory.mktemp("made"))


@pytest.fixture
def folder(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy that a test may spoil."""
    copy = shutil.copytree(made, tmp_path / "results")
    monkeypatch.setattr(result_files, "FOLDER", copy)
    return copy
