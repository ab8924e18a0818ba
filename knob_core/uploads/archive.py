"""Read a zip archive in memory, believing nothing it says about itself.

Names that lead out of the folder, links, encrypted or doubled members, and more than the limits are refused; members
are read one by one, never past the size they declare, and their checksums are compared.
"""

from __future__ import annotations

import io
import stat
import struct
import unicodedata
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import PurePosixPath, PureWindowsPath

from knob_core.uploads.budget import Budget, Stopped
from knob_core.uploads.limits import MAX_MEMBERS, MAX_UNPACKED, require_size, said, short

ENTRY = b"PK\x01\x02"  # how every line of an archive's list of contents begins
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
CLUTTER = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini", "/._")  # what systems add by themselves
BLOCK = 1 << 20  # bytes
DAMAGE = (
    zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error, EOFError, NotImplementedError, OSError,
    RuntimeError, LookupError, OverflowError, ValueError,
)  # fmt: skip


@dataclass(frozen=True)
class Member:
    """A file in an archive, not yet unpacked."""

    name: str  # with / between folders
    size: int  # bytes, as declared; `read` holds it to that
    archive_name: str
    archive: zipfile.ZipFile
    info: zipfile.ZipInfo

    def read(self, budget: Budget) -> bytes:
        """Unpack it."""
        whole = io.BytesIO()
        for part in self._parts(budget):
            whole.write(part)
        return whole.getvalue()  # shared, not copied

    def buffer(self, budget: Budget) -> memoryview:
        """Unpack it, for one who writes there."""
        whole = bytearray()  # a BytesIO that is lent goes with an error where its garbage is collected
        for part in self._parts(budget):
            whole += part
        return memoryview(whole)

    def _parts(self, budget: Budget) -> Iterator[bytes]:
        """Block by block."""
        budget.spend(self.archive_name, self.size)
        left = self.size + 1  # one more, to see whether there is more
        with _damage_named(self.archive_name), self.archive.open(self.info) as file:
            while left and (part := file.read(min(left, BLOCK))):
                yield part
                left -= len(part)
                budget.check(self.archive_name)
        if left != 1:
            raise ValueError(f"{self.archive_name}: '{short(self.name)}' has not the {self.size:,} bytes it declares")

    def beginning(self, size: int) -> bytes:
        """Its first bytes, to judge it by before the rest is unpacked."""
        with _damage_named(self.archive_name), self.archive.open(self.info) as file:
            return file.read(size)


def members(name: str, content: bytes, budget: Budget) -> list[Member]:
    """Every file in the archive, in the archive's order, checked by what the archive declares, and not yet read."""
    name = short(name)
    require_size(name, len(content))
    if (entries := content.count(ENTRY)) > MAX_MEMBERS:  # before zipfile makes an object of each
        raise ValueError(f"{name} has {entries:,} members, expected at most {MAX_MEMBERS:,}")
    budget.check(name)
    with _damage_named(name):
        archive = zipfile.ZipFile(io.BytesIO(content))
    return [
        Member(path, info.file_size, name, archive, info) for path, info in _checked(name, archive.infolist()).items()
    ]


@contextmanager
def _damage_named(name: str) -> Iterator[None]:
    try:
        yield
    except Stopped:
        raise
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: the name of a member is not UTF-8 ({error.reason})") from error
    except DAMAGE as error:
        raise ValueError(f"{name} is damaged, cut short, or no zip archive ({said(error)})") from error


def _checked(name: str, infos: list[zipfile.ZipInfo]) -> dict[str, zipfile.ZipInfo]:
    """Files by their paths; some programs write \\ between folders."""
    if any(not info.filename for info in infos):
        raise ValueError(f"{name} holds a member without a name")
    files = [info for info in infos if not info.filename.endswith(("/", "\\"))]
    total = sum(info.file_size for info in files)
    if total > MAX_UNPACKED:
        raise ValueError(f"{name} would unpack to {total:,} bytes, expected at most {MAX_UNPACKED:,}")
    found: dict[str, zipfile.ZipInfo] = {}
    for info in files:
        _require_plain(name, info)
        path = info.filename.replace("\\", "/")
        if path in found:
            raise ValueError(f"{name} holds '{short(path)}' twice")
        found[path] = info
    return {path: info for path, info in found.items() if not any(part in f"/{path}" for part in CLUTTER)}


def _require_plain(name: str, info: zipfile.ZipInfo) -> None:
    path, member = info.filename, f"{name}: member '{short(info.filename)}'"
    parts = {*PurePosixPath(path).parts, *PureWindowsPath(path).parts}
    if ".." in parts or path.startswith(("/", "\\")) or PureWindowsPath(path).drive:
        raise ValueError(f"{member} leads out of the archive's folder")
    if not all(letter.isprintable() or unicodedata.category(letter) == "Zs" for letter in path):  # Zs: blanks
        raise ValueError(f"{member} has a character in its name that cannot be shown, expected letters")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise ValueError(f"{member} is a link, expected a file")
    if info.flag_bits & 1:
        raise ValueError(f"{member} is encrypted")
    if info.compress_type not in PACKED:
        raise ValueError(f"{member} is packed by method {info.compress_type}, expected deflated or stored")
