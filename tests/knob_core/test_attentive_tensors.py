"""Attentive memory on tensors: one frame is the compiled loops' frame, and gradients flow through many of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from knob_core.memories._attentive_loops import Weights, pooled

from knob_core.memories import OFF, PLAIN, Attentive, Gap, Inputs, _attentive_tensors

WEIGHTS = Attentive(a=0.3, b=2.0, c=0.7, tau=0.9, eps=0.01, t_0=0.1, t_1=1.0, t_2=0.2, t_3=0.3, brake=0.6, eye=0.3,
                    carry=0.7, clip=0.02, pool=0.6, few=0.5, u_mean=0.4, u_scale=0.8)  # fmt: skip
MEMORIES = {
    "off": OFF,
    "plain": PLAIN,
    "attentive": WEIGHTS,
    "attentive without eps": Attentive(eps=0.0, b=-1.0, t_1=0.5),
}


def stream(frames: int, seed: int = 0) -> list[Inputs]:
    """Frames of three streams with five classes: noise around a class that changes in the middle."""
    rng = np.random.default_rng(seed)
    found = []
    for t in range(frames):
        z = rng.normal(0, 1, (3, 5)) + 4 * np.eye(5)[int(t >= frames // 2)]
        u = rng.normal(0, 1, 3)
        found.append(Inputs(z, z + rng.normal(0, 0.5, z.shape), u, *(1 / (1 + np.exp(-x)) for x in (0.3 * u, u))))
    return found


@pytest.mark.parametrize("name", MEMORIES)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.float32, 2e-5)])
def test_a_frame_on_tensors_is_a_frame_of_the_runtime(name, dtype, tolerance) -> None:
    memory, frames, rng = MEMORIES[name], stream(40), np.random.default_rng(1)
    wanted_state, seen = memory.at_rest(3, 5), np.zeros(3, bool)
    state = torch.from_numpy(wanted_state).to(dtype)
    for now, held in zip(frames, [frames[0], *frames], strict=False):
        zeta, omega_n, dt = rng.uniform(0.05, 2), rng.uniform(0.05, 3), rng.uniform(0.5, 1.4, 3)
        gap = Gap(held, dt, ~seen, np.zeros(3, bool))
        wanted = memory.advance(now, gap, zeta, omega_n, wanted_state)
        tensors = Inputs(*(torch.from_numpy(x).to(dtype) for x in now))
        knobs = (torch.tensor(x, dtype=dtype) for x in (zeta, omega_n, dt))
        found = memory.frame(tensors, torch.from_numpy(seen), *knobs, state)
        for one, other in ((found.z, wanted.z), (found.g, wanted.g), (found.state, wanted.state)):
            np.testing.assert_allclose(one.numpy(), other, atol=tolerance, rtol=tolerance)
        mixed = found.g[:, None] * found.z_eye + (1 - found.g[:, None]) * found.z_memory
        other = wanted.g[:, None] * wanted.z_eye + (1 - wanted.g[:, None]) * wanted.z_memory
        np.testing.assert_allclose(mixed.numpy(), other, atol=tolerance, rtol=tolerance)
        wanted_state, state, seen = wanted.state, found.state, np.ones(3, bool)


def test_each_stream_starts_at_its_own_first_frame() -> None:
    now = Inputs(*(torch.from_numpy(x) for x in stream(1)[0]))
    state = torch.full((3, 6, 2), 7.0, dtype=torch.float64)
    one = torch.ones(3, dtype=torch.float64)
    found = WEIGHTS.frame(now, torch.tensor([True, False, True]), one[0], 0.1 * one[0], one, state)
    z = now.g_now[1] * now.z_dyn[1] + (1 - now.g_now[1]) * now.z_static[1]
    there = pooled(WEIGHTS.clipped(z.numpy()), WEIGHTS.pool / WEIGHTS.tau)  # already
    np.testing.assert_allclose(found.state[1, :-1, 0].numpy(), there)
    assert float(found.state[1, -1, 0]) == 1.0  # one frame was seen
    assert float((found.state[0, :-1, 0] - z).abs().max()) > 0.1


def test_logits_too_far_apart_for_the_number_format_stay_finite() -> None:
    """exp(-2000) is zero in any format: the evidence is large, the gate opens, nothing is NaN."""
    z = torch.tensor([[1000.0, -1000.0]])
    weights = Weights(a=0.0, b=1.0, c=0.0, d=0.0, sharp=1.0, informative=1.0, t_0=0.0, t_1=0.0, t_2=0.0, t_3=0.0)
    one = torch.ones(1)
    found = _attentive_tensors.attend(z, 0 * one, one[0], one[0], one, weights, _attentive_tensors.start(-z))
    assert float(found.g) == pytest.approx(1.0, abs=1e-6)
    torch.testing.assert_close(found.z, z)
    shut = _attentive_tensors.attend(
        z, 0 * one, one[0], one[0], one, weights._replace(b=-9.0), _attentive_tensors.start(-z)
    )
    assert float(shut.g) == pytest.approx(0.0, abs=1e-6) and torch.isfinite(shut.state).all()


def answer(values: torch.Tensor) -> torch.Tensor:
    """The logits after four frames, of weights (13,), zeta and omega_n."""
    weights, zeta, omega_n = Weights(*values[:13]), values[13], values[14]
    state, one = None, torch.ones(3, dtype=torch.float64)
    for now in stream(4, seed=2):
        z, u = torch.from_numpy(now.z_dyn), torch.from_numpy(now.u_star)
        state = _attentive_tensors.start(z) if state is None else state
        found = _attentive_tensors.attend(z, u, zeta, omega_n, one, weights, state)
        state = found.state
    return found.z


def test_gradients_reach_weights_and_knobs() -> None:
    values = torch.tensor(
        [-2.0, 0.5, 0.7, 0.4, 1.1, 0.98, 0.1, 1.0, 0.2, 0.3, 0.5, 0.3, 0.6, 0.8, 0.2],
        dtype=torch.float64,
        requires_grad=True,
    )
    assert torch.autograd.gradcheck(answer, (values,))
    answer(values).square().sum().backward()
    assert (values.grad != 0).all()
