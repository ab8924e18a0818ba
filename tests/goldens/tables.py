"""The shipped result tables: SHA-256 of every CSV in assets/results."""

from __future__ import annotations

import hashlib
from pathlib import Path

RESULTS = Path(__file__).resolve().parents[2] / "assets" / "results"


def digests() -> dict[str, str]:
    paths = sorted(RESULTS.rglob("*.csv"))
    return {str(path.relative_to(RESULTS)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
