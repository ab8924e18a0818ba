"""Saved states: what was saved comes back, and a damaged one is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file
from torch import nn

from train.training import saved_state

PLACE: dict[str, Any] = {
    "identity": {"method": "static"}, "epoch": 1, "step": 0, "sums": [0.0, 0.0, 0.0], "history": [{"epoch": 0.0}],
    "scaler": {},
}  # fmt: skip


def made() -> tuple[nn.Module, torch.optim.Optimizer]:
    torch.manual_seed(0)
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    model(torch.ones(1, 3)).sum().backward()
    optimizer.step()
    return model, optimizer


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "state.safetensors"
    saved_state.save(path, *made(), PLACE)
    return path


def restore(path: Path) -> dict[str, Any]:
    return saved_state.restore(path, *made(), PLACE["identity"])


def rewrite(path: Path, change: Any, without_digest: bool = False, names: Any = lambda name: name) -> None:
    with safe_open(path, "pt") as file:
        header = json.loads(file.metadata()["header"])
    header = change(header)
    if without_digest:
        del header["tensors_sha256"]
    save_file({names(name): value for name, value in load_file(path).items()}, path, {"header": json.dumps(header)})


def test_what_was_saved_comes_back(saved: Path) -> None:
    header = restore(saved)
    assert {name: header[name] for name in PLACE} == PLACE


@pytest.mark.parametrize("part", [0.5, 0.99])
def test_changed_bytes_are_refused(saved: Path, part: float) -> None:
    content = bytearray(saved.read_bytes())
    begin = 8 + int.from_bytes(content[:8], "little")
    content[begin + int(part * (len(content) - begin))] ^= 1
    saved.write_bytes(content)
    with pytest.raises(ValueError, match=r"state\.safetensors is not a whole training state \(the SHA-256"):
        restore(saved)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *((name, None) for name in PLACE),
        ("epoch", "one"), ("epoch", -1), ("epoch", True), ("step", 1.5), ("sums", [0.0, 0.0]), ("sums", "000"),
        ("sums", [0.0, 0.0, "x"]), ("history", {}), ("history", []), ("history", [{"epoch": "x"}]), ("history", [1]),
        ("identity", [1]), ("scaler", 3), ("epoch", "x" * 5000),
    ],
)  # fmt: skip
def test_entries_of_another_kind_are_refused_by_name(saved: Path, name: str, value: object) -> None:
    rewrite(saved, lambda header: {**header, name: value})
    with pytest.raises(ValueError, match=rf"is not a whole training state \({name} is .*, expected ") as caught:
        restore(saved)
    assert len(str(caught.value)) < 400 + len(str(saved))


def test_a_header_that_is_no_table_is_refused(saved: Path) -> None:
    rewrite(saved, lambda header: [header])
    with pytest.raises(ValueError, match=r"is not a whole training state \(its header is a list\)"):
        restore(saved)


@pytest.mark.parametrize("entry", ["model.weight", "optimizer.0.momentum_buffer"])
@pytest.mark.parametrize("without_digest", [False, True])
def test_a_renamed_entry_is_refused(saved: Path, entry: str, without_digest: bool) -> None:
    other = "model.breadth" if entry.startswith("model") else "optimizer.first.momentum_buffer"
    rewrite(saved, lambda header: header, without_digest, lambda name: other if name == entry else name)
    with pytest.raises(ValueError, match="is not a whole training state") as caught:
        restore(saved)
    assert "\n" not in str(caught.value)
