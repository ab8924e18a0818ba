"""Export a model: `python -m train.export CHECKPOINT --out FOLDER` writes ONNX and torch.export files.

One call is one frame: images, zeta, omega_n, dt, memory_on and the state go in, the answer and the next state come out,
so the knobs stay free in C++, in a browser or on a phone. Before a file is kept, a stream with moving knobs is run
through it and through `KnobStream`; it must agree to 1e-4 in probability.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from knob_core import checkpoint, files, fusion
from knob_core.memories import PLAIN
from knob_core.models import GatedClassifier
from knob_core.runtime import KnobStream
from knob_core.runtime.frames import SIZE
from train import commands

INPUTS = ("images", "zeta", "omega_n", "dt", "memory_on", "gate", "memory", "seen")
OUTPUTS = ("probabilities", "g", "u", "t_eff", "csr", "gate_next", "memory_next", "seen_next")
TOLERANCE = 1e-4  # in probability
OPSET = 23  # the newest that torch's exporter writes
Arrays = dict[str, np.ndarray]


class Frame(nn.Module):
    """One frame in Continuous Mode, as a pure function. State: `gate` and `memory` zeros, `seen` false at first.

    `dt` is the number of frames since the last one. Fill gaps of more than 1.5 frames with the last frame and dt = 1.
    """

    rest: Tensor  # (2,) of the gate; the state `x` is counted from it, so that a stream begins with zeros

    def __init__(self, model: GatedClassifier) -> None:
        super().__init__()
        self.model, self.gate = model.eval(), model.dynamics
        self.register_buffer("rest", torch.tensor([self.gate.neutral, 0.0]))

    def forward(
        self,
        images: Tensor,  # (N, 3, 32, 32) in [0, 1]
        zeta: Tensor,  # ()
        omega_n: Tensor,  # () rad/frame
        dt: Tensor,  # () frames
        memory_on: Tensor,  # () bool
        x: Tensor,  # (N, 2) the gate's [u, v]; of a first-order gate [g - 1/2, 0]
        memory: Tensor,  # (N, K, 2)
        seen: Tensor,  # (N,) bool
    ) -> tuple[Tensor, ...]:
        z_static, z_dyn, u_star = self.model(images)
        dt = torch.where(seen, dt, torch.ones_like(dt))  # (N,): nothing came before a stream's first frame
        z_memory, memory = PLAIN.frame(z_static, seen, zeta, omega_n, dt, memory)
        z_static = torch.where(memory_on, z_memory, z_static)
        u, g, x = self.gate.frame(u_star, zeta, omega_n, dt, x + self.rest)
        x = x - self.rest
        fused = fusion.diagnose(z_static, z_dyn, g)
        probabilities = torch.softmax(fused.z_fuse, -1)
        return probabilities, g, u, fused.t_eff, fused.csr, x, memory, torch.ones_like(seen)


def first_state(streams: int, num_classes: int) -> Arrays:
    """The state to start with."""
    return {
        "gate": np.zeros((streams, 2), np.float32),
        "memory": np.zeros((streams, num_classes, 2), np.float32),
        "seen": np.zeros(streams, bool),
    }


def trace(model: GatedClassifier) -> torch.export.ExportedProgram:
    """The graph of one frame, for any number of streams."""
    scalar = [torch.tensor(value) for value in (0.7, 0.4, 1.0)]
    state = [torch.from_numpy(array) for array in first_state(3, model.num_classes).values()]
    streams = {0: torch.export.Dim("streams")}
    arguments = (torch.rand(3, 3, SIZE, SIZE), *scalar, torch.tensor(True), *state)
    shapes = (streams, None, None, None, None, streams, streams, streams)
    with torch.no_grad():
        return torch.export.export(Frame(model.cpu()), arguments, dynamic_shapes=shapes)


def write_torch(model: GatedClassifier, path: Path) -> None:
    torch.export.save(trace(model), path)


def write_onnx(model: GatedClassifier, path: Path) -> None:
    program = torch.onnx.export(
        trace(model), input_names=INPUTS, output_names=OUTPUTS, opset_version=OPSET, dynamo=True, verbose=False
    )
    assert program is not None
    knobs = getattr(model, "knobs", None)
    trained = {"zeta": knobs.zeta, "omega_n": knobs.omega_n} if knobs is not None else {}
    about = {"method": model.method, "width": model.width, "num_classes": model.num_classes, **trained}
    program.model.metadata_props.update({name: str(value) for name, value in about.items()})
    program.save(path, external_data=False)


def run_torch(path: Path) -> Callable[[Arrays], Arrays]:
    """The exported program as a function from named arrays to named arrays."""
    module = torch.export.load(path).module()

    def call(inputs: Arrays) -> Arrays:
        with torch.inference_mode():
            outputs = module(*(torch.from_numpy(np.asarray(inputs[name])) for name in INPUTS))
        return dict(zip(OUTPUTS, (x.numpy() for x in outputs), strict=True))

    return call


def run_onnx(path: Path) -> Callable[[Arrays], Arrays]:
    """The same through onnxruntime."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = torch.get_num_threads()
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    wanted = {entry.name for entry in session.get_inputs()}

    def call(inputs: Arrays) -> Arrays:
        outputs = session.run(list(OUTPUTS), {name: inputs[name] for name in INPUTS if name in wanted})
        return dict(zip(OUTPUTS, outputs, strict=True))

    return call


