"""Compiled loops: machine code, NumPy form and plain Python agree, and nobody imports numba before it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from knob_core._arrays import compiled as module
from knob_core._arrays.compiled import compiled

ROOT = Path(__file__).resolve().parents[2]


def _running_sum(x: np.ndarray) -> np.ndarray:
    return np.cumsum(x)


@compiled()
def _plus(a, b):
    return a + b


@compiled(_running_sum)
def running_sum(x):
    out = np.empty_like(x)
    total = 0.0
    for i in range(len(x)):
        total = _plus(total, x[i])
        out[i] = total
    return out


def test_loops_numpy_form_and_machine_code_agree() -> None:
    x = np.array([1.0, 2.0, 4.0])
    assert running_sum.loops(x).tolist() == running_sum.numpy_form(x).tolist() == [1, 3, 7]
    assert running_sum(x).tolist() == [1, 3, 7]


def test_the_machine_code_is_numbas_and_made_once() -> None:
    pytest.importorskip("numba")
    code = running_sum.machine_code()
    assert hasattr(code, "py_func")  # a numba dispatcher
    assert running_sum.machine_code() is code


def test_without_numba_the_numpy_form_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    called = []
    numpy_form = lambda x: called.append("numpy") or x  # noqa: E731
    both = compiled(numpy_form)(lambda x: called.append("loops") or x)
    only_loops = compiled()(lambda x: called.append("plain") or x)
    monkeypatch.setattr(module, "available", lambda: False)
    assert both(3) == only_loops(3) == 3
    assert called == ["numpy", "plain"]


def test_a_helper_of_another_file_is_refused() -> None:
    pytest.importorskip("numba")
    outside: dict = {"compiled": compiled}
    exec(compile("@compiled()\ndef other(x):\n    return x\n", "elsewhere.py", "exec"), outside)
    from types import FunctionType

    def loops(x):
        return other(x)  # noqa: F821

    marked = compiled()(FunctionType(loops.__code__, {"other": outside["other"]}, "loops"))
    with pytest.raises(ValueError, match="other must stand in the file of loops"):
        marked(1.0)


def test_importing_the_rivals_imports_no_numba_and_no_torch() -> None:
    code = "import sys, knob_core.rivals, knob_core.tuning.tune; sys.exit(bool({'numba', 'torch'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=False).returncode == 0
