"""The five methods: the paper's sizes, no hidden device, and gates that are what gate.py says."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from knob_core import gate, methods, models

PAPER = {key: method.paper for key, method in methods.METHODS.items() if method.paper}  # Tables 1 and 2


@pytest.fixture(scope="module", params=models.METHODS)
def model(request: pytest.FixtureRequest) -> models.GatedClassifier:
    torch.manual_seed(0)
    return models.build(request.param, width=8).eval()


@pytest.mark.slow
@pytest.mark.parametrize("method", PAPER)
def test_width_64_has_the_papers_size_and_cost(method: str) -> None:
    with torch.device("meta"):
        model = models.build(method, width=64).eval()
        counter = FlopCounterMode(display=False)
        with counter, torch.no_grad():
            model(torch.empty(1, 3, 32, 32))
    assert round(sum(p.numel() for p in model.parameters()) / 1e6, 2) == PAPER[method].params_m
    assert counter.get_total_flops() / 2e9 == pytest.approx(0.558, abs=0.003)  # multiply-accumulates


def test_pocket_is_small() -> None:
    assert 0.7e6 < sum(p.numel() for p in models.build("knob-ode", width=16).parameters()) < 0.8e6


def test_no_hidden_cpu_tensors(model: models.GatedClassifier) -> None:
    elsewhere = models.build(model.method, width=8).to("meta").eval()
    outputs = elsewhere(torch.empty(2, 3, 32, 32, device="meta"))
    for mode in models.MODES:
        assert elsewhere.logits(outputs, mode).device.type == "meta"
    assert elsewhere.stream_gate(torch.empty(2, 5, device="meta")).device.type == "meta"


def test_shapes_at_any_image_size(model: models.GatedClassifier) -> None:
    for side in (24, 32, 40):
        z_static, z_dyn, u_star = model(torch.rand(3, 3, side, side))
        assert z_static.shape == z_dyn.shape == (3, 10) and u_star.shape == (3,)


def test_static_and_attention_have_no_gate_to_turn() -> None:
    for method in ("static", "attention"):
        outputs = models.build(method, width=8).eval()(torch.rand(2, 3, 32, 32))
        assert torch.equal(outputs.z_static, outputs.z_dyn)
        assert not outputs.u_star.any()


def test_turning_a_knob_changes_no_weight_and_no_branch() -> None:
    model = models.build("knob-ode", width=8).eval()
    images = torch.rand(2, 3, 32, 32)
    before = model(images)
    weights = {name: value.clone() for name, value in model.state_dict().items() if name != "knobs.raw"}
    reset_before = model.logits(before)
    model.knobs.zeta, model.knobs.omega_n = 1.7, 2.5
    assert model.knobs.zeta == pytest.approx(1.7) and model.knobs.omega_n == pytest.approx(2.5)
    assert all(torch.equal(a, b) for a, b in zip(before, model(images), strict=True))
    assert all(torch.equal(value, weights[name]) for name, value in model.state_dict().items() if name in weights)
    assert not torch.equal(reset_before, model.logits(before))


@pytest.mark.parametrize("value", [0.02, 0.05, 0.7, 3.0, 40.0])
def test_knobs_keep_what_they_are_given(value: float) -> None:
    knobs = models.Knobs(value, value)
    assert knobs.zeta == pytest.approx(value, rel=1e-5)
    knobs.omega_n = value
    assert knobs.omega_n == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf")])
def test_impossible_knobs_are_refused(value: float) -> None:
    with pytest.raises(ValueError, match="zeta must be positive"):
        models.Knobs().zeta = value


def test_reset_mode_is_one_step_of_the_recursion() -> None:
    u_star = torch.linspace(-4, 4, 9)
    ode, lite = models.build("knob-ode", width=8), models.build("ode-lite", width=8)
    u, _ = gate.run(u_star.numpy()[:, None].astype(float), ode.knobs.zeta, ode.knobs.omega_n)
    np.testing.assert_allclose(ode.gate(u_star).detach(), gate.sigmoid(u[:, 0]), atol=1e-6)
    g, _ = gate.run_ema(gate.sigmoid(u_star.numpy().astype(float))[:, None], lite.knobs.omega_n)
    np.testing.assert_allclose(lite.gate(u_star).detach(), g[:, 0], atol=1e-6)


@pytest.mark.parametrize("method", methods.GATED)
def test_a_long_constant_stream_settles_at_the_settled_gate(method: str) -> None:
    model = models.build(method, width=8)
    u_star = torch.tensor([-2.0, 0.0, 1.5])
    settled = model.stream_gate(u_star[:, None].expand(3, 200))[:, -1]
    torch.testing.assert_close(settled, model.gate(u_star, "settled"), atol=1e-5, rtol=0)


def test_streams_teach_the_knobs() -> None:
    model = models.build("knob-ode", width=8)
    model.stream_gate(torch.randn(4, 12)).square().sum().backward()
    assert model.knobs.raw.grad is not None and (model.knobs.raw.grad != 0).all()


@pytest.mark.parametrize(
    "arguments",
    [("resnet", 64), ("static", 0), ("static", 6), ("static", 64, 1)],
    ids=["method", "none", "odd", "classes"],
)
def test_unknown_models_are_refused(arguments: tuple) -> None:
    with pytest.raises(ValueError, match=r"must be|expected one of"):
        models.build(*arguments)
    with pytest.raises(ValueError, match="mode must be one of reset, settled"):
        models.build("static", 8).predict(torch.rand(1, 3, 32, 32), "continuous")


def test_the_quick_ways_of_one_image_give_the_same_numbers() -> None:
    """The command's inputs without the module around the normalisation; knobs read as floats."""
    model = models.build("knob-ode", width=8)
    model(torch.rand(16, 3, 32, 32))  # running statistics that are not those of the start
    model.eval()
    images = torch.rand(4, 3, 32, 32)
    with torch.no_grad():
        z_static, z_dyn, u_star = model(images)
        features, statistics = model.encode(images)
        inputs = torch.cat((features, statistics, models.log_confidence(z_static, z_dyn)), 1)
        assert torch.equal(model.command.net(model.command.scale(inputs)).squeeze(1), u_star)
        read = model.knobs.values
    torch.testing.assert_close(torch.stack(model.knobs.values).detach(), torch.tensor(read), rtol=1e-6, atol=0)


