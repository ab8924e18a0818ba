"""Decode a video in a process of its own: what goes wrong there ends there.

A decoder cannot be asked to stop within a packet, nor how much memory the next one takes, and it may crash. So the
process has a limit of memory, is ended at the deadline or when cancelled, and says by pipe what it found:
    in:  one line of JSON (what to read, limits), the file's bytes
    out: one line of JSON ({"error", "stopped"} or {"frames", "frame_rate", "spent"}), the frames' bytes
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from knob_core.uploads.budget import Budget, Stopped, only_value_errors
from knob_core.uploads.film import Film
from knob_core.uploads.limits import MAX_FILM_MEMORY, MAX_FILM_PIXELS, require_size
from knob_core.uploads.stills import SIZE
from knob_core.uploads.video import read

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (sys.executable, "-m", "knob_core.uploads.video_process")
PATIENCE = 0.1  # s between two looks at the budget
GRACE = 10.0  # s after which the process ends by itself, where nobody is left to end it


def read_apart(name: str, kind: str, content: bytes, budget: Budget, most_frames: int) -> Film:
    """As `video.read`, in a process of its own."""
    require_size(name, len(content))
    budget.check(name)
    asked = {
        "name": name, "kind": kind, "seconds": budget.seconds_left + GRACE, "decoded": budget.decoded,
        "spent": budget.spent,
        "most_frames": most_frames, "most_pixels": MAX_FILM_PIXELS, "memory": MAX_FILM_MEMORY,
    }  # fmt: skip
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    one = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(paths)}
    question = json.dumps(asked).encode() + b"\n" + content
    try:
        process = subprocess.Popen(
            COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=os.environ | one
        )
    except OSError as error:
        raise ValueError(f"{name}: no process could be started to read a video; please try again later") from error
    with process:
        try:
            said = _answer(process, question, name, budget)
        finally:
            process.kill()
    head, _, body = said.partition(b"\n")
    if not head:
        raise ValueError(f"{name} is damaged: the decoder broke off")
    found = json.loads(head)
    if "error" in found:
        raise (Stopped if found["stopped"] else ValueError)(found["error"])
    budget.spent = found["spent"]
    return Film(np.frombuffer(body, np.uint8).reshape(found["frames"], 3, SIZE, SIZE), found["frame_rate"])


def _answer(process: subprocess.Popen[bytes], question: bytes, name: str, budget: Budget) -> bytes:
    given: bytes | None = question
    while True:
        try:
            return process.communicate(given, timeout=PATIENCE)[0]
        except subprocess.TimeoutExpired:
            given = None  # `communicate` goes on with what it was given first
            budget.check(name)


def main() -> None:
    """The process: read the question, answer it."""
    asked = json.loads(sys.stdin.buffer.readline())
    content = sys.stdin.buffer.read()
    with contextlib.suppress(ImportError, ValueError, OSError):  # not every system can
        import resource

        import av  # noqa: F401  (its libraries need room of their own)

        resource.setrlimit(resource.RLIMIT_AS, (asked["memory"], asked["memory"]))
    name, budget = asked["name"], Budget(asked["seconds"], asked["decoded"])
    budget.spent = asked["spent"]
    body = b""
    try:
        with only_value_errors(name):
            film = read(name, asked["kind"], content, budget, asked["most_frames"], asked["most_pixels"])
            body = film.images.tobytes()
            frames, rate = len(film.images), film.frame_rate
            said: dict[str, object] = {"frames": frames, "frame_rate": rate, "spent": budget.spent}
    except ValueError as error:
        said = {"error": str(error), "stopped": isinstance(error, Stopped)}
    sys.stdout.buffer.write(json.dumps(said).encode() + b"\n" + body)


if __name__ == "__main__":
    main()
