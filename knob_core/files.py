"""Write a file whole or not at all: into a temporary file in the same folder, which then takes the name.

A reader sees the old file or the new one, never a part, and two writers cannot mix: each has a temporary name of its
own. An error leaves the old file as it was and removes the temporary one; the file's mode is what the umask says.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CAUSES = {  # of errors that a write has without a file's name
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk is full",  # a user's share of it
    errno.EFBIG: "the file is larger than the system allows",  # ulimit -f
}


def write_bytes(path: str | os.PathLike[str], content: bytes, sync: bool = False) -> None:
    """Write `content` whole; folders on the way are made."""
    with replacing(path, sync) as temporary:
        temporary.write_bytes(content)


def write_text(path: str | os.PathLike[str], text: str, sync: bool = False) -> None:
    """Write `text` whole, in UTF-8, line ends as they are."""
    write_bytes(path, text.encode("utf-8"), sync)


@contextmanager
def replacing(path: str | os.PathLike[str], sync: bool = False, suffix: str = "") -> Iterator[Path]:
    """An empty temporary file, for writers that want a path; afterwards it becomes `path`.

    Its name ends in `.part`, so that who looks for `*.safetensors` does not find what a killed writer left behind; a
    writer that chooses the format by the name gives the `suffix` that follows. Any error inside, also from checking
    what was written, leaves `path` as it was. With `sync` the bytes are on the disk before the name changes, so that
    the file also outlives a power cut.
    """
    path = Path(path)
    if path.exists() and not (path.is_file() or path.is_dir()):  # root's /dev/null would be a file from then on
        raise OSError(f"{path} is a device or a pipe, expected a file")
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem[:64]}-{secrets.token_hex(6)}.part{suffix}")
    with naming(path):
        try:
            temporary.open("xb").close()  # made here, so that its mode is the umask's
            mode = temporary.stat().st_mode
            yield temporary
            temporary.chmod(mode)  # a writer may have put a file of its own, with a mode of its own, in its place
            if sync:
                with temporary.open("r+b") as file:
                    os.fsync(file.fileno())
            temporary.replace(path)
        finally:
            temporary.unlink(missing_ok=True)


@contextmanager
def naming(path: str | os.PathLike[str]) -> Iterator[None]:
    """A write in this block that fails without a file's name, on a full disk, names this one."""
    try:
        yield
    except OSError as error:
        if error.errno not in CAUSES:
            raise
        named = OSError(f"{CAUSES[error.errno]}: {path} could not be written")
        named.errno = error.errno  # a block around this one names its own file
        raise named from error
