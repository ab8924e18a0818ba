"""Give spoilt files to every reader: each must read them or refuse them with a clear ValueError, and nothing else.

    python -m tests.fuzz.uploads --count 200000 --seconds 3600 --seed 1
    python -m tests.fuzz.uploads --only 4711 --seed 1

runs in a process with a limit of memory, and prints how many files were read, refused, and escaped. An escape is
another exception, a crash, a file that needs more than MEMORY or SECONDS, or many times its own and its decoded bytes,
or a refusal that tells of this machine.
Videos and parquet files, which the app reads in a process of their own, may end theirs.
"""

from __future__ import annotations

import argparse
import collections
import random
import re
import signal
import subprocess
import sys
import time
import traceback
from pathlib import Path

import numpy as np

from knob_core import schedules, settings
from knob_core.uploads import Budget, Stopped, logits, parquet, pictures, read_logits, read_pictures, video
from knob_core.uploads.budget import UNFORESEEN
from knob_core.uploads.logits import KINDS
from tests.fuzz.samples import CLASSES, all_samples
from tests.fuzz.spoil import spoiled

ROOT = Path(__file__).resolve().parents[2]
MEMORY = 3_000_000_000  # bytes of address space
SECONDS = 20  # for one file
FREE, FREE_TEXT = 12_000_000, 60_000_000  # bytes that any file may take; a text's blocks take many a byte, but no more
TIMES, DECODED_TIMES = 3, 7  # of its own bytes and of those that it is decoded to: WebP has five copies
OURS = re.compile(rf"{re.escape(str(ROOT))}|site-packages|Traceback|<_io| at 0x|/usr/|/tmp/|/home/|/root/")
STATUS = Path("/proc/self/status")
DONE, BEGUN = "files in this process:", "file:"
FILM_WORDS = "more memory than a video may take"  # the app decodes videos in a process with a limit as here
MEMORY_WORDS = ("more memory than", "allocate memory", "out of memory", "malloc")


def read(name: str, content: bytes, budget: Budget) -> None:
    """What the app does with such a file; what comes back must be whole."""
    if name == "settings":
        settings.from_toml(content)
    elif name == "severities":
        assert np.isfinite(schedules.from_csv(content)).all()
    elif name.endswith(KINDS):
        got = read_logits(name, content, budget=budget)
        assert np.isfinite(got.z_static).all() and np.isfinite(got.z_dyn).all() and got.z_dyn.ndim == 3
        assert got.labels.shape == got.z_dyn.shape[:2] and len(got.class_names) == got.z_dyn.shape[2]
    else:
        seen = read_pictures([(name, content)], CLASSES, budget)
        assert seen.images.shape[1:] == (3, 32, 32) and len(seen.labels) == len(seen.images)


def fault(name: str, content: bytes) -> tuple[str, str]:
    """("read" or "refused", what is wrong about how it went: "" for nothing)."""
    budget = Budget(SECONDS)
    before = forget_peak()
    how, wrong = outcome(name, content, budget)
    free = FREE_TEXT if name.endswith((".csv", ".tsv", "severities")) else FREE
    taken, allowed = peak() - before, free + TIMES * len(content) + DECODED_TIMES * budget.spent
    if not wrong and taken > allowed:
        wrong = f"took {taken:,} bytes for a file of {len(content):,} that is decoded to {budget.spent:,}"
    return how, wrong


def forget_peak() -> int:
    """The memory of this process, bytes; 0 where it is not told."""
    if not STATUS.exists():
        return 0
    Path("/proc/self/clear_refs").write_text("5")
    return peak()


def peak() -> int:
    """The most that it was since then."""
    text = STATUS.read_text() if STATUS.exists() else ""
    return 1024 * int((re.findall(r"VmHWM:\s+(\d+)", text) or ["0"])[0])


def outcome(name: str, content: bytes, budget: Budget) -> tuple[str, str]:
    """As `fault`, but for memory."""
    try:
        read(name, content, budget)
    except ValueError as error:
        text = str(error)
        plain = type(error) in (ValueError, Stopped) and 0 < len(text) < 1000 and UNFORESEEN not in text
        greedy = any(word in text for word in MEMORY_WORDS) and FILM_WORDS not in text
        if not plain or isinstance(error, Stopped) or OURS.search(text) or greedy:
            return "refused", f"{type(error).__name__}: {text[:300]}\n{cause(error)}"
        return "refused", ""
    except Exception as error:
        return "refused", f"{type(error).__name__}: {error}\n{cause(error)}"
    return "read", ""


