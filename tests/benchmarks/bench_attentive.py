"""The one spring: what it costs beside its network, and one stream frame by frame."""

from __future__ import annotations

import numpy as np
import torch
from timing import fastest

from knob_core import knob, models, wrap
from knob_core.memories import Attentive
from knob_core.memories.attentive import Knob
from knob_core.runtime import KnobStream


def test_ten_thousand_streams_cost_two_per_cent_of_their_backbone() -> None:
    model, images = models.build("knob-ode", 16).eval(), torch.rand(500, 3, 32, 32)
    with torch.inference_mode():
        model(images)
        forward = fastest(lambda: model(images), 3) * 10_000 / len(images)
    z = np.random.default_rng(0).normal(0, 3, (10_000, 1, 10))
    memory = Attentive(d=1.0)
    state = memory.run_logits(z, 1.0, 0.4).state
    share = fastest(lambda: memory.run_logits(z, 1.0, 0.4, state)) / forward
    print(f"\nattentive memory of 10,000 streams: {100 * share:.2f} % of the pocket backbone")
    assert share <= 0.02


def test_one_frame_of_one_stream() -> None:
    """Ten classes: the definition in NumPy, its compiled form, and a whole step of the runtime."""
    z = np.random.default_rng(0).normal(0, 3, (1000, 10))
    plain, compiled, stream = knob.Knob(), Knob(), KnobStream(wrap.classifier())
    for each in (plain, compiled, stream.step):
        each(z[0])

    def microseconds(call) -> float:
        return fastest(lambda: [call(frame) for frame in z], 5) * 1e6 / len(z)

    took = {"NumPy": microseconds(plain), "compiled": microseconds(compiled), "KnobStream": microseconds(stream.step)}
    print("\none frame of one stream: " + ", ".join(f"{name} {time:.0f} us" for name, time in took.items()))
    assert took["compiled"] <= took["NumPy"] / 2
    assert took["KnobStream"] <= 10 * took["compiled"]


def test_the_compiled_loop_follows_a_drag() -> None:
    """32 streams x 240 frames x 10 classes: what one turn of the console's knob costs."""
    z = np.random.default_rng(0).normal(0, 3, (32, 240, 10))
    ours, plain = (fastest(lambda kind=kind: kind().run(z), 3) for kind in (Knob, knob.Knob))
    print(f"\n32 x 240 x 10: {1e3 * ours:.1f} ms compiled, {plain / ours:.0f} x faster than NumPy")
    assert plain >= 3 * ours
