"""The core runs without torch, torchvision, safetensors and Pillow; doors that need them say which extra is missing."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib

import pytest

from knob_core import _extras
from knob_core.assets import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

WITHOUT = f"""
import sys

class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {[*_extras.EXTRAS]}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, NotInstalled())
import numpy as np
"""

CORE = """
import knob_core.measures, knob_core.rivals, knob_core.streams.change, knob_core.theory, knob_core.tuning.compare
from knob_core import Knob, KnobStream, Settings, ece_debiased, fit, wrap
from knob_core.data import real

speech = real.load("speech")
assert Knob(zeta=1.0, omega_n=0.4).run(speech.logits[:, :20]).shape == (13, 20, 2)
found = fit(speech.logits[:3, :200])
stream = KnobStream(wrap.classifier(lambda frames: np.asarray(frames) @ np.eye(5, 3)), settings=found.settings)
print(stream.step(np.ones((2, 5))).label.shape)
"""

DOORS = {
    "from knob_core import corrupt": "knob_core.corrupt",
    "from knob_core import build": "knob_core.build",
    "from knob_core import KnobStream; KnobStream('knob-ode-s0')": "the model 'knob-ode-s0'",
    "from knob_core.data import load_sample; load_sample()": "reading images.webp",
}


def run(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", WITHOUT + code], cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_filter_fit_measures_rivals_and_theory_need_no_torch() -> None:
    done = run(CORE)
    assert (done.returncode, done.stdout) == (0, "(2,)\n"), done.stderr


@pytest.mark.parametrize("code", DOORS)
def test_a_door_that_needs_an_extra_names_it_in_one_sentence(code: str) -> None:
    last = run(code).stderr.splitlines()[-1]
    said = (
        re.escape(f"{DOORS[code]} needs ")
        + r"\w+"
        + re.escape(", which is not installed: pip install 'knob-core[models]'")
    )
    assert re.fullmatch(f"ModuleNotFoundError: {said}", last), last


def test_the_extras_that_errors_name_bring_these_packages() -> None:
    for module, extra in _extras.EXTRAS.items():
        package = {"PIL": "pillow"}.get(module, module)
        assert any(need.startswith(f"{package}>") for need in PROJECT["optional-dependencies"][extra]), module
    assert {re.split(r"[<>=]", need)[0] for need in PROJECT["dependencies"]} == {"numba", "numpy", "scipy"}