def cause(error: BaseException) -> str:
    """Where it came from at first."""
    while error.__cause__ is not None:
        error = error.__cause__
    return "".join(traceback.format_exception(error)[-3:])


def made(seed: int, number: int, samples: dict[str, tuple[str, bytes]]) -> tuple[str, str, bytes]:
    """(kind, name, content) of file `number`."""
    rng = random.Random(f"{seed}-{number}")
    kind = rng.choice(sorted(samples))
    name, content = samples[kind]
    return kind, name, spoiled(rng, name, content, [other for _, other in samples.values()])


def inside(seed: int, first: int, count: int, seconds: float) -> None:
    """Run here, and print what escaped and how many were read and refused."""
    import resource

    pictures.read_in_process = video.read  # type: ignore[assignment]  # this process has a limit of its own
    logits.read_in_process = parquet.read_table  # type: ignore[assignment]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    samples, ends = all_samples(), time.monotonic() + seconds
    for name, content in samples.values():
        read(name, content, Budget(SECONDS))  # good files are read
    seen: collections.Counter[tuple[str, str]] = collections.Counter()
    for number in range(first, first + count):
        kind, name, content = made(seed, number, samples)
        print(f"{BEGUN} {number} {name}", file=sys.stderr, flush=True)
        signal.alarm(3 * SECONDS)
        how, wrong = fault(name, content)
        signal.alarm(0)
        seen[kind, how] += 1
        if wrong:
            print(f"escape: --seed {seed} --only {number} ({kind}, {len(content)} bytes)\n{wrong}", flush=True)
        if time.monotonic() > ends:
            break
    for kind in sorted(samples):
        print(f"{kind:18s} {seen[kind, 'read']:7d} read {seen[kind, 'refused']:7d} refused")
    print(DONE, sum(seen.values()), flush=True)


def last_begun(log: str) -> tuple[int, str, str]:
    """(number, name) of the file that a process had begun last, and what it said after that; -1 for none."""
    begun = list(re.finditer(rf"^{BEGUN} (\d+) (.*)$", log, re.MULTILINE))
    return (int(begun[-1][1]), begun[-1][2], log[begun[-1].end() :]) if begun else (-1, "", log)


def main(arguments: list[str] | None = None) -> int:
    """Run in processes of their own; one that ends in a file is an escape, unless the app would read it apart, too."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    for flag, kind, default in (("count", int, 2000), ("seconds", float, 600.0), ("seed", int, 0), ("first", int, 0)):
        parser.add_argument(f"--{flag}", type=kind, default=default)
    parser.add_argument("--only", type=int, help="one file, by its number")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    first, left = (given.only, 1) if given.only is not None else (given.first, given.count)
    if given.inside:
        inside(given.seed, first, left, given.seconds)
        return 0
    ends, files, escapes, contained = time.monotonic() + given.seconds, 0, 0, 0
    while left > 0 and time.monotonic() < ends:
        command = [sys.executable, "-m", "tests.fuzz.uploads", "--inside", "--seed", str(given.seed)]
        command += ["--first", str(first), "--count", str(left), "--seconds", str(ends - time.monotonic())]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, errors="replace", check=False)
        print(done.stdout, end="")
        escapes += done.stdout.count("escape:")
        files += (whole := int((done.stdout.rpartition(DONE)[2] or "0").strip()) if DONE in done.stdout else 0)
        if whole:
            break
        number, name, said = last_begun(done.stderr)
        apart = name.endswith((".parquet", *video.CONTAINERS)) and done.returncode < 0
        contained, escapes = contained + apart, escapes + (not apart)
        print(f"{'contained' if apart else 'escape'}: {done.returncode} --seed {given.seed} --only {number} ({name})")
        print(said[-2000:])
        if number < first:  # it ended before its first file
            break
        files, left, first = files + number + 1 - first, left - (number + 1 - first), number + 1
    print(f"{files} files, {escapes} escapes, {contained} ends of a process that the app has for such files")
    return 1 if escapes else 0


if __name__ == "__main__":
    sys.exit(main())
