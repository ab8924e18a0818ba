"""Read a file in a process of its own: what goes wrong there ends there.

The libraries for videos and parquet cannot be asked to stop within a packet or page, nor how much memory the next one
takes, and a spoilt file can make them end the process that they run in. So that process has a limit of memory, is
ended at the deadline or when cancelled, and says by pipe what it found:
    in:  one line of JSON (what to do, limits), the file's bytes
    out: one line of JSON ({"error", "stopped"}, or what was found; how many bytes follow), bytes
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import IO, Any

from knob_core.uploads.budget import Budget, Stopped, only_value_errors
from knob_core.uploads.limits import MAX_PROCESS_MEMORY

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "knob_core.uploads.process")
PATIENCE = 0.1  # s between two looks at the budget
GRACE = 10.0  # s after which the process ends by itself, where nobody is left to end it
SPARE = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "ARROW_DEFAULT_MEMORY_POOL": "system"}  # of its memory


def ask(module: str, libraries: tuple[str, ...], name: str, content: bytes, budget: Budget, **asked: Any) -> Any:
    """(what was found, a view of bytes) by `module.answer(name, content, budget, **asked)` in a process of its own."""
    budget.check(name)
    head = {
        "module": module, "libraries": libraries, "name": name, "asked": asked, "memory": MAX_PROCESS_MEMORY,
        "seconds": budget.seconds_left + GRACE, "decoded": budget.decoded, "spent": budget.spent,
    }  # fmt: skip
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    try:
        process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            env={**os.environ, **SPARE, "PYTHONPATH": paths},
        )  # fmt: skip
    except OSError as error:
        raise ValueError(f"{name}: no process could be started to read it; please try again later") from error
    with process:
        said = _answer(process, [json.dumps(head).encode(), b"\n", content], name, budget)
    end = said.find(b"\n") + 1
    found = json.loads(said[:end] or "{}")
    if len(said) - end != found.get("size"):
        raise ValueError(f"{name} is damaged: whatever read it broke off")
    if "error" in found:
        raise (Stopped if found["stopped"] else ValueError)(found["error"])
    budget.spent = found["spent"]
    return found["found"], memoryview(said)[end:]


def _answer(process: subprocess.Popen[bytes], question: list[bytes], name: str, budget: Budget) -> bytes:
    """What it says up to its end; `communicate` would hold that twice."""
    said: list[bytes] = []
    given, process.stdin = process.stdin, None  # closed by `_tell`
    listener = threading.Thread(target=_listen, args=(process.stdout, said), daemon=True)
    listener.start()
    threading.Thread(target=_tell, args=(given, question), daemon=True).start()
    try:
        while listener.is_alive():
            budget.check(name)
            listener.join(PATIENCE)
    finally:
        process.kill()
        listener.join()
    return b"".join(said)  # itself, if it is one


def _listen(speaker: IO[bytes] | None, said: list[bytes]) -> None:
    assert speaker is not None
    said.append(speaker.read())


def _tell(given: IO[bytes], question: list[bytes]) -> None:
    """Write a question and its end; the process may be over before that."""
    with contextlib.suppress(OSError), given:
        given.writelines(question)


def main() -> None:
    """The process: read the question, answer it."""
    head = json.loads(sys.stdin.buffer.readline())
    content = sys.stdin.buffer.read()
    name, budget = head["name"], Budget(head["seconds"], head["decoded"])
    budget.spent = head["spent"]
    reader = importlib.import_module(head["module"])
    with contextlib.suppress(ImportError):
        for library in head["libraries"]:
            importlib.import_module(library)  # before the limit: it needs room of its own
    with contextlib.suppress(ImportError, ValueError, OSError):  # not every system can
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (head["memory"], head["memory"]))
    body: list[memoryview] = []
    try:
        with only_value_errors(name):
            found, body = reader.answer(name, content, budget, **head["asked"])
            said = {"found": found, "spent": budget.spent, "size": sum(part.nbytes for part in body)}
    except ValueError as error:
        said = {"error": str(error), "stopped": isinstance(error, Stopped), "size": 0}
    sys.stdout.buffer.write(json.dumps(said).encode() + b"\n")
    sys.stdout.buffer.writelines(body)


if __name__ == "__main__":
    main()
