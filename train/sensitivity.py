"""The parameter sweep: every measure over zeta x omega_n, `python -m train.sensitivity FILE... --out TABLE.csv`.

FILE is one of `train.change_streams`, of the splits validation and pairs: the models are frozen, and nothing is chosen
by this table. Damping and natural frequency go through powers of sqrt(2) around home, so that home, half and double of
it are in the table. One row a model and setting; measures as in `knob_core.measures.change`.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from knob_core import assets, branches, checkpoint
from knob_core.branches import Branches
from knob_core.library import result_tables
from knob_core.maps import MEASURES, ManySettings
from knob_core.memories import KINDS, Attentive
from knob_core.settings import HOME, Settings
from train import commands
from train.compare_filters import CHOOSING, checked_about

ZETAS = HOME.zeta * 2.0 ** (np.arange(-8, 4) / 2)  # 0.0625 to 2.83
OMEGAS = HOME.omega_n * 2.0 ** (np.arange(-8, 6) / 2)  # 0.025 to 2.26 rad/frame


def read(path: Path) -> tuple[str, Branches]:
    """The model's name and its streams; other splits than those for choosing are refused."""
    return str(checked_about(path, CHOOSING)["model"]), branches.load(path)


def together(parts: Sequence[Branches]) -> Branches:
    """Streams of one length from several files."""
    lengths = {part.u_star.shape[1] for part in parts}
    if len(lengths) > 1:
        raise ValueError(f"the files have streams of {sorted(lengths)} frames, expected one length")
    names = ("z_static", "z_dyn", "u_star", "frame_labels", "frame_severity", "content")
    arrays = {name: [getattr(part, name) for part in parts] for name in names}
    content = None if any(x is None for x in arrays["content"]) else np.concatenate(arrays["content"])
    joined = (np.concatenate(arrays[name]) for name in names[:-1])
    z_static, z_dyn, u_star, labels, severity = joined
    return Branches(z_static, z_dyn, u_star, labels, severity, content)


def sweep(model: str, streams: Branches, memory: str) -> list[dict[str, Any]]:
    """One row a setting."""
    header = checkpoint.read_header(assets.checkpoint(model))
    weights = Attentive.from_dict(header["attentive"]) if "attentive" in header else None
    many = ManySettings(streams, Settings(memory=memory), model.rpartition("-s")[0], weights)
    zeta, omega_n = (x.ravel() for x in np.meshgrid(ZETAS, OMEGAS, indexing="ij"))
    found = many.measure(zeta, omega_n)
    return [
        {"model": model, "memory": memory, "zeta": zeta[i], "omega_n": omega_n[i],
         **{name: found[name][i] for name in MEASURES}}
        for i in range(len(zeta))
    ]  # fmt: skip


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = commands.parser("train.sensitivity", __doc__)
    parser.add_argument(
        "streams", nargs="+", type=commands.path, metavar="FILE.npz", help="several of a model are joined"
    )
    parser.add_argument("--memory", choices=KINDS, default=HOME.memory, help="default: %(default)s")
    parser.add_argument(
        "--out", type=commands.out_file, default=result_tables.RESULTS / "sensitivity.csv", metavar="TABLE.csv",
        help="default: assets/results/sensitivity.csv",
    )  # fmt: skip
    return parser.parse_args(arguments)


def work(args: argparse.Namespace) -> None:
    by_model: dict[str, list[Branches]] = {}
    for path in args.streams:
        model, streams = read(path)
        by_model.setdefault(model, []).append(streams)
    rows = [row for model in sorted(by_model) for row in sweep(model, together(by_model[model]), args.memory)]
    args.out.parent.mkdir(parents=True, exist_ok=True)
    result_tables.write(rows, args.out)
    print(f"{len(by_model)} models, {len(ZETAS)} x {len(OMEGAS)} settings each: {args.out}")


main = commands.main_of("train.sensitivity", parse, work)

if __name__ == "__main__":
    sys.exit(main())
