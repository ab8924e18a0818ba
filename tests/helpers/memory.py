"""Memory of a running process."""

from __future__ import annotations

from pathlib import Path


def resident(pid: int) -> float:
    """Resident memory, MB (of a million bytes)."""
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) * 1024 / 1e6
    return float("nan")
