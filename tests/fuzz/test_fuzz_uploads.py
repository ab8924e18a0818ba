"""Some hundred spoilt files for every run of the tests; many more by hand (see `tests.fuzz.uploads`)."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from tests.fuzz.samples import all_samples, zipped
from tests.fuzz.spoil import MOST, UNITS, first_place, spoiled
from tests.fuzz.uploads import ROOT, fault


@pytest.mark.skipif(sys.platform == "win32", reason="memory is limited by RLIMIT_AS")
def test_spoilt_files_are_read_or_refused_clearly() -> None:
    command = [sys.executable, "-m", "tests.fuzz.uploads", "--count", "300", "--seconds", "100", "--seed", "2"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "\n300 files, 0 escapes" in done.stdout, done.stdout[-3000:]


def test_the_fuzzer_sees_what_is_no_clear_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.fuzz import uploads

    for error in (KeyError("x"), ValueError(""), ValueError(f"{ROOT}/knob_core"), UnicodeError("x"), MemoryError()):

        def broken(*_: object, error: Exception = error, **__: object) -> None:
            raise error

        monkeypatch.setattr(uploads, "read_logits", broken)
        assert fault("a.npy", b"")[1], error
    assert fault("severities", b"")[1] == "" and fault("severities", b"1\n2") == ("read", "")


REPEATED = [
    pytest.param(kind, ending, unit, packed, marks=[pytest.mark.slow] if ending == ".csv" else [])
    for kind, (name, _) in all_samples().items() for ending in UNITS if name.endswith(ending)
    for unit in UNITS[ending] for packed in ([False] if ending == ".csv" else [False, True])
]  # fmt: skip


@pytest.mark.parametrize(("kind", "ending", "unit", "packed"), REPEATED, ids=str)
def test_the_smallest_unit_of_a_file_repeated_takes_little_memory(
    kind: str, ending: str, unit: bytes, packed: bool
) -> None:
    name, content = all_samples()[kind]
    place = first_place(ending, content)
    content = content[:place] + unit * (MOST // len(unit)) + content[place:]
    if packed:
        name, content = "a.zip", zipped({name: content})
    assert fault(name, content)[1] == ""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is told by /proc")
def test_the_fuzzer_sees_what_takes_much_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    from tests.fuzz import uploads

    def greedy(_: str, content: bytes, budget: object) -> None:
        assert bytearray(b"x") * (100_000 * len(content)) and budget
        raise ValueError("refused")

    monkeypatch.setattr(uploads, "read_logits", greedy)
    assert fault("a.npy", bytes(10)) == ("refused", "")
    assert fault("a.npy", bytes(1000))[1].startswith("took ")


def test_a_file_can_be_made_again_from_its_number() -> None:
    name, content = all_samples()["npz"]
    one, same = (spoiled(random.Random("1-5"), name, content, [content]) for _ in range(2))
    assert one == same != content
