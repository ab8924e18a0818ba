"""Read an upload in a process of its own: what goes wrong there ends there.

A file can make a library take all memory, never return, or end its process. So each upload is read by a child process
with a memory limit and a deadline, which gets nothing but the files: no environment, no open sockets.
    in:  one line of JSON (the reader, its arguments, name and size of each file), then the files' bytes
    out: an .npz of plain arrays; `said` in it is a JSON text of everything else
Readers are modules of this package with a function `answer(files, **arguments)`, which gives a dict.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from knob_core.uploads.refusals import short

MAX_SECONDS = 30.0  # that one upload may be read for
MAX_MEMORY = (
    2_000_000_000  # bytes of address space of the process that reads it; on Windows and macOS only the deadline
)
COMMAND = (sys.executable, "-P", "-B", "-m", "knob_core.uploads.process")
PATIENCE = 0.1  # s between two looks at the clock
ROOT = Path(__file__).resolve().parents[2]
PASSED_ON = ("PATH", "LD_LIBRARY_PATH", "SYSTEMROOT")  # of the environment, which may hold tokens
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}

_slots = threading.Semaphore(os.cpu_count() or 1)


class Stopped(ValueError):
    """The file may be good: reading it took too long, or was cancelled."""


def ask(
    reader: str, files: Sequence[tuple[str, bytes]], cancelled: Callable[[], bool] | None = None, **arguments: Any
) -> dict[str, Any]:
    """What `reader` finds in the files; as many are read at a time as there are cores."""
    name = short(files[0][0]) if files else "the upload"
    given_up = cancelled or (lambda: False)
    while not _slots.acquire(timeout=PATIENCE):
        if given_up():
            raise Stopped(f"{name}: reading was cancelled")
    try:
        answer = _answer(name, _question(reader, files, arguments), given_up)
    finally:
        _slots.release()
    try:
        with np.load(io.BytesIO(answer), allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except Exception as error:  # it died: numpy and zipfile have many words for half an archive
        raise ValueError(f"{name} ended the process that read it; save it again, or in another format") from error
    said = json.loads(str(arrays.pop("said")))
    if "error" in said:
        raise ValueError(said["error"])
    return {**arrays, **{key: tuple(value) if isinstance(value, list) else value for key, value in said.items()}}


def _question(reader: str, files: Sequence[tuple[str, bytes]], arguments: dict[str, Any]) -> bytes:
    sizes = [(name, len(content)) for name, content in files]
    head = {"reader": reader, "files": sizes, "arguments": arguments}
    return b"".join([json.dumps(head).encode(), b"\n", *(content for _, content in files)])


def _answer(name: str, question: bytes, given_up: Callable[[], bool]) -> bytes:
    """All that the process writes."""
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    passed_on = {key: os.environ[key] for key in PASSED_ON if key in os.environ}
    environment = {**passed_on, **ONE_THREAD, "PYTHONPATH": paths}
    pipe, ends = subprocess.PIPE, time.monotonic() + MAX_SECONDS
    try:
        process = subprocess.Popen(COMMAND, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment)
    except OSError as error:
        raise ValueError(f"{name}: no process could be started to read it; try again later") from error
    answers: list[bytes] = []
    talk = threading.Thread(target=lambda: answers.append(process.communicate(question)[0]), daemon=True)
    with process:
        talk.start()
        try:
            while talk.is_alive():
                if given_up():
                    raise Stopped(f"{name}: reading was cancelled")
                if time.monotonic() > ends:
                    raise Stopped(f"{name} was not read within {MAX_SECONDS:g} s; send a shorter or smaller file")
                talk.join(PATIENCE)
        finally:
            process.kill()
            talk.join()
    return answers[0]


def main() -> None:
    """The child: read the question, answer it."""
    limit()
    head = json.loads(sys.stdin.buffer.readline())
    files = [(name, sys.stdin.buffer.read(size)) for name, size in head["files"]]
    name = short(files[0][0]) if files else "the upload"
    try:
        found = importlib.import_module(f"knob_core.uploads.{head['reader']}").answer(files, **head["arguments"])
    except MemoryError:
        found = {"error": f"{name} takes more than {MAX_MEMORY / 1e9:g} GB to read; send a shorter or smaller file"}
    except ImportError as error:
        found = {"error": f"{name} needs {error.name}, which is not installed (pip install 'knob-core[app]')"}
    except ValueError as error:
        found = {"error": str(error)}
    except Exception as error:
        found = {"error": f"{name} cannot be read ({type(error).__name__}); save it again, or in another format"}
    arrays = {key: value for key, value in found.items() if isinstance(value, np.ndarray)}
    said = json.dumps({key: value for key, value in found.items() if key not in arrays})
    np.savez(sys.stdout.buffer, allow_pickle=False, said=np.array(said), **arrays)


def limit() -> None:
    """This process's memory, and its time on a processor where nobody is left to end it."""
    with contextlib.suppress(ImportError, ValueError, OSError):  # not every system can
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (int(MAX_SECONDS) + 1, int(MAX_SECONDS) + 1))


if __name__ == "__main__":
    main()
