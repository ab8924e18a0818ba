"""Where shipped files are looked for, and what is said where there is none."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from knob_core import assets


def test_a_file_is_found_in_the_first_folder_that_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "ASSETS", tmp_path)
    assert assets.find("frost/frost1.webp") == assets.ROOT / "assets/frost/frost1.webp"
    (tmp_path / "frost").mkdir()
    (tmp_path / "frost/frost1.webp").touch()
    assert assets.find("frost/frost1.webp") == tmp_path / "frost/frost1.webp"


def test_a_missing_file_is_named_with_the_way_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileNotFoundError, match=r"nothing\.npz is missing; make it anew: python -m train\.library"):
        assets.find("nothing.npz", "python -m train.library")
    monkeypatch.setattr(assets, "IN_CLONE", False)
    with pytest.raises(FileNotFoundError, match=r"clone the repository and set KNOB_ASSETS .*it is not set now"):
        assets.find("nothing.npz")
    monkeypatch.setenv("KNOB_ASSETS", "/wrong")
    with pytest.raises(FileNotFoundError, match="it is '/wrong' now"):
        assets.find("nothing.npz")


def test_a_model_by_name_and_a_path_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shipped = assets.ROOT / "assets/checkpoints/knob-ode-s0.safetensors"
    assert assets.checkpoint("knob-ode-s0") == shipped
    for path in ("mine.safetensors", "runs/mine", str(shipped)):
        assert assets.checkpoint(path) == Path(path)
    monkeypatch.chdir(tmp_path)
    Path("mine").touch()
    assert assets.checkpoint("mine") == Path("mine")
    with pytest.raises(FileNotFoundError, match=r"checkpoints/knob-odd\.safetensors is missing"):
        assets.checkpoint("knob-odd")


@pytest.mark.parametrize("named", ["", "/somewhere/else"])
def test_the_environment_variable_comes_first(named: str) -> None:
    code = "from knob_core.assets import ASSETS; print(ASSETS)"
    environment = {**os.environ, "KNOB_ASSETS": named}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=assets.ROOT, env=environment, capture_output=True, text=True
    )
    assert done.stdout.strip() == (named or str(assets.ROOT / "assets"))
