"""Write our own CIFAR-10-C in the official layout: 19 files of 5 x N images, and labels.npy.

    python -m train.corrupt --out DIR [--data DIR | --sample] [--count N] [--seed S] [--only NAME ...] [--device D]

A run that was killed goes on where it stopped when it is started again; a file has its name only when it is whole.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from tqdm import tqdm

from knob_core import files
from knob_core.corruptions import NAMES
from knob_core.data import Images, Labels, load_cifar10, load_sample
from knob_core.data.cifar10c import CHUNK, PIXELS_VERSION, SEVERITIES, chunks
from knob_core.seeding import generator
from train import commands

SETTINGS = "settings.json"  # what a folder was made with; stays beside the files

Advance = Callable[[int], object]


def write_all(
    out: Path, images: Images, labels: Labels, names: tuple[str, ...] = NAMES, seed: int = 0, device: str = "cpu"
) -> None:
    """The files of `names` for these images and labels.npy, whatever of them is not there yet."""
    generator(device, seed)  # refuses a bad seed or device before anything is written
    out.mkdir(parents=True, exist_ok=True)
    with _alone_in(out):
        _settle(out, images, labels, seed, device)
        missing = [name for name in names if not (out / f"{name}.npy").exists()]
        with _progress(len(missing) * len(chunk_ends(len(labels)))) as (advance, say):
            for name in missing:
                write_corruption(out / f"{name}.npy", images, name, len(labels), seed, device, advance)
                say(f"{name}.npy: {len(SEVERITIES)} x {len(labels)} images")


def write_corruption(
    path: Path, images: Images, name: str, count: int, seed: int, device: str, advance: Advance
) -> None:
    """One file. A part left by a killed run is chunk after chunk, so its length says where to go on."""
    part, head, ends = path.with_name(path.name + ".part"), header(count), chunk_ends(count)
    with files.naming(path), part.open("a+b") as file:
        file.seek(0)
        if file.read(len(head)) != head:
            file.truncate(0)
            file.write(head)
            file.flush()
        done = int(np.searchsorted(ends, part.stat().st_size - len(head), side="right"))
        file.truncate(len(head) + (int(ends[done - 1]) if done else 0))  # a chunk cut in two is made anew
        advance(done)
        per_severity = len(ends) // len(SEVERITIES)
        for severity in SEVERITIES:
            start = max(done - (severity - 1) * per_severity, 0)
            for chunk in chunks(images, name, severity, seed, device, start, count):
                file.write(np.ascontiguousarray(chunk.transpose(0, 2, 3, 1)).data)
                file.flush()
                os.fsync(file.fileno())
                advance(1)
    part.replace(path)


def chunk_ends(count: int) -> np.ndarray:
    """Where each chunk of a file ends, in bytes after the header."""
    one = [min(CHUNK, count - start) for start in range(0, count, CHUNK)]  # images, of one severity
    return np.cumsum(one * len(SEVERITIES)) * 32 * 32 * 3


def header(count: int) -> bytes:
    """The first bytes of an .npy file of 5 x count images."""
    buffer = io.BytesIO()
    shape = (len(SEVERITIES) * count, 32, 32, 3)
    np.lib.format.write_array_header_1_0(buffer, {"descr": "|u1", "fortran_order": False, "shape": shape})
    return buffer.getvalue()


def _settle(out: Path, images: Images, labels: Labels, seed: int, device: str) -> None:
    """Write settings.json and labels.npy, or make sure that the folder was begun with the same."""
    settings = {
        "recipe": PIXELS_VERSION,
        "seed": int(seed),
        "count": len(labels),
        "chunk": CHUNK,
        "device": device.split(":")[0],
        "images": hashlib.sha256(np.ascontiguousarray(images).data).hexdigest(),
    }
    path = out / SETTINGS
    if path.exists():
        try:
            begun = json.loads(path.read_text(encoding="utf-8"))
        except ValueError as error:
            raise ValueError(f"{path} is damaged ({error}); choose an empty folder") from error
        if begun != settings:
            raise ValueError(f"{out} was begun with {begun}, this run has {settings}; choose another folder")
    elif any(out.glob("*.npy*")):
        raise ValueError(f"{out} holds .npy files that this command did not make; choose another folder")
    else:
        files.write_text(path, json.dumps(settings) + "\n")
    buffer = io.BytesIO()
    np.save(buffer, np.tile(labels, len(SEVERITIES)).astype(np.uint8))
    files.write_bytes(out / "labels.npy", buffer.getvalue())


@contextlib.contextmanager
def _alone_in(out: Path) -> Iterator[None]:
    """A lock on the folder itself, which the system lifts however the process ends; Windows has none."""
    try:
        import fcntl
    except ImportError:
        yield
        return
    folder = os.open(out, os.O_RDONLY)
    try:
        fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError as error:
        raise ValueError(f"{out}: another run is writing there") from error
    finally:
        os.close(folder)


@contextlib.contextmanager
def _progress(total: int) -> Iterator[tuple[Advance, Callable[[str], object]]]:
    """A bar on a terminal; elsewhere one line a file."""
    if sys.stderr.isatty():
        with tqdm(total=total, unit="chunk") as bar:
            yield bar.update, bar.set_description
    else:
        yield (lambda _: None), (lambda line: print(line, flush=True))


def work(given: argparse.Namespace) -> None:
    if given.sample:
        images, labels, _ = load_sample()
    else:
        images, labels = load_cifar10(given.data, split="test", download=given.download)
    count = commands.checked_count(given.count, len(labels))
    write_all(given.out, images, labels[:count], tuple(given.only), given.seed, given.device)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = commands.parser("train.corrupt", __doc__)
    parser.add_argument("--out", metavar="DIR", type=commands.out_folder, required=True, help="where the files go")
    source = parser.add_mutually_exclusive_group()
    source.add_argument(
        "--data", type=commands.path, metavar="DIR", help="where CIFAR-10 lies (default: KNOB_DATA, ./data)"
    )
    source.add_argument("--sample", action="store_true", help="corrupt the shipped sample of 1,000 test images")
    parser.add_argument("--download", action="store_true", help="fetch CIFAR-10 where it is not found")
    parser.add_argument("--count", metavar="N", type=int, help="the first N images only")
    parser.add_argument("--seed", metavar="S", type=commands.seed, default=0, help="default: %(default)s")
    parser.add_argument(
        "--only", nargs="+", action=commands.Several, metavar="NAME", choices=NAMES, default=NAMES,
        help="some of the nineteen",
    )  # fmt: skip
    parser.add_argument(
        "--device", type=commands.device, default="cpu", help="default: %(default)s; another device draws other noise"
    )
    given = parser.parse_args(arguments)
    return commands.run("train.corrupt", lambda: work(given))


if __name__ == "__main__":
    sys.exit(main())