FORMATS: dict[
    str, tuple[str, Callable[[GatedClassifier, Path], None], Callable[[Path], Callable[[Arrays], Arrays]]]
] = {
    "onnx": (".onnx", write_onnx, run_onnx),
    "torch": (".pt2", write_torch, run_torch),
}


def largest_difference(
    model: GatedClassifier, call: Callable[[Arrays], Arrays], frames: int = 24, streams: int = 3, seed: int = 0
) -> float:
    """Largest difference in probability from `KnobStream` over a stream on which knobs, dt and memory all move."""
    rng = np.random.default_rng(seed)
    stream = KnobStream(model, device="cpu")
    state, worst = first_state(streams, model.num_classes), 0.0
    still = rng.random((streams, 3, SIZE, SIZE))
    for _ in range(frames):
        images = np.clip(still + rng.normal(0, rng.uniform(0, 0.5), still.shape), 0, 1).astype(np.float32)
        zeta, omega_n = (np.float32(x) for x in np.exp(rng.uniform((-3, -4), (1, 1))))
        dt, memory_on = np.float32(rng.uniform(0.5, 1.4)), bool(rng.integers(2))
        inputs: dict[str, Any] = {"images": images, "zeta": zeta, "omega_n": omega_n, "dt": dt, "memory_on": memory_on}
        outputs = call({**{name: np.asarray(value) for name, value in inputs.items()}, **state})
        state = {name: outputs[f"{name}_next"] for name in state}
        stream.turn(zeta=zeta, omega_n=omega_n, memory=memory_on)
        wanted = stream.step(images, elapsed=float(dt))
        worst = max(worst, float(np.abs(outputs["probabilities"] - wanted.probabilities).max()))
    return worst


def export(source: Path, out: Path, formats: Sequence[str] = tuple(FORMATS)) -> dict[Path, float]:
    """Write and verify; a file that does not agree with the model is not kept."""
    model = checkpoint.load(source)
    written = {}
    for name in formats:
        suffix, write, run = FORMATS[name]
        path = out / f"{source.stem}{suffix}"
        with files.replacing(path) as temporary:
            write(model, temporary)
            difference = largest_difference(model, run(temporary))
            if not difference <= TOLERANCE:
                raise ValueError(f"{name}: probabilities differ by {difference:.1e}, allowed {TOLERANCE:g}")
        written[path] = difference
    return written


def work(source: Path, out: Path, formats: Sequence[str]) -> None:
    for path, difference in export(source, out, formats).items():
        print(f"{path}: agrees with the model to {difference:.1e} in probability")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = commands.parser("train.export", __doc__)
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--out", type=Path, default=Path("exported"), help="folder, default: %(default)s")
    parser.add_argument("--format", choices=FORMATS, nargs="+", default=list(FORMATS))
    given = parser.parse_args(arguments)
    return commands.run("train.export", lambda: work(given.checkpoint, given.out, given.format))


if __name__ == "__main__":
    sys.exit(main())
