"""A remembered encoding is the encoding: methods that share a frozen encoder's looks end with the same bits."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny_run
import torch

from knob_core.models import METHODS, Encoder, build
from train import fit
from train.training.encodings import Encodings


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many images each pass of an encoder saw while it was frozen."""
    seen: list[int] = []
    plain = Encoder.forward

    def counted(self: Encoder, images: torch.Tensor) -> tuple[torch.Tensor, list[torch.Tensor]]:
        if not self.training:
            seen.append(len(images))
        return plain(self, images)

    monkeypatch.setattr(Encoder, "forward", counted)
    return seen


@pytest.mark.slow
def test_shared_looks_change_no_bit_and_save_most_of_them(tmp_path: Path, looks: list[int]) -> None:
    torch.set_num_threads(1)
    counts, states = [], []
    for name, shared in (("alone", None), ("together", Encodings())):
        looks.clear()
        place = tiny_run.place(tmp_path / name)
        models = [fit.fit(method, tiny_run.WARM_TINY, 0, place, shared) for method in METHODS]
        counts.append(len(looks))
        states.append({(model.method, key): value for model in models for key, value in model.state_dict().items()})
    assert states[0].keys() == states[1].keys()
    assert all(torch.equal(value, states[1][key]) for key, value in states[0].items())
    steps, inert = 2 * (160 // 32), sum(model.dynamics.inertia for model in models)
    assert counts[0] - counts[1] == (len(METHODS) - 1) * steps + (inert - 1) * (2 * 3)


def test_what_does_not_fit_is_computed_again(looks: list[int]) -> None:
    model, images = build("knob-ode", 8).eval(), torch.rand(4, 3, 32, 32)
    needed = 4 * 10 * 8 * 4  # images x (8w + 2w) x bytes
    for limit, passes in ((needed, 1), (needed - 1, 3)):
        looks.clear()
        encodings = Encodings(limit)
        found = [encodings.of(model, images, (0, 1)) for _ in range(3)]
        assert len(looks) == passes
        for pair in found:
            assert all(torch.equal(a, b) for a, b in zip(pair, model.encode(images), strict=True))
            assert not pair[0].requires_grad
