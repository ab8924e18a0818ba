"""The README's examples, run one after the other. Also a script for other folders."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


def run() -> dict[str, Any]:
    """The names that the examples leave behind."""
    names: dict[str, Any] = {}
    for block in BLOCKS:
        exec(block, names)
    return names


if __name__ == "__main__":
    run()
