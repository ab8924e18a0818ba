"""Record the answers anew: all of them, or those of one golden.

    python -m tests.goldens.record [NAME]

Do so only where a change of numbers is meant, and say in the commit which numbers change and why.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))  # as pytest does

from tests.goldens import answers, tables, training, uploads
from tests.goldens.golden_files import Golden

GOLDENS = {
    "answers-off": Golden("answers_off.npz", answers.off),  # the paper's modes: must never change
    "answers-memory": Golden("answers_memory.npz", answers.with_memory),  # change with the memory's equation
    "uploads": Golden("uploads.json", uploads.good),
    "training": Golden("training.json", training.tensors),
    "tables": Golden("tables.json", tables.digests),
}


def main() -> None:
    names = sys.argv[1:] or list(GOLDENS)
    for name in names:
        if name not in GOLDENS:
            raise SystemExit(f"there is no golden {name!r}, expected some of {', '.join(GOLDENS)}")
        GOLDENS[name].record()
        print(f"recorded {GOLDENS[name].file}", flush=True)


if __name__ == "__main__":
    main()