def test_stage_statistics_are_mean_and_standard_deviation() -> None:
    maps = torch.rand(3, 8, 16, 16) * torch.arange(8).view(8, 1, 1)  # one channel is dead
    mean, std = models.stage_statistics(maps).chunk(2, 1)
    torch.testing.assert_close(mean, maps.mean((2, 3)))
    torch.testing.assert_close(std, maps.std((2, 3), correction=0).clamp_min(1e-3), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("method", methods.GATED)
def test_the_static_branch_may_read_the_earlier_stages(method: str) -> None:
    torch.manual_seed(0)
    model = models.build(method, width=8, static_reads="stages").eval()
    images = torch.rand(3, 3, 32, 32)
    features, statistics = model.encode(images)
    assert (features.shape, statistics.shape) == ((3, 64), (3, 14 * 8))
    final, first, second, third = model.encoder.stages(images)
    expected = torch.cat([models.stage_statistics(stage) for stage in (first, second, third)], 1)
    assert torch.equal(statistics, expected) and torch.equal(features, final)
    outputs = model(images)
    moved = model.decide(features + 1, statistics)
    assert torch.equal(moved.z_static, outputs.z_static) and not torch.equal(moved.z_dyn, outputs.z_dyn)
    plain = models.build(method, width=8).eval()
    assert all(
        torch.equal(a, b)
        for a, b in zip(plain.decide(features, statistics), plain.decide(features, statistics[:, :16]), strict=True)
    )


def test_the_papers_static_branch_is_the_default_and_the_only_one_without_a_gate() -> None:
    assert models.build("knob-ode", width=8).static_reads == "features"
    with pytest.raises(ValueError, match="static_reads must be features for static"):
        models.build("static", width=8, static_reads="stages")
    with pytest.raises(ValueError, match="static_reads must be one of features, stages"):
        models.build("knob-ode", width=8, static_reads="pixels")
