"""Files of streams that several services share: a stream goes on wherever it comes to, and never backwards."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from services import logits

from knob_core import wrap
from knob_core.runtime import KnobStream
from knob_core.serving.engine import Engine, Limits
from knob_core.serving.messages import Frame
from knob_core.serving.stream_files import StreamFiles


class Replica:
    """An engine with its files."""

    def __init__(self, folder: Path, **limits: Any) -> None:
        self.engine = Engine(wrap.classifier(), limits=Limits(**limits), name="logits")
        self.files = StreamFiles(self.engine, folder)
        self.files.load()

    def step(self, id: str, z: np.ndarray) -> Any:
        told: list[Any] = []
        self.files.recall(id)
        self.engine.submit(id, Frame("logits", z, probabilities=True), told.append)
        self.engine.step_waiting()
        return told[0]


def frames(n: int, seed: int = 0) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [logits(rng) for _ in range(n)]


def test_a_stream_goes_on_bit_for_bit_at_another_replica(tmp_path: Path) -> None:
    first, second = Replica(tmp_path), Replica(tmp_path)
    reference, given = KnobStream(wrap.classifier()), frames(12)
    for k, z in enumerate(given):
        replica = first if k < 6 else second
        answer = replica.step("a", z)
        assert answer["probabilities"] == reference.step(z).probabilities.tolist() and answer["frame"] == k + 1
        if k == 5:
            first.files.save()
    assert second.engine.streams["a"].origin == "memory" and len(first.engine.streams) == 1


def test_memory_that_was_left_behind_neither_answers_nor_writes(tmp_path: Path) -> None:
    """The stream went elsewhere and comes back: the file is ahead of what this replica remembers."""
    first, second = Replica(tmp_path), Replica(tmp_path)
    reference, given = KnobStream(wrap.classifier()), frames(9)
    for z in given[:3]:
        first.step("a", z)
        reference.step(z)
    first.files.save()
    for z in given[3:6]:
        second.step("a", z)
        reference.step(z)
    second.files.save()
    first.files._written.clear()  # as if it had never written: it must see that the file is ahead
    first.files.save()
    first.engine.streams["a"].seen -= 100.0
    for k, z in enumerate(given[6:]):
        answer = first.step("a", z)
        assert answer["frame"] == 7 + k and answer["probabilities"] == reference.step(z).probabilities.tolist()


def test_a_stream_that_was_ended_and_begun_anew_is_not_the_old_one(tmp_path: Path) -> None:
    first, second = Replica(tmp_path), Replica(tmp_path)
    for z in frames(5):
        first.step("a", z)
    first.files.save()
    second.files.recall("a")
    second.engine.forget("a")
    assert second.files.remove("a") and not second.files.remove("a")
    new = frames(2, seed=1)
    second.step("a", new[0])
    second.files.save()
    first.engine.streams["a"].seen -= 100.0
    reference = KnobStream(wrap.classifier())
    reference.step(new[0])
    answer = first.step("a", new[1])  # five frames of the old one are in its memory
    assert answer["frame"] == 2 and answer["probabilities"] == reference.step(new[1]).probabilities.tolist()


def test_only_what_moved_is_written_and_dropped_streams_at_once(tmp_path: Path) -> None:
    replica = Replica(tmp_path)
    z = frames(3)
    replica.engine.join("open", sink=lambda reply: None)
    replica.engine.submit("open", Frame("logits", z[0]))
    replica.step("dropped", z[0])
    replica.engine.step_waiting()
    replica.files.tick()
    assert [path.name for path in tmp_path.iterdir()] == ["dropped.safetensors"]
    replica.files.save()
    stamps = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert len(stamps) == 2
    replica.step("dropped", z[1])
    replica.files.save()
    now = {path.name: path.stat().st_mtime_ns for path in tmp_path.iterdir()}
    assert now["open.safetensors"] == stamps["open.safetensors"]
    assert now["dropped.safetensors"] != stamps["dropped.safetensors"]


def test_files_of_streams_that_have_gone_are_swept_and_not_taken(tmp_path: Path) -> None:
    first, second = Replica(tmp_path, idle=50.0), Replica(tmp_path, idle=50.0)
    for id in ("old", "new"):
        first.step(id, frames(1)[0])
    first.files.save()
    past = time.time() - 60
    os.utime(tmp_path / "old.safetensors", (past, past))
    second.files.recall("old")
    assert "old" not in second.engine.streams
    assert second.files.sweep() == 1 and [path.name for path in tmp_path.iterdir()] == ["new.safetensors"]


@pytest.mark.parametrize("damage", ["cut", "another stream", "another model"])
def test_a_file_that_does_not_fit_is_put_aside(tmp_path: Path, damage: str) -> None:
    first = Replica(tmp_path)
    for id in ("a", "b"):
        first.step(id, frames(1)[0])
    if damage == "another model":
        first.engine.name = "other"
    first.files.save()
    path = tmp_path / "a.safetensors"
    content = path.read_bytes()
    if damage == "cut":
        path.write_bytes(content[:-40])
    if damage == "another stream":
        path.write_bytes((tmp_path / "b.safetensors").read_bytes())
    second = Replica(tmp_path)
    second.files.recall("a")
    assert not second.engine.streams and any("a-refused" in path.name for path in tmp_path.iterdir())
    assert second.step("a", frames(1)[0])["frame"] == 1


def test_a_full_engine_takes_no_file(tmp_path: Path) -> None:
    first, second = Replica(tmp_path), Replica(tmp_path, capacity=1)
    first.step("a", frames(1)[0])
    first.files.save()
    second.step("b", frames(1)[0])
    second.files.recall("a", socket=True)
    assert list(second.engine.streams) == ["b"] and (tmp_path / "a.safetensors").is_file()
