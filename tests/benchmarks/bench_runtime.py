"""What the runtime costs and holds: ten thousand streams, a million steps, a minute of wild hands, a real classifier.

`make bench` prints the tables. The classifier is the shipped static checkpoint, wrapped as if it were anybody's.
"""

from __future__ import annotations

import gc
import importlib.util
import resource
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch
from timing import fastest

from knob_core import checkpoint, gate, models, wrap
from knob_core.assets import ASSETS
from knob_core.data import load_sample
from knob_core.measures.stability import flips
from knob_core.runtime import KnobStream
from knob_core.schedules import SCHEDULES
from knob_core.settings import Settings
from knob_core.streams import ControlledStream

STREAMS, STEPS, SECONDS = 10_000, 1_000_000, 60.0
NOISES = ("gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise")  # drawn anew each frame: these flicker
OTHERS = ("glass_blur", "snow", "elastic_transform")


def test_gate_and_fusion_of_ten_thousand_streams_cost_two_per_cent_of_their_backbone():
    rng = np.random.default_rng(0)
    model = models.build("knob-ode", 16).eval()
    images = torch.rand(500, 3, 32, 32)
    with torch.inference_mode():
        model(images)
        forward = fastest(lambda: model(images), 3) * STREAMS / len(images)
    z_static, z_dyn = rng.normal(0, 3, (2, STREAMS, 10))
    frames = (z_static, z_dyn, rng.normal(0, 1, STREAMS))
    print(f"\n{STREAMS:,} streams, pocket backbone {forward:.2f} CPU s = 100 %")
    for name, source, frame in (
        ("two branches and memory", wrap.two_branch(), frames),
        ("one classifier and observer", wrap.classifier(), z_dyn),
    ):
        stream = KnobStream(source)
        stream.step(frame)
        share = fastest(lambda stream=stream, frame=frame: stream.step(frame)) / forward
        print(f"  gate, memory, fusion, T_eff, CSR; {name:28s} {100 * share:5.2f} %")
        assert share <= 0.02


def test_a_million_steps_neither_drift_nor_grow():
    rng = np.random.default_rng(0)
    u_star = rng.normal(0, 2, STEPS)
    zeta, omega_n = np.exp(rng.uniform((-4, -4), (1, 1), (STEPS // 100, 2))).repeat(100, axis=0).T
    z = rng.normal(0, 3, (1000, 1, 2))
    stream, loop, memory = KnobStream(wrap.two_branch()), np.full(STEPS, np.nan), np.full(STEPS, np.nan)
    used = []  # (KB at most so far, objects)
    for t in range(STEPS):
        if t % (STEPS // 10) == 0:
            gc.collect()
            used.append((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, len(gc.get_objects())))
        if t % 100 == 0:
            stream.turn(zeta=float(zeta[t]), omega_n=float(omega_n[t]))
        loop[t] = stream.step((z[t % 1000], -z[t % 1000], u_star[t : t + 1])).u[0]
        if t % 100 == 99:
            memory[t - 99 : t + 1] = np.abs(stream.state_dict()["memory"]).max()
    worst = np.abs(loop - gate.run(u_star, zeta, omega_n)[0]).max()
    tenth = STEPS // 10
    growth = [np.abs(x[-tenth:]).max() / np.abs(x[:tenth]).max() for x in (loop, memory)]
    print(f"\n{STEPS:,} steps, knobs turned every 100: loop and batch differ by {worst:.1e}")
    more_kb, more_objects = (last - first for first, last in zip(used[1], used[-1], strict=True))
    print(f"  largest value, last tenth / first tenth: gate {growth[0]:.2f}, memory {growth[1]:.2f}")
    print(f"  from the 100,000th to the 900,000th step the process grew by {more_kb} KB and {more_objects} objects")
    assert worst <= 1e-9 and max(growth) <= 2
    assert more_kb <= 1024 and more_objects <= 10


def test_a_minute_of_wild_turning():
    path = Path(__file__).parents[1] / "knob_core" / "test_runtime.py"
    spec = importlib.util.spec_from_file_location("runtime_checks", path)
    assert spec is not None and spec.loader is not None
    checks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(checks)
    frames, turns = checks.check_threads(seconds=SECONDS)
    print(f"\n{SECONDS:.0f} s: {frames:,} frames stepped while two hands made {turns:,} turns; none torn, none lost")


class Plain(torch.nn.Module):
    """The static method as a plain classifier, images in, logits out; it keeps its last logits for comparison."""

    def __init__(self) -> None:
        super().__init__()
        path = ASSETS / "checkpoints" / "static-s0.safetensors"
        if not path.is_file():
            pytest.skip("needs the shipped static checkpoint: train it with `python -m train.fit`, then `train.ship`")
        self.model = checkpoint.load(path)
        self.last = torch.zeros(0)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        self.last = self.model.predict(images)
        return self.last


def watch(frames: Iterator[torch.Tensor], chosen: Settings) -> tuple[np.ndarray, np.ndarray]:
    """(R, T) labels frame by frame, and of the same classifier behind a knob."""
    plain = Plain()
    stream = KnobStream(wrap.classifier(plain), settings=chosen)
    calm, raw = [], []
    for images in frames:
        calm.append(stream.step(images).label)
        raw.append(plain.last.argmax(1).numpy())
    return np.stack(raw, 1), np.stack(calm, 1)


def test_a_wrapped_classifier_flips_three_times_less_on_the_spike_stream():
    chosen = Settings(zeta=0.7, omega_n=0.4, memory="plain")
    images, labels, _ = load_sample()
    images, labels = images[:20], labels[:20]
    print(f"\na plain classifier, wrapped; zeta {chosen.zeta}, omega_n {chosen.omega_n}; spike stream, 20 x 240 frames")
    print("  corruption          flips per 100 frames        accuracy")
    ratios = {}
    for name in (*NOISES, *OTHERS):
        raw, calm = watch(ControlledStream(images, SCHEDULES["spikes"](240), name).steps(), chosen)
        ratios[name] = flips(raw) / max(flips(calm), 100 / raw[:, 1:].size)  # none counts as one
        before, after = (100 * (predicted == labels[:, None]).mean() for predicted in (raw, calm))
        told = f"{flips(raw):5.1f} -> {flips(calm):4.1f} ({ratios[name]:4.1f} x)"
        print(f"  {name:18s} {told:24s} {before:5.1f} -> {after:5.1f} %")
    late = scene_change(images, chosen)
    print(f"  a new scene is named after {late:.0f} frames")
    assert min(ratios.values()) >= 3
    assert late <= 5


def scene_change(images: np.ndarray, chosen: Settings, before: int = 20, after: int = 30) -> float:
    """Median frames by which the knob names a new scene later than the bare classifier does."""
    first = ControlledStream(images, np.ones(before), "shot_noise", seed=1)
    second = ControlledStream(np.roll(images, 1, axis=0), np.ones(after), "shot_noise", seed=2)
    raw, calm = watch((frame for stream in (first, second) for frame in stream.steps()), chosen)
    settled = raw[:, -1]
    delays = []
    for r, c, label in zip(raw, calm, settled, strict=True):
        if label in r[:before] or (r[before:] == label).mean() < 0.8 or c[-1] != label:
            continue  # the scene did not change for the classifier, or it never made up its mind
        delays.append(int(np.argmax(c[before:] == label)) - int(np.argmax(r[before:] == label)))
    assert len(delays) >= 5
    return float(np.median(delays))
