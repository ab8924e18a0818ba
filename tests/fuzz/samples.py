"""Small good files of every kind that can be uploaded: what the fuzzer spoils."""

from __future__ import annotations

import io
import struct
import zipfile

import numpy as np
from PIL import Image

from knob_core import settings

RNG = np.random.default_rng(0)
Z = RNG.normal(0, 3, (2, 6, 4))
CLASSES = ("cat", "dog", "owl", "eel")
EXIF = (
    b"Exif\0\0MM\0*\0\0\0\x08\0\x02"
    + struct.pack(">HHIHHHHIII", 0x112, 3, 1, 6, 0, 0x11A, 5, 1, 38, 0)
    + b"\0\0\0\1" * 2
)


def all_samples() -> dict[str, tuple[str, bytes]]:
    """{kind: (file name, content)}."""
    return {**arrays(), **texts(), **parquets(), **stills(), **archives(), **films()}


def arrays() -> dict[str, tuple[str, bytes]]:
    whole = {
        "z_static": Z,
        "z_dyn": -Z,
        "u_star": Z[..., 0],
        "labels": np.array([1, 3]),
        "severity": np.linspace(0, 5, 6),
    }
    named = {"logits": Z, "labels": RNG.choice(CLASSES, (2, 6)), "classes": np.array(CLASSES)}
    single = io.BytesIO()
    np.save(single, Z[0].astype(np.float32))
    return {"npz": ("a.npz", _npz(whole)), "npz names": ("a.npz", _npz(named)), "npy": ("a.npy", single.getvalue())}


def _npz(held: dict[str, np.ndarray]) -> bytes:
    file = io.BytesIO()
    np.savez_compressed(file, **held)
    return file.getvalue()


def texts() -> dict[str, tuple[str, bytes]]:
    plain = "\n".join(",".join(f"{x:.6g}" for x in row) for row in Z[0])
    lines = [",".join(["stream", "frame", "label", "severity", *CLASSES])]
    for r, path in enumerate(Z):
        for t, row in enumerate(path):
            lines.append(f'{r},{t},"{CLASSES[t % 4]}",{t % 5},' + ",".join(f"{x:.17g}" for x in row))
    listed = "frame;severity;note\n" + "".join(f"{t};{t % 5}.5;fog\n" for t in range(4))
    return {
        "csv": ("a.csv", plain.encode()),
        "csv labels": ("a.csv", b"\xef\xbb\xbf" + "\r\n".join(lines).encode()),
        "tsv": ("a.tsv", "\n".join(lines).replace(",", "\t").encode()),
        "severities": ("severities", listed.encode()),
        "settings": ("settings", settings.to_toml(settings.Settings()).encode()),
    }


def parquets() -> dict[str, tuple[str, bytes]]:
    import pyarrow
    from pyarrow import parquet

    columns: dict[str, object] = {name: Z[0, :, i] for i, name in enumerate(CLASSES)}
    made = {}
    for kind, more, options in (
        ("parquet", {}, {"compression": "none", "use_dictionary": False}),
        ("parquet labels", {"label": ["cat", None, "owl", "eel", "cat", "dog"]}, {"compression": "zstd"}),
        ("parquet pages", {"label": [0, 1, 2, 3, 0, 1]}, {"data_page_version": "2.0", "row_group_size": 2}),
    ):
        file = io.BytesIO()
        parquet.write_table(pyarrow.table({**columns, **more}), file, **options)
        made[kind] = ("a.parquet", file.getvalue())
    return made


def stills() -> dict[str, tuple[str, bytes]]:
    pixels = RNG.integers(0, 256, (20, 24, 3), dtype=np.uint8)
    still, moving = Image.fromarray(pixels), [Image.fromarray(pixels // (i + 1)) for i in range(3)]
    deep = Image.fromarray(RNG.integers(0, 65536, (9, 9)).astype(np.uint16))
    made = {"bmp runs": ("a.bmp", run_length_bmp(8, 4))}
    film = {"save_all": True, "append_images": moving[1:], "duration": 50}
    for kind, picture, options in (
        ("png", still, {}), ("png 16", deep, {}), ("jpg", still, {}), ("jpg progressive", still, {"progressive": True}),
        ("webp", still, {}), ("bmp", still, {}), ("gif", still, {}), ("gif moving", moving[0], film),
        ("webp moving", moving[0], film), ("png moving", moving[0], film), ("jpg exif", still, {"exif": EXIF}),
        ("png exif", still, {"exif": EXIF}), ("webp exif", still, {"exif": EXIF}),
    ):  # fmt: skip
        file, ending = io.BytesIO(), kind.split()[0]
        picture.save(file, {"jpg": "JPEG"}.get(ending, ending.upper()), **options)
        made[kind] = (f"a.{ending}", file.getvalue())
    return made


def run_length_bmp(width: int, height: int) -> bytes:
    """A BMP whose rows are runs of one colour each."""
    palette = bytes(range(256)) * 4
    runs = b"".join(bytes([min(width, 255), row % 256, 0, 0]) for row in range(height)) + b"\0\1"
    head = struct.pack("<IiiHHIIiiII", 40, width, height, 1, 8, 1, len(runs), 2835, 2835, 256, 0)
    start = 14 + len(head) + len(palette)
    return b"BM" + struct.pack("<IHHI", start + len(runs), 0, 0, start) + head + palette + runs


def archives() -> dict[str, tuple[str, bytes]]:
    pictures = stills()
    files = {"a/1.png": pictures["png"][1], "a/2.gif": pictures["gif moving"][1], "a/3.bmp": pictures["bmp runs"][1]}
    labels = b"file,label\n1.png,cat\n2.gif,1\n"
    return {"zip": ("a.zip", zipped({**files, "labels.csv": labels}))}


def zipped(files: dict[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(info, "w") as member:  # `writestr` wants a name
                member.write(content)
    return file.getvalue()


def films() -> dict[str, tuple[str, bytes]]:
    """None where PyAV is not installed."""
    try:
        import av
    except ImportError:
        return {}
    made = {}
    for ending, container, codec in (
        ("mp4", "mp4", "libx264"), ("mov", "mov", "mpeg4"), ("avi", "avi", "mjpeg"), ("mkv", "matroska", "libx264"),
        ("webm", "webm", "libvpx-vp9"), ("mpg", "mpeg", "mpeg2video"),
    ):  # fmt: skip
        file = io.BytesIO()
        with av.open(file, "w", format=container) as out:
            track = out.add_stream(codec, rate=10)
            track.width, track.height = 32, 32
            track.pix_fmt = "yuvj420p" if codec == "mjpeg" else "yuv420p"
            for i in range(4):
                out.mux(track.encode(av.VideoFrame.from_ndarray(np.full((32, 32, 3), 60 * i, np.uint8), "rgb24")))
            out.mux(track.encode(None))
        made[ending] = (f"a.{ending}", file.getvalue())
    return made
