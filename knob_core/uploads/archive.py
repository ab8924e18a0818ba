"""Read a zip archive in memory, believing nothing it says about itself.

Names that lead out of the folder, links, encrypted or doubled members, and more than the limits are refused; members
are read one by one, never past the size they declare, and their checksums are compared.
"""

from __future__ import annotations

import io
import stat
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import PurePosixPath, PureWindowsPath

from knob_core.uploads.limits import MAX_MEMBERS, MAX_UNPACKED, require_size, short

ENTRY = b"PK\x01\x02"  # how every line of an archive's list of contents begins
PACKED = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
CLUTTER = ("__MACOSX/", ".DS_Store", "Thumbs.db", "desktop.ini")  # what systems add by themselves


def members(name: str, content: bytes) -> Iterator[tuple[str, bytes]]:
    """(name, bytes) of every file in the archive, in the archive's order; all names are checked before the first."""
    name = short(name)
    require_size(name, len(content))
    if (entries := content.count(ENTRY)) > MAX_MEMBERS:  # before zipfile makes an object of each
        raise ValueError(f"{name} has {entries:,} members, expected at most {MAX_MEMBERS:,}")
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            for info in _checked(name, archive.infolist()):
                with archive.open(info) as file:
                    data = file.read(info.file_size + 1)
                if len(data) != info.file_size:
                    member, size = short(info.filename), info.file_size
                    raise ValueError(f"{name}: '{member}' has not the {size:,} bytes it declares")
                yield info.filename, data
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: the name of a member is not UTF-8 ({error.reason})") from error
    except (zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, EOFError, NotImplementedError, OSError) as error:
        raise ValueError(f"{name} is damaged, cut short, or no zip archive ({str(error)[:120]})") from error


def _checked(name: str, infos: list[zipfile.ZipInfo]) -> list[zipfile.ZipInfo]:
    files = [info for info in infos if not info.is_dir()]
    total = sum(info.file_size for info in files)
    if total > MAX_UNPACKED:
        raise ValueError(f"{name} would unpack to {total:,} bytes, expected at most {MAX_UNPACKED:,}")
    seen = set()
    for info in files:
        _require_plain(name, info)
        if info.filename in seen:
            raise ValueError(f"{name} holds '{short(info.filename)}' twice")
        seen.add(info.filename)
    return [info for info in files if not any(part in info.filename for part in CLUTTER)]


def _require_plain(name: str, info: zipfile.ZipInfo) -> None:
    path, member = info.filename, f"{name}: member '{short(info.filename)}'"
    parts = {*PurePosixPath(path).parts, *PureWindowsPath(path).parts}
    if ".." in parts or path.startswith(("/", "\\")) or PureWindowsPath(path).drive or not path.isprintable():
        raise ValueError(f"{member} leads out of the archive's folder")
    if stat.S_ISLNK(info.external_attr >> 16):
        raise ValueError(f"{member} is a link, expected a file")
    if info.flag_bits & 1:
        raise ValueError(f"{member} is encrypted")
    if info.compress_type not in PACKED:
        raise ValueError(f"{member} is packed by method {info.compress_type}, expected deflated or stored")
