"""A lock on a folder: two processes that train the same run, or serve from the same snapshots, would mix their files.

The kernel holds it (flock), so it ends with its process, however that ends. Where there is no flock (Windows), there is
no lock. Who gets it removes the halves of files that a killed process left there.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

try:
    import fcntl
except ImportError:  # pragma: no cover
    fcntl = None  # type: ignore[assignment]

FILE = ".lock"


@contextmanager
def locked(folder: Path, does: str, option: str, wait: bool = False) -> Iterator[None]:
    """Hold the folder in this block. Where another process has it: wait, or raise an OSError that names the process.

    `does`: what the holder does in it; `option`: with which another one is chosen.
    """
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / FILE
    with path.open("a+b", buffering=0) as file:  # no buffer, or closing would write, and fail, once more
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                file.seek(0)
                other = f"process {file.read().decode('ascii', 'replace').strip() or 'unknown'} {does} {folder}"
                if not wait:
                    raise OSError(f"{other}; wait for it, or choose another {option}") from None
                print(f"waiting: {other}", flush=True)
                fcntl.flock(file, fcntl.LOCK_EX)
            try:
                file.truncate(0)
                file.write(str(os.getpid()).encode())
            except OSError as error:  # a full disk has no name
                error.filename = str(path)
                raise
            for left in folder.glob(
                ".*-????????????.part"
            ):  # of a process that was killed while it wrote (`knob_core.files`)
                left.unlink(missing_ok=True)
        try:
            yield
        finally:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_UN)  # closing is not enough where a child process has the file open, too
