"""Several processes of one run: they begin together, and end together."""

from __future__ import annotations

import builtins
import os
import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import tiny_run
import torch
from two_processes import ended, in_two_processes

from knob_core import checkpoint, folder_lock, models
from train import fit
from train.training import loop, saved_state


def warm(folder: Path, rank: int, world: int = 2) -> object:
    torch.set_num_threads(1)
    return fit.warm_encoder(tiny_run.WARM_TINY, 0, tiny_run.place(folder, rank, world))


def test_both_wait_for_an_encoder_that_another_run_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "pocket" / "warm-s0" / "state.safetensors"
    other = os.fork()
    if not other:
        real = loop._one_step
        vars(loop)["_one_step"] = lambda *a: (time.sleep(0.05), real(*a))[1]
        warm(tmp_path, 0, 1)
        os._exit(0)
    try:
        while not state.exists():
            time.sleep(0.01)
        os.kill(other, signal.SIGSTOP)  # half trained
        told = builtins.print
        monkeypatch.setattr(builtins, "print", lambda *a, **k: (told(*a, **k), (tmp_path / "waits").touch()))
        pids = in_two_processes(lambda rank: warm(tmp_path, rank), tmp_path / "two")
        while not (tmp_path / "waits").exists():
            time.sleep(0.01)
        time.sleep(0.5)  # the second one would go on
    finally:
        os.kill(other, signal.SIGCONT)
        os.waitpid(other, 0)
    assert ended(pids) == [0, 0]


def test_a_refused_lock_ends_both(tmp_path: Path) -> None:
    given = tmp_path / "given.safetensors"
    checkpoint.save(models.build("static", width=8), given, {"seed": 0})

    def work(rank: int) -> None:
        fit.fit("static", tiny_run.WARM_TINY, 0, replace(tiny_run.place(tmp_path, rank, 2), encoder=given))

    with folder_lock.locked(tmp_path / "pocket" / "static-s0", "trains in", "--runs"):
        assert ended(in_two_processes(work, tmp_path / "two")) == [1, 1]
    first, second = ((tmp_path / "two" / str(rank)).read_text() for rank in range(2))
    assert f"process {os.getpid()} trains in" in first and "stopped with the first process" in second


@pytest.mark.slow
def test_two_that_are_killed_within_an_epoch_end_with_the_same_bits(tmp_path: Path) -> None:
    def cut(rank: int) -> None:
        vars(loop)["SAVE_SECONDS"] = 0.0
        real, saved = saved_state.save, []

        def save(*arguments: Any) -> None:
            real(*arguments)
            saved.append(arguments)
            if len(saved) == 3:
                os._exit(9)

        vars(saved_state)["save"] = save
        warm(tmp_path / "cut", rank)

    def state(name: str) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        return saved_state.read(tmp_path / name / "pocket" / "warm-s0" / "state.safetensors")

    assert ended(in_two_processes(lambda rank: warm(tmp_path / "uncut", rank), tmp_path)) == [0, 0]
    assert ended(in_two_processes(cut, tmp_path)) == [9, 1]
    assert 0 < state("cut")[1]["step"] < 5
    assert ended(in_two_processes(lambda rank: warm(tmp_path / "cut", rank), tmp_path)) == [0, 0]
    (uncut, whole), (cut_, resumed) = state("uncut"), state("cut")
    assert resumed["history"] == whole["history"]
    assert all(torch.equal(cut_[name], value) for name, value in uncut.items())
