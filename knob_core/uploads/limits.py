"""How much an upload may hold, and how a refusal says it."""

import re

MAX_BYTES = 200_000_000  # of the file itself
MAX_UNPACKED = 400_000_000  # bytes, of everything in an archive, and of all pages of a parquet file
MAX_MEMBERS = 5_000  # files in an archive
MAX_FOOTER = 16_000_000  # bytes of a parquet file's table of contents
MAX_VALUES = 20_000_000  # numbers in one array or table; twice as many in all arrays of one file
MAX_PATH_VALUES = 2_000_000  # frames x classes of one stream: what a turn of a knob computes anew
MAX_CLASSES = 10_000
MAX_WORDS = 1_000_000  # labels as text in an array; as numbers there may be more
MAX_WORD_BYTES = 100_000_000  # of them: numpy takes as much for every one as for the longest
MAX_NAME = 1_000  # characters of a label, a class, or a picture's name with its folders
MAX_LABELS_BYTES = 2_000_000  # of a labels.csv
MAX_PICTURES = 3_000  # frames
MAX_PIXELS = 40_000_000  # of one picture
MAX_MOVING_PIXELS = 16_000_000  # of one frame where there are more, and of a WebP: its decoder holds five copies
MAX_RLE_PIXELS = 4_000_000  # of a run-length-encoded BMP, which is unpacked by a loop in Python
MAX_SCANS = 100  # of one JPEG: each goes over all pixels again, and may be a few bytes long
MAX_SEGMENTS = 1_000  # of one JPEG before its pixels
MAX_EXIF_PARTS = 4  # of one JPEG, of 64 KB each
MAX_EXIF = 262_144  # bytes of it that are read: Pillow makes an object of every few, without a look at the clock
MAX_BLOCKS = 10_000  # of one PNG besides its pixels, of one WebP, and of comments in one GIF
MAX_STRAY = 1_000  # bytes of one GIF that belong to no block
LARGE_PIXELS = 10_000_000  # of one picture: more are decoded one picture at a time in the whole process
LARGE_BYTES = 40_000_000  # of numbers: more are read one file at a time, as are all parquet files and videos
MAX_FILM_PIXELS = 9_000_000  # of one video frame: 4096 x 2160; a decoder keeps up to 16 of them
MAX_PROCESS_MEMORY = 2_000_000_000  # bytes of address space of a process that reads a video or a parquet file
MAX_DECODED = 12_000_000_000  # bytes, of all that one upload is decoded to: 1,900 frames of 1920 x 1080
MAX_SECONDS = 30.0  # that one upload may be read for

INNARDS = re.compile(r"<[^>]*>|\S*[/\\]\S*|0x[0-9a-fA-F]{6,}")  # objects, paths and addresses in a library's message


def short(name: str) -> str:
    """A name from outside as a refusal says it: printable, and no longer than one can read."""
    return repr(name if len(name) <= 80 else f"{name[:50]}...{name[-25:]}")[1:-1]


def said(error: BaseException) -> str:
    """What a library says of a damaged file, without objects, addresses and paths of this machine."""
    lines = (getattr(error, "strerror", None) or str(error)).strip().splitlines()
    text = " ".join(INNARDS.sub("", lines[0] if lines else "").split())
    return short(text.strip(" :'\"")[:120]) or type(error).__name__


def require_size(name: str, size: int, limit: int = MAX_BYTES) -> None:
    if size == 0:
        raise ValueError(f"{short(name)} is empty")
    if size > limit:
        raise ValueError(f"{short(name)} has {size:,} bytes, expected at most {limit:,}")
