"""Table 2 without a stopwatch's luck: counts are exact, and the methods really take turns."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from knob_core import models
from knob_core.assets import ROOT
from knob_core.library import result_tables
from train import cost


def test_the_papers_counts_at_width_64() -> None:
    """Table 2 of the paper: 11.70, 11.90 and 11.77 million parameters."""
    wanted = {"static": 11.70, "attention": 11.90, "knob-ia": 11.77, "ode-lite": 11.77, "knob-ode": 11.77}
    for method, millions in wanted.items():
        assert round(cost.parameters(models.build(method, 64)) / 1e6, 2) == millions


def test_multiply_accumulates_by_hand() -> None:
    """Static at width 4: the stem, four stages of two blocks, three projections, one head of two layers."""
    w = 4
    macs = 3 * w * 9 * 1024
    side, inputs = 32, w
    for stage in range(4):
        out = w * 2**stage
        side = side if stage == 0 else side // 2
        macs += (inputs * out + 3 * out * out) * 9 * side * side
        macs += inputs * out * side * side if stage else 0
        inputs = out
    macs += (8 * w) ** 2 + 8 * w * 10
    assert cost.multiply_accumulates(models.build("static", w).eval()) == macs


def test_every_method_is_timed_in_every_round() -> None:
    torch.manual_seed(0)
    calls: list[str] = []
    family = {method: models.build(method, 4).eval() for method in ("static", "knob-ode")}
    for method, model in family.items():
        model.encoder.register_forward_hook(lambda *_, name=method: calls.append(name))
    times = cost.latencies(family, rounds=6, warm_up=2)
    assert {method: len(found) for method, found in times.items()} == {"static": 6, "knob-ode": 6}
    assert all((found > 0).all() for found in times.values())
    rounds = np.array(calls).reshape(8, 2)
    assert all(set(row) == set(family) for row in rounds)
    assert len(set(rounds[:, 0])) == 2  # now one first, now the other


def test_the_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    threads = torch.get_num_threads()
    try:
        assert cost.main(["--widths", "4", "--rounds", "3", "--out", str(tmp_path)]) == 0
    finally:
        torch.set_num_threads(threads)
    frame = result_tables.read(tmp_path / "cost.csv").set_index("method")
    assert list(frame.index) == list(models.METHODS)
    assert frame.loc["static", "ratio_to_static"] == 1
    assert (frame["latency_ms"] > 0).all()


def test_a_reader_that_is_gone_does_not_matter_to_the_table(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "train.cost", "--widths", "4", "--rounds", "1", "--out", tmp_path]
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "cost.csv").is_file()
