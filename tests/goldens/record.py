"""Record the answers anew: all of them, or those of one golden.

    python -m tests.goldens.record [NAME]

Do so only where a change of numbers is meant, and say in the commit which numbers change and why.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")  # as in the tests: sums in one order
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "helpers"))  # as pytest does

from tests.goldens import answers, console, fits, service, tables, training, uploads
from tests.goldens.golden_files import Golden

GOLDENS = {
    "answers-off": Golden("answers_off.npz", answers.off),  # the paper's modes: must never change
    "answers-memory": Golden("answers_memory.npz", answers.with_memory),  # change with the memory's equation
    "fits": Golden("fits.json", fits.fits, 1e-6),  # change with the memory's equation
    "service-off": Golden("service_off.json.gz", partial(service.transcript, "off")),
    "service-memory": Golden("service_memory.json.gz", partial(service.transcript, "attentive")),
    "uploads": Golden("uploads.json", uploads.good),
    "training": Golden("training.json", training.tensors),
    "console-off": Golden("console_off.json.gz", partial(console.words, "off"), 1e-7),
    "console-memory": Golden("console_memory.json.gz", partial(console.words, "attentive"), 1e-7),
    "panels-off": Golden("panels_off.json.gz", partial(console.figures, "off"), 1e-7),
    "panels-memory": Golden("panels_memory.json.gz", partial(console.figures, "attentive"), 1e-7),
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
