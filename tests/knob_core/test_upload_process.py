"""The process that reads an upload: what it finds comes back, and what goes wrong in it ends there, in one sentence."""

from __future__ import annotations

import io
import os
import sys
import time
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from knob_core.uploads import Stopped, logits, pictures, process, read_logits, read_pictures

LINUX = pytest.mark.skipif(sys.platform != "linux", reason="memory of a process is limited by RLIMIT_AS")
Z = np.random.default_rng(0).normal(0, 3, (2, 6, 4))


def npz(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **arrays)
    return file.getvalue()


def picture() -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (40, 30), (9, 99, 199)).save(file, "PNG")
    return file.getvalue()


def test_logits_come_back_as_they_are_read_here():
    names, labels = np.array(["cat", "dog", "owl", "eel"]), np.array([["cat"] * 6, ["", *["eel"] * 5]])
    content = npz(z_static=Z, z_dyn=-Z, u_star=Z[..., 0], labels=labels, classes=names, severity=np.linspace(0, 5, 6))
    here, there = logits.read("a.npz", content), read_logits("a.npz", content)
    for key, value in vars(here).items():
        np.testing.assert_array_equal(getattr(there, key), value)
    assert there.classes == here.classes and there.notes == here.notes
    one = read_logits("a.npz", npz(logits=Z))
    assert one.z_dyn is one.z_static and one.u_star is None and one.classes == ()
    assert one.z_static.flags.writeable


def test_pictures_come_back_as_they_are_read_here():
    files = [("1.png", picture()), ("labels.csv", b"1.png,dog\n2.png,dog\n")]
    here, there = pictures.read(files, ("cat", "dog")), read_pictures(files, ("cat", "dog"))
    np.testing.assert_array_equal(there.images, here.images)
    assert there.labels.tolist() == [1] and there.names == ("1.png",) and there.frame_rate is None
    assert there.notes == here.notes and "'2.png' is the first one" in there.notes[0]


def test_a_file_larger_than_a_pipe_goes_there_and_back():
    z = np.random.default_rng(0).normal(size=(60_000, 3))
    np.testing.assert_array_equal(read_logits("a.npz", npz(logits=z)).z_static[0], z)


def test_refusals_come_back_as_they_are_said_here():
    for read, file in ((read_logits, ("a.npz", b"hello")), (logits.read, ("a.npz", b"hello"))):
        with pytest.raises(ValueError, match=r"^a\.npz is damaged, cut short or of another kind; save it") as caught:
            read(*file)
        assert type(caught.value) is ValueError
    with pytest.raises(ValueError, match="there is no picture"):
        read_pictures([])


@LINUX
def test_the_process_has_a_limit_of_memory():
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10)})
    with pytest.raises(ValueError, match=r"a\.npy takes more than 2 GB to read; send a shorter or smaller file"):
        read_logits("a.npy", header.getvalue() + bytes(64))
    file = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(file, "PNG")
    with pytest.raises(ValueError, match=r"a\.png takes more than 2 GB"):
        read_pictures([("a.png", file.getvalue())])


STAND_INS = {  # for the process: what it does, and what is said of it
    "crash": ("import os; os.abort()", "a.npz ended the process that read it; save it again, or in another format"),
    "half an answer": ("print('PK')", "ended the process that read it"),
    "no answer": ("import time; time.sleep(60)", "a.npz was not read within 0.3 s; send a shorter or smaller file"),
}


@pytest.mark.parametrize("case", STAND_INS)
def test_its_death_is_one_sentence(case: str, monkeypatch: pytest.MonkeyPatch):
    code, cause = STAND_INS[case]
    monkeypatch.setattr(process, "COMMAND", (sys.executable, "-c", code))
    monkeypatch.setattr(process, "MAX_SECONDS", 0.3 if case == "no answer" else 30.0)
    began = time.monotonic()
    with pytest.raises(ValueError, match=cause) as caught:
        read_logits("a.npz", bytes(1_000_000))
    assert time.monotonic() - began < 20 and isinstance(caught.value, Stopped) == (case == "no answer")


def test_reading_ends_where_nobody_waits_for_it(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process, "COMMAND", (sys.executable, "-c", "import time; time.sleep(60)"))
    given_up: Callable[[], bool] = iter([False, False, True]).__next__
    with pytest.raises(Stopped, match="reading was cancelled"):
        read_logits("a.npz", b"x", given_up)
    assert process._slots.acquire(blocking=False)
    process._slots.release()


def test_no_process_is_no_fault_of_the_file(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(process, "COMMAND", ("/nowhere/python",))
    with pytest.raises(ValueError, match=r"a\.npz: no process could be started to read it; try again") as caught:
        read_logits("a.npz", b"x")
    assert "nowhere" not in str(caught.value)


@LINUX
def test_the_process_gets_no_secrets(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KNOB_TOKEN", "secret")
    monkeypatch.setattr(process, "COMMAND", (sys.executable, "-c", SPIES))
    read, write = os.pipe()
    os.set_inheritable(write, False)
    with pytest.raises(ValueError) as caught:
        read_logits("a.npz", b"x")
    os.close(read)
    os.close(write)
    assert str(caught.value) == "open: 0 1 2"


SPIES = """
import json, os, sys
import numpy as np
sys.stdin.read()
open_files = sorted(int(name) for name in os.listdir("/proc/self/fd"))[:-1]  # the last one is the listing's own
said = "open: " + " ".join(map(str, open_files)) + "".join(value for value in os.environ.values() if "secret" in value)
np.savez(sys.stdout.buffer, said=np.array(json.dumps({"error": said})))
"""


def test_a_library_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch):
    code = "import sys; sys.modules['pyarrow'] = None\nfrom knob_core.uploads.process import main; main()"
    monkeypatch.setattr(process, "COMMAND", (sys.executable, "-c", code))
    with pytest.raises(ValueError, match=r"a\.parquet needs pyarrow, which is not installed"):
        read_logits("a.parquet", b"PAR1")
