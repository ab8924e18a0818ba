"""The running mean of weights: its arithmetic by hand, and that it never leaks into training."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from train.averaging import WeightAverage


def one_weight(value: float) -> nn.Module:
    model = nn.BatchNorm1d(1)
    put(model, value)
    return model


def put(model: nn.Module, value: float) -> None:
    """The weight and the running mean alike; batches are counted too, in a whole number."""
    with torch.no_grad():
        model.weight.fill_(value)
        model.running_mean.fill_(-value)
        model.num_batches_tracked += 1


def test_a_plain_mean_until_the_horizon_then_a_forgetting_one() -> None:
    model, average, seen = one_weight(0.0), WeightAverage(3), []
    for step, value in enumerate((1.0, 2.0, 6.0, 3.0, 8.0), 1):
        put(model, value)
        average.update(model, step)
        seen.append(average.mean["weight"].item())
    # 1, (1 + 2) / 2, (1 + 2 + 6) / 3, then a third of the way each time
    assert seen == pytest.approx([1, 1.5, 3, 3, 3 + 5 / 3])
    assert average.mean["running_mean"].item() == pytest.approx(-seen[-1])
    assert "num_batches_tracked" not in average.mean


def test_inside_shows_the_mean_and_gives_the_weights_back() -> None:
    model, average = one_weight(1.0), WeightAverage(10)
    average.update(model, 1)
    put(model, 3.0)
    average.update(model, 2)
    with pytest.raises(RuntimeError, match="inside"), average.inside(model):
        assert (model.weight.item(), model.running_mean.item()) == (2.0, -2.0)
        raise RuntimeError("inside")
    assert (model.weight.item(), model.running_mean.item(), model.num_batches_tracked.item()) == (3.0, -3.0, 2)
    average.write_to(model)
    assert (model.weight.item(), model.running_mean.item(), model.num_batches_tracked.item()) == (2.0, -2.0, 2)


def test_before_the_first_step_there_is_nothing_to_write() -> None:
    model = one_weight(5.0)
    with WeightAverage(2).inside(model):
        assert model.weight.item() == 5.0


def test_the_order_of_a_restored_mean_does_not_matter() -> None:
    model, average = nn.Linear(2, 3), WeightAverage(5)
    average.update(model, 1)
    wanted = WeightAverage(5)
    wanted.mean = {name: value.clone() for name, value in average.mean.items()}
    average.mean = dict(reversed(average.mean.items()))
    with torch.no_grad():
        model.weight.add_(1), model.bias.sub_(1)
    average.update(model, 2)
    wanted.update(model, 2)
    assert all(torch.equal(average.mean[name], wanted.mean[name]) for name in wanted.mean)


def test_an_average_over_no_step_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one step, got 0"):
        WeightAverage(0)
