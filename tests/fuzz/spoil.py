"""Spoil a good file: bytes changed, cut, doubled, moved, repeated; inside archives and checksummed chunks, too.

Everything follows from a random generator, so that a file can be made again from its number.
"""

from __future__ import annotations

import io
import random
import struct
import zipfile
import zlib

from tests.fuzz.samples import zipped

NUMBERS = (0, 1, 2, 127, 128, 255, 256, 32767, 65535, 2**24 - 1, 2**31 - 1, 2**31, 2**32 - 1, 2**63 - 1)
WORDS = (
    b"nan", b"-inf", b"1e999", b"-1", b"", b'"', b",", b";", b"\n", b"\r", b"\t", b"\0", b"\xff", b"0x10", b"1_0",
    b"true", b"False", b"label", b"stream", b"z_static_0", b"9" * 400, "\u0661".encode(), b"\xef\xbb\xbf", b"(True, 4)",
    b"'<U9999'", b"'O'", b"-5", b"[", b"{", b"zeta = 1e400", b"1979-05-27",
)  # fmt: skip
UNITS = {
    ".jpg": (b"\xff\xe5\x00\x02", b"\xff\xfe\x00\x03a"), ".png": (b"\0\0\0\0abCdx\x06\xe9\xb3",),
    ".gif": (b"!\xfe\x02ab\0", b"\x01"), ".webp": (b"abcd\0\0\0\0",), ".csv": (b",", b'"', b"\n", b"1,", b"1\n"),
}  # fmt: skip  # the smallest of what files are made of
MOST = 1 << 21  # bytes of one unit repeated


def spoiled(rng: random.Random, name: str, content: bytes, others: list[bytes]) -> bytes:
    """The file with one to six faults."""
    if rng.random() < 0.5 and zipfile.is_zipfile(io.BytesIO(content)):
        return _member_spoiled(rng, content, others)
    if rng.random() < 0.05:
        return _swollen(rng, name, content)
    if name.endswith(".png") and rng.random() < 0.5:
        return _chunk_spoiled(rng, content)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        content = _once(rng, content, others)
    return content


def _once(rng: random.Random, content: bytes, others: list[bytes]) -> bytes:
    size = len(content)
    a, b = sorted(rng.randrange(size + 1) for _ in range(2))
    b = min(b, a + rng.choice((1, 4, 16, 64, 10**9)))
    end = size - min(size, int(rng.expovariate(1 / 60)))  # many formats keep their table of contents there
    front = min(size, int(rng.expovariate(1 / 60)))
    at = rng.choice((a, end, front))
    other = rng.choice(others)
    start = rng.randrange(len(other) + 1)
    number = rng.choice(NUMBERS) + rng.choice((-1, 0, 0, 1))
    order, width = rng.choice("<>"), rng.choice("BHIQ")
    packed = struct.pack(order + width, number % (1 << 8 * struct.calcsize(width)))
    return rng.choice((
        content[:at] + rng.randbytes(1) + content[at + 1 :],
        content[:at] + bytes([(content + b"\0")[at] ^ 1 << rng.randrange(8)]) + content[at + 1 :],
        content[:at] + packed + content[at + len(packed) :],
        content[:at] + rng.choice(WORDS) + content[at:],
        content[:at] + rng.choice(WORDS) + content[at + rng.randrange(9) :],
        content[:at],
        content[:a] + content[b:],
        content[:b] + content[a:b] * rng.choice((1, 1, 3, 50)) + content[b:],
        content[:a] + other[start : start + rng.choice((4, 40, 400))] + content[a:],
        content[:at] + bytes(rng.choice((1, 8, 400))) + content[at:],
    ))  # fmt: skip


def _often(rng: random.Random, unit: bytes) -> bytes:
    """Half of the time as often as can be."""
    return unit * max(1, int(MOST ** rng.choice((1.0, rng.random()))) // max(len(unit), 1))


def _swollen(rng: random.Random, name: str, content: bytes) -> bytes:
    """The file with one small piece repeated very often: readers may hold an object for each."""
    at = rng.randrange(len(content) + 1)
    unit = content[at : at + rng.choice((1, 2, 4, 8, 16))]
    kind = next((kind for kind in UNITS if name.endswith(kind)), None)
    if kind and rng.random() < 0.5:
        at, unit = first_place(kind, content), rng.choice(UNITS[kind])
    return content[:at] + _often(rng, unit) + content[at:]


def first_place(kind: str, content: bytes) -> int:
    """Where a unit may stand first."""
    if kind == ".gif" and len(content) > 10 and content[10] & 128:
        return 13 + (3 << (content[10] & 7) + 1)  # behind the palette
    return {".jpg": 2, ".png": 33, ".gif": 13, ".webp": 30, ".csv": 0}[kind]


def _member_spoiled(rng: random.Random, content: bytes, others: list[bytes]) -> bytes:
    """An archive that is whole, and holds a file that is not, or one of another name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        files = {info.filename: archive.read(info) for info in archive.infolist()}
    name = rng.choice(sorted(files))
    files[name] = spoiled(rng, name, files[name], others)
    if rng.random() < 0.2:
        files[rng.choice(("", "..", "a/", "labels.csv", "x.mp4", "b\n.png", "severity.npy"))] = files.pop(name)
    return zipped(files)


def _chunk_spoiled(rng: random.Random, content: bytes) -> bytes:
    """A PNG with a fault that its checksums do not tell."""
    out, at, faulty, repeated = content[:8], 8, rng.randrange(4), rng.random() < 0.2
    while at + 12 <= len(content):
        (size,) = struct.unpack(">I", content[at : at + 4])
        kind, data = content[at + 4 : at + 8], content[at + 8 : at + 8 + size]
        if rng.randrange(4) == faulty and data:
            place = rng.randrange(len(data))
            data = data[:place] + rng.randbytes(1) + data[place + 1 :]
        chunk = struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        out += _often(rng, chunk) if repeated and rng.randrange(4) == faulty else chunk
        at += 12 + size
    return out
