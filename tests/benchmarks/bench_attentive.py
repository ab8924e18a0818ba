"""Attentive memory: what it costs beside its network, and what compiling its loops buys."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from knob_core.memories._attentive_loops import attend, numpy_form
from timing import fastest

from knob_core import models
from knob_core._arrays import compiled
from knob_core.memories import Attentive


def test_ten_thousand_streams_cost_two_per_cent_of_their_backbone() -> None:
    model, images = models.build("knob-ode", 16).eval(), torch.rand(500, 3, 32, 32)
    with torch.inference_mode():
        model(images)
        forward = fastest(lambda: model(images), 3) * 10_000 / len(images)
    z = np.random.default_rng(0).normal(0, 3, (10_000, 1, 10))
    memory = Attentive(c=1.0, d=1.0)
    state = memory.run_logits(z, 1.0, 0.4).state
    share = fastest(lambda: memory.run_logits(z, 1.0, 0.4, state)) / forward
    print(f"\nattentive memory of 10,000 streams: {100 * share:.2f} % of the pocket backbone")
    assert share <= 0.02


def test_the_compiled_loops_follow_a_drag() -> None:
    """32 streams x 240 frames x 10 classes: what one turn of the console's knob costs."""
    z = np.random.default_rng(0).normal(0, 3, (32, 240, 10))
    lead = z.shape[:2]
    arguments = (z, np.zeros(lead), np.zeros(lead, bool), np.ones(lead), np.full(lead, 0.4), np.ones(lead))
    memory = Attentive(c=1.0, d=1.0)

    def run(form: Callable[..., None]) -> Callable[[], None]:
        return lambda: form(
            *arguments, memory.weights(z.shape[-1]), memory.start(z[:, 0]), np.empty_like(z), np.empty(lead)
        )

    run(attend)()
    ours, plain = fastest(run(attend), 9), fastest(run(numpy_form), 3)
    print(f"\n32 x 240 x 10: {1e3 * ours:.1f} ms compiled, {plain / ours:.0f} x faster than NumPy")
    assert not compiled.available() or plain >= 3 * ours
