"""How much an upload may hold, and how a refusal says it."""

MAX_BYTES = 200_000_000  # of the file itself
MAX_UNPACKED = 400_000_000  # bytes, of everything in an archive
MAX_MEMBERS = 5_000  # files in an archive
MAX_VALUES = 20_000_000  # numbers in one array or table
MAX_CLASSES = 10_000
MAX_PICTURES = 3_000
MAX_PIXELS = 40_000_000  # of one picture
MAX_ALL_PIXELS = 4_000_000_000  # of all frames: 1,900 of 1920 x 1080


def short(name: str) -> str:
    """A name from outside as a refusal says it: printable, and no longer than one can read."""
    return repr(name if len(name) <= 80 else f"{name[:50]}...{name[-25:]}")[1:-1]


def require_size(name: str, size: int, limit: int = MAX_BYTES) -> None:
    if size == 0:
        raise ValueError(f"{short(name)} is empty")
    if size > limit:
        raise ValueError(f"{short(name)} has {size:,} bytes, expected at most {limit:,}")
