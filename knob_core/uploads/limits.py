"""How much an upload may hold, and how a refusal says it."""

MAX_BYTES = 200_000_000  # of the file itself
MAX_UNPACKED = 400_000_000  # bytes, of everything in an archive
MAX_MEMBERS = 5_000  # files in an archive
MAX_VALUES = 20_000_000  # numbers in one array or table
MAX_CLASSES = 10_000
MAX_PICTURES = 3_000
MAX_PIXELS = 40_000_000  # of one picture
MAX_ALL_PIXELS = 1_000_000_000  # of all frames: 3,000 of 640 x 480


def require_size(name: str, size: int, limit: int = MAX_BYTES) -> None:
    if size == 0:
        raise ValueError(f"{name} is empty")
    if size > limit:
        raise ValueError(f"{name} has {size:,} bytes, expected at most {limit:,}")
