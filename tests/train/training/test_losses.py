"""The losses teach what they say: modest static, sharp dynamic, and a gate that leans to the better branch."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cross_entropy

from knob_core import models
from knob_core.methods import GATED
from knob_core.models import Outputs
from train.training import losses
from train.training.batches import Batch
from train.training.recipes import PAPER, POCKET


def batch_of(labels: torch.Tensor, severity: torch.Tensor) -> Batch:
    return Batch(torch.rand(len(labels), 3, 32, 32), labels, severity, (torch.Generator().manual_seed(0),))


def test_the_dynamic_branch_sees_clean_images_only() -> None:
    labels = torch.arange(4)
    z = torch.randn(2, 4, 10, requires_grad=True)
    losses.branch_loss(
        Outputs(z[0], z[1], torch.zeros(4)), batch_of(labels, torch.tensor([0.0, 0, 3, 5])), POCKET
    ).backward()
    assert z.grad is not None
    touched = z.grad.abs().sum(-1) > 0
    assert touched.tolist() == [[True] * 4, [True, True, False, False]]


def test_the_gate_loss_moves_the_command_and_never_the_branches() -> None:
    labels = torch.tensor([0, 0])
    z_static, z_dyn = torch.zeros(2, 10, requires_grad=True), torch.zeros(2, 10, requires_grad=True)
    u_star = torch.zeros(2, requires_grad=True)
    with torch.no_grad():
        z_dyn[0, 0], z_dyn[1, 1] = 3.0, 3.0  # right on the first image, wrong on the second
    losses.gate_loss(Outputs(z_static, z_dyn, u_star), batch_of(labels, torch.tensor([0.0, 5.0])), POCKET).backward()
    assert z_static.grad is None and z_dyn.grad is None
    assert u_star.grad is not None
    assert u_star.grad[0] < 0 < u_star.grad[1]  # descent opens the gate for the first and shuts it for the second


def test_the_fused_loss_teaches_the_branches_where_the_recipe_says_so() -> None:
    together = replace(POCKET, fused_teaches="branches", advantage_weight=0.0, severity_weight=0.0)
    z = torch.zeros(2, 1, 10, requires_grad=True)
    u_star = torch.tensor([2.0])
    losses.gate_loss(Outputs(z[0], z[1], u_star), batch_of(torch.tensor([3]), torch.tensor([5.0])), together).backward()
    assert z.grad is not None
    share = z.grad[1, 0, 3] / z.grad[:, 0, 3].sum()  # each branch is taught by its share in the mix
    assert float(share) == pytest.approx(float(torch.sigmoid(u_star)))
    with pytest.raises(ValueError, match="fused_teaches must be one of command, branches, got 'all'"):
        replace(POCKET, fused_teaches="all")


def test_severity_alone_shuts_the_gate() -> None:
    z = torch.randn(2, 10)
    u_star = torch.zeros(2, requires_grad=True)
    losses.gate_loss(Outputs(z, z, u_star), batch_of(torch.tensor([0, 0]), torch.tensor([0.0, 5.0])), POCKET).backward()
    assert u_star.grad is not None and u_star.grad[0] < u_star.grad[1]


def test_streams_teach_the_knobs_and_nothing_else() -> None:
    torch.manual_seed(0)
    model = models.build("knob-ode", width=8).train()
    loss = losses.stream_loss(model, batch_of(torch.arange(10).repeat(3), torch.zeros(30)), POCKET)
    loss.backward()
    moved = {name for name, p in model.named_parameters() if p.grad is not None and p.grad.abs().sum() > 0}
    assert moved == {"knobs.raw"}
    assert model.command.training


def test_ungated_methods_descend_plain_cross_entropy() -> None:
    torch.manual_seed(0)
    model = models.build("static", width=8).eval()
    batch = batch_of(torch.arange(4), torch.zeros(4))
    step = losses.method_step(model, batch, POCKET, 0)
    torch.testing.assert_close(step.loss, cross_entropy(model.predict(batch.images), batch.labels))


@pytest.mark.parametrize("method", GATED)
def test_streams_teach_the_command_where_the_recipe_says_so(method: str) -> None:
    torch.manual_seed(0)
    model = models.build(method, width=8).train()
    recipe = replace(POCKET, streams_teach="command")
    losses.stream_loss(model, batch_of(torch.arange(10).repeat(3), torch.zeros(30)), recipe).backward()
    moved = {
        name.split(".")[0] for name, p in model.named_parameters() if p.grad is not None and p.grad.abs().sum() > 0
    }
    assert moved == {"command"} | ({"knobs"} if model.dynamics.inertia else set())


def test_each_gate_teaches_its_own_command() -> None:
    """The same streams through three gates pull u* three ways: no two methods end alike by construction."""
    recipe, gradients = replace(POCKET, streams_teach="command"), []
    for method in GATED:
        torch.manual_seed(0)
        model = models.build(method, width=8).train()
        torch.manual_seed(1)
        losses.stream_loss(model, batch_of(torch.arange(10).repeat(3), torch.zeros(30)), recipe).backward()
        gradients.append(model.command.net[0].weight.grad)
    assert not torch.allclose(gradients[0], gradients[1]) and not torch.allclose(gradients[1], gradients[2])


@pytest.mark.parametrize("method", models.METHODS)
def test_the_papers_loss_is_the_fused_cross_entropy_through_one_step_from_rest(method: str) -> None:
    torch.manual_seed(0)
    model = models.build(method, width=8).train()
    batch = batch_of(torch.arange(6), torch.tensor([0.0, 0, 0, 1, 2, 2]))
    step = losses.method_step(model, batch, PAPER, 0)
    step.loss.backward()
    learned = {
        name.split(".")[0] for name, p in model.named_parameters() if p.grad is not None and p.grad.abs().sum() > 0
    }
    assert "encoder" in learned and "static_head" in learned
    assert ("knobs" in learned) is model.dynamics.inertia  # through the one factor that Reset Mode has
    assert ("command" in learned) is model.dynamics.gated


def test_the_papers_loss_has_no_other_part() -> None:
    torch.manual_seed(0)
    model = models.build("knob-ode", width=8).eval()
    batch = batch_of(torch.arange(4), torch.zeros(4))
    step = losses.method_step(model, batch, PAPER, 0)
    torch.testing.assert_close(step.loss, cross_entropy(model.predict(batch.images, "reset"), batch.labels))
