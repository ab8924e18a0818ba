"""The spring on tensors: one frame is the compiled loop's frame, and gradients flow through many of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from knob_core import methods
from knob_core.gates import SECOND_ORDER
from knob_core.memories import Attentive, Frames, at_rest
from knob_core.memories._tensors import Followed, follow

WEIGHTS = Attentive(0.3, 2.0, 0.7, 0.9, 0.05, 0.1, 0.3, (0.2, -0.1, 0.0, 0.4, 0.1), (0.3, 0.0, -0.5, 0.1, 0.2))
MEMORIES = {
    "attentive": WEIGHTS,
    "plain": WEIGHTS.plain,
    "unfitted": Attentive(),
    "without eps": Attentive(eps=0.0, b=-1.0, f=0.0),
}


def stream(frames: int, seed: int = 0) -> list[Frames]:
    """Frames of three streams with five classes: noise around a class that changes in the middle."""
    rng = np.random.default_rng(seed)
    found = []
    for t in range(frames):
        z = rng.normal(0, 1, (3, 5)) + 4 * np.eye(5)[int(t >= frames // 2)]
        found.append(Frames(z, z + rng.normal(0, 0.5, z.shape), rng.normal(0, 1, 3)))
    return found


@pytest.mark.parametrize("name", MEMORIES)
@pytest.mark.parametrize("method", methods.METHODS)
@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float64, 1e-6), (torch.float32, 1e-4)])
def test_a_frame_on_tensors_is_a_frame_of_the_loop(
    name: str, method: str, dtype: torch.dtype, tolerance: float
) -> None:
    weights, kind, frames = MEMORIES[name], methods.get(method).gate, stream(40)
    rng, state = np.random.default_rng(1), at_rest(3, 5, kind)
    gate, memory = (torch.from_numpy(x).to(dtype) for x in (state.gate, state.classes))
    for now in frames:
        zeta, omega_n, dt = rng.uniform(0.05, 2), rng.uniform(0.05, 3), rng.uniform(0.5, 1.4, 3)
        seen = torch.from_numpy(state.seen.copy())
        wanted = weights.advance(now, now, dt, np.zeros(3, bool), kind, zeta, omega_n, state)
        tensors = (torch.from_numpy(x).to(dtype) for x in now)
        knobs = (torch.tensor(x, dtype=dtype) for x in (zeta, omega_n, dt))
        found = follow(weights, kind, *tensors, seen, *knobs, gate, memory)
        for one, other in (
            *((getattr(found, each), getattr(wanted, each)) for each in ("probabilities", "u", "g", "omega")),
            (found.memory, wanted.state.classes),
            (found.gate, wanted.state.gate),
        ):
            np.testing.assert_allclose(one.numpy(), other, atol=tolerance, rtol=tolerance)
        gate, memory, state = found.gate, found.memory, wanted.state


def test_each_stream_starts_at_its_own_first_frame() -> None:
    now = Frames(*(torch.from_numpy(x) for x in stream(1)[0]))
    memory, gate = torch.full((3, 5, 2), 0.2, dtype=torch.float64), torch.zeros(3, 2, dtype=torch.float64)
    one, seen = torch.ones(3, dtype=torch.float64), torch.tensor([True, False, True])
    found = follow(WEIGHTS, SECOND_ORDER, *now, seen, one[0], 0.1 * one[0], one, gate, memory)
    z = torch.lerp(now.z_static, now.z_dyn, found.g[:, None])
    p = torch.softmax((z + torch.tensor(WEIGHTS.o, dtype=torch.float64)) / WEIGHTS.tau, -1)
    torch.testing.assert_close(found.memory[1, :, 0], p[1])
    assert float(found.memory[1, :, 1].abs().max()) == 0.0
    assert float((found.memory[0, :, 0] - p[0]).abs().max()) > 0.1


@pytest.mark.parametrize("eps", [0.0, 0.05])
def test_logits_too_far_apart_for_the_number_format_stay_finite(eps: float) -> None:
    """exp(-2000) is zero in any format: the evidence is large, the memory opens, nothing is NaN."""
    weights, one, none = Attentive(a=0.0, b=3.0, eps=eps, f=0.0), torch.ones(1), torch.zeros(1, 2)
    z = torch.tensor([[1000.0, -1000.0]])
    found, seen = Followed(*(none,) * 4, none, torch.zeros(1, 2, 2)), torch.tensor([False])
    for each in (-z, z):
        knobs = (one[0], 0.4 * one[0], one)
        found = follow(weights, SECOND_ORDER, each, each, 0 * one, seen, *knobs, found.gate, found.memory)
        seen = torch.tensor([True])
        assert all(torch.isfinite(x).all() for x in found)
    assert int(found.probabilities.argmax()) == 0


def answer(z: torch.Tensor, u_star: torch.Tensor, knobs: torch.Tensor) -> torch.Tensor:
    """The answer after four frames z (4, 3, 5) under commands u_star (4, 3) and knobs (2,)."""
    gate, memory = torch.zeros(3, 2, dtype=torch.float64), torch.zeros(3, 5, 2, dtype=torch.float64)
    for t in range(4):
        seen, dt = torch.full((3,), t > 0), torch.ones(3, dtype=torch.float64)
        found = follow(WEIGHTS, SECOND_ORDER, z[t], 0.5 * z[t].flip(-1), u_star[t], seen, *knobs, dt, gate, memory)
        gate, memory = found.gate, found.memory
    return found.probabilities


def test_gradients_reach_logits_command_and_knobs() -> None:
    frames = stream(4, seed=2)
    z, u_star = (torch.tensor(np.stack(x), requires_grad=True) for x in zip(*((f[0], f[2]) for f in frames)))  # noqa: B905
    knobs = torch.tensor([0.8, 0.2], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(answer, (z, u_star, knobs), eps=1e-7, atol=1e-5)
    answer(z, u_star, knobs).square().sum().backward()
    assert all((x.grad != 0).any(-1).all() for x in (z, u_star, knobs))
