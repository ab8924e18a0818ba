"""Some hundred spoilt files for every run of the tests; many more by hand (see `tests.fuzz.uploads`)."""

from __future__ import annotations

import random
import subprocess
import sys

import pytest

from tests.fuzz.samples import all_samples
from tests.fuzz.spoil import spoiled
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


def test_a_file_can_be_made_again_from_its_number() -> None:
    name, content = all_samples()["npz"]
    one, same = (spoiled(random.Random("1-5"), name, content, [content]) for _ in range(2))
    assert one == same != content
