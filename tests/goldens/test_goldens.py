"""Today's answers are the recorded ones; `python -m tests.goldens.record NAME` records those that change on purpose."""

from __future__ import annotations

import numpy as np
import pytest

from tests.goldens import answers, training, uploads
from tests.goldens.golden_files import differences
from tests.goldens.record import GOLDENS


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n == "fits" else n for n in GOLDENS])
def test_the_answers_are_the_recorded_ones(name: str) -> None:
    golden = GOLDENS[name]
    if name == "training" and golden.recorded()["where"] != training.here():
        pytest.skip("sums are rounded otherwise by this processor or version of torch")
    found = golden.differences()
    assert not found, f"{len(found)} differences:\n" + "\n".join(found[:20])


@pytest.mark.parametrize("memory", ["plain", "attentive"])
def test_reset_mode_remembers_nothing(memory: str) -> None:
    wanted = GOLDENS["answers-off"].recorded()
    found = answers.reset_answers(memory)
    assert found and not list(differences({name: wanted[name] for name in found}, found, 1e-12))


@pytest.mark.parametrize("case, files", uploads.cases("damaged"))
def test_damaged_files_are_refused_in_one_sentence(case: str, files: list[tuple[str, bytes]]) -> None:
    with pytest.raises(ValueError) as caught:
        uploads.read(files)
    words = str(caught.value)
    assert words.strip() and "\n" not in words and len(words) < 400


def test_differences_are_seen() -> None:
    """Floats may differ in their last bits, words and whole numbers may not."""
    wanted = {"a": [1.0, 2], "b": "x", "c": np.array([[1.0, 2.0]])}
    assert not list(differences(wanted, {"a": [1.0 + 1e-12, 2], "b": "x", "c": np.array([[1.0, 2 - 1e-12]])}, 1e-9))
    found = {"a": [1.0 + 1e-6, 3], "b": "y", "c": np.array([[1.0, 2.1]]), "d": 0}
    lines = sorted(differences(wanted, found, 1e-9))
    assert [line[:4] for line in lines] == ["/a/0", "/a/1", "/b: ", "/c: ", "/d: "]
    assert len(list(differences({"c": np.zeros(2)}, {"c": np.zeros(3)}, 1e-9))) == 1
