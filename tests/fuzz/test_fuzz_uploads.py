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


def test_a_process_that_ends_in_a_file_is_judged_and_the_next_one_goes_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Newlines are all alike in a process's text: the file was not found, and the run stopped there."""
    from tests.fuzz import uploads

    ends = [
        (-14, "", "file: 0 a.png\nfile: 1 a.mkv\nodd words\n"),
        (-11, "", "file: 2 a.png\n"),
        (0, f"{uploads.DONE} 2", ""),
    ]
    asked = []

    def run(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command[command.index("--first") + 1])
        return subprocess.CompletedProcess(command, *ends.pop(0))

    monkeypatch.setattr(uploads.subprocess, "run", run)
    assert uploads.main(["--count", "5", "--seed", "3"]) == 1
    said = capsys.readouterr().out
    assert asked == ["0", "2", "3"] and "contained: -14 --seed 3 --only 1 (a.mkv)\n\nodd words" in said
    assert "escape: -11 --seed 3 --only 2 (a.png)" in said
    assert said.endswith("5 files, 1 escapes, 1 ends of a process that the app has for such files\n")
