"""Work is shared where weights are equal, and nowhere else; what comes out is what each model says alone."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
import pytest
import torch

from knob_core import checkpoint, data, models
from knob_core.data.pixels import to_unit
from knob_core.inference import over_batches
from tests.helpers import tiny_family
from train.measuring import branch_outputs


@pytest.fixture(scope="module")
def images() -> np.ndarray:
    return data.load_sample()[0][:7]


def members(seed: int = 0) -> list[branch_outputs.Member]:
    return [branch_outputs.member(model, seed) for model in tiny_family.family(seed).values()]


def test_the_outputs_are_each_models_own(images: np.ndarray) -> None:
    found = branch_outputs.compute(members(), images)
    for member in members():
        with torch.inference_mode():
            own = member.model(to_unit(images).contiguous(memory_format=torch.channels_last))
        shared = found[member.branches]
        for mine, theirs in zip(own, (shared.z_static, shared.z_dyn, shared.u_star), strict=True):
            assert np.allclose(mine.numpy(), theirs, atol=1e-5)
        assert torch.equal(shared.outputs().u_star, torch.from_numpy(shared.u_star))


def test_an_encoder_runs_once_however_many_heads_it_has(images: np.ndarray) -> None:
    runs = 0

    def count(*_: object) -> None:
        nonlocal runs
        runs += 1

    two_seeds = members(0) + members(1)
    for member in two_seeds:
        member.model.encoder.register_forward_hook(count)
    branch_outputs.compute(two_seeds, images)
    assert runs == 2  # one batch, two encoders


def test_equal_heads_share_a_digest_and_a_changed_weight_does_not() -> None:
    static, attention, ia, lite, ode = members()[:5]
    assert ia.branches == lite.branches == ode.branches
    assert len({static.branches, attention.branches, ia.branches}) == 3
    with torch.no_grad():
        ode.model.command.net[0].weight[0, 0] += 1e-3
    assert branch_outputs.member(ode.model, 0).branches != ia.branches
    ode.model.knobs.zeta = 2.0
    assert (
        branch_outputs.member(lite.model, 0).branches == ia.branches
    )  # the knobs act on branches, they are not in them


def test_batches_do_not_show(images: np.ndarray, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = branch_outputs.compute(members(), images)
    monkeypatch.setattr(branch_outputs, "over_batches", functools.partial(over_batches, batch=3))
    cut = branch_outputs.compute(members(), images)
    for key in whole:
        assert np.allclose(whole[key].z_dyn, cut[key].z_dyn, atol=1e-5)


def test_checkpoints_come_by_seed_and_in_the_familys_order(tmp_path: Path) -> None:
    folder = tiny_family.write(tmp_path, (1, 0))
    loaded = branch_outputs.load(branch_outputs.find([folder]))
    assert [member.name for member in loaded] == [f"{method}-s{seed}" for seed in (0, 1) for method in models.METHODS]


def test_finished_runs_are_found(tmp_path: Path) -> None:
    checkpoint.save(tiny_family.family()["static"], tmp_path / "static-s0" / "final.safetensors", {"seed": 0})
    assert [path.parent.name for path in branch_outputs.find([tmp_path])] == ["static-s0"]


def test_what_is_wrong_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no checkpoints in .*train\.fit"):
        branch_outputs.find([tmp_path])
    model = tiny_family.family()["static"]
    checkpoint.save(model, tmp_path / "a.safetensors", {"seed": 0})
    checkpoint.save(model, tmp_path / "b.safetensors", {"seed": 0})
    with pytest.raises(ValueError, match="static-s0"):
        branch_outputs.load(branch_outputs.find([tmp_path]))
    checkpoint.save(model, tmp_path / "b.safetensors", {})
    with pytest.raises(ValueError, match="seed"):
        branch_outputs.load([tmp_path / "b.safetensors"])
