"""Export a model: `python -m train.export CHECKPOINT --out FOLDER` writes ONNX and torch.export files.

One call is one frame: images, zeta, omega_n, dt, the kind of memory and the state go in, the answer and the next state
come out, so the knobs stay free in C++, in a browser or on a phone. The weights of attentive memory and the temperature
are constants of the file: the model's own, or those of a settings file (`--settings knob.toml`). Before a file is kept,
a stream with moving knobs is run through it and through `KnobStream`; it must agree to 1e-4 in probability. The file
also says what it is (`about`): an ONNX file in its metadata, a torch.export file in its extra file "knob.json".
"""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from knob_core import assets, checkpoint, files, fusion
from knob_core import settings as settings_file
from knob_core.gates import NO_GATE, Gate
from knob_core.memories import Attentive
from knob_core.memories._tensors import follow
from knob_core.models import GatedClassifier
from knob_core.runtime import KnobStream
from knob_core.settings import HOME, Settings
from train import commands

KINDS = ("off", "plain", "attentive")  # `memory_kind` 0, 1, 2
STATE = ("gate", "memory", "seen")
INPUTS = ("images", "zeta", "omega_n", "dt", "memory_kind", *STATE)
BRANCHES = ("z_static", "z_dyn", "u_star")  # for those who keep memory and gate themselves, as `knob serve` does
OUTPUTS = ("probabilities", "g", "u", "t_eff", "csr", *(f"{name}_next" for name in STATE), *BRANCHES)
TOLERANCE = 1e-4  # in probability
OPSET = 23  # the newest that torch's exporter writes
Arrays = dict[str, np.ndarray]


class Frame(nn.Module):
    """One frame in Continuous Mode, as a pure function. State: zeros, and `seen` false, at first.

    `dt` is the number of frames since the last one. Fill gaps of more than 1.5 frames with the last frame and dt = 1.
    The memory goes on whatever `memory_kind` says, so that it may be changed at any frame.
    """

    rest: Tensor  # (2,) or more, of the gate; the state `x` is counted from it, so that a stream begins with zeros

    def __init__(self, model: GatedClassifier, settings: Settings = HOME) -> None:
        super().__init__()
        self.model, self.gate = model.eval(), model.dynamics
        self.weights, self.temperature = weights_of(model, settings), settings.temperature
        self.register_buffer("rest", torch.tensor(self.gate.rest))

    def forward(
        self,
        images: Tensor,  # (N, 3, S, S) in [0, 1], S the model's image_size: 32 for those that ship
        zeta: Tensor,  # ()
        omega_n: Tensor,  # () rad/frame
        dt: Tensor,  # () frames
        memory_kind: Tensor,  # () int32: a place in KINDS
        x: Tensor,  # (N, 2) the gate's [u, v]; of a first-order gate [g - 1/2, 0]
        memory: Tensor,  # (N, K, 2)
        seen: Tensor,  # (N,) bool
    ) -> tuple[Tensor, ...]:
        z_static, z_dyn, u_star = self.model(images)
        dt = torch.where(seen, dt, torch.ones_like(dt))  # (N,): nothing came before a stream's first frame
        knobs = (seen, zeta, omega_n, dt)
        alone = self.gate.frame(u_star, zeta, omega_n, dt, x + self.rest)
        z = fusion.mix(z_static, z_dyn, alone.g)
        shown = follow(self.weights, NO_GATE, z, z, torch.zeros_like(u_star), *knobs, x[:, :2], memory)
        off = (torch.softmax(z, -1), alone.u, alone.g, alone.state, shown.memory)
        kinds = [off]
        for weights in (self.weights.plain, self.weights):
            found = follow(weights, self.gate, z_static, z_dyn, u_star, *knobs, x + self.rest, memory)
            kinds.append((found.probabilities, found.u, found.g, found.gate, found.memory))
        p, u, g, x, memory = (
            torch.where(memory_kind == 2, attended, torch.where(memory_kind == 1, plain, off))
            for off, plain, attended in zip(*kinds, strict=True)
        )
        fused = fusion.diagnose(z_static, z_dyn, g)
        state = (x - self.rest, memory, torch.ones_like(seen))
        branches = (x + 0 for x in (z_static, z_dyn, u_star))  # an output must not be another one itself
        p = torch.softmax(torch.log(p.clamp(min=torch.finfo(p.dtype).tiny)) / self.temperature, -1)
        return p, g, u, fused.t_eff, fused.csr, *state, *branches


def weights_of(model: GatedClassifier, settings: Settings = HOME) -> Attentive:
    """Of attentive memory: the setting's, the model's own, or those for any classifier."""
    return settings.attentive_weights(model.attentive)


def first_state(streams: int, num_classes: int, gate: Gate) -> Arrays:
    """The state to start with."""
    return {
        "gate": np.zeros((streams, len(gate.rest)), np.float32),
        "memory": np.zeros((streams, num_classes, 2), np.float32),
        "seen": np.zeros(streams, bool),
    }


def about(model: GatedClassifier, settings: Settings = HOME) -> dict[str, Any]:
    """What a file says of itself."""
    knobs = getattr(model, "knobs", None)
    trained = {"zeta": knobs.zeta, "omega_n": knobs.omega_n} if knobs is not None else {}
    size = {"method": model.method, "width": model.width, "num_classes": model.num_classes}
    size["image_size"] = model.image_size
    constants = {"attentive": weights_of(model, settings).to_dict(), "temperature": settings.temperature}
    form = {} if model.reset_reference is None else {"reset_reference": model.reset_reference}
    names = {"classes": list(model.classes)} if model.classes is not None else {}
    return {**size, **names, **trained, **form, "memory_kinds": list(KINDS), **constants}


def trace(model: GatedClassifier, settings: Settings = HOME) -> torch.export.ExportedProgram:
    """The graph of one frame, for any number of streams."""
    scalar = [torch.tensor(value) for value in (0.7, 0.4, 1.0)]
    state = [torch.from_numpy(array) for array in first_state(3, model.num_classes, model.dynamics).values()]
    streams = {0: torch.export.Dim("streams")}
    arguments = (
        torch.rand(3, 3, model.image_size, model.image_size),
        *scalar,
        torch.tensor(2, dtype=torch.int32),
        *state,
    )
    shapes = (streams, None, None, None, None, *(streams for _ in state))
    with torch.no_grad():
        return torch.export.export(Frame(model.cpu(), settings), arguments, dynamic_shapes=shapes)


def write_torch(model: GatedClassifier, path: Path, settings: Settings = HOME) -> None:
    buffer = io.BytesIO()  # torch's own writer of files ends the process where the disk is full
    torch.export.save(trace(model, settings), buffer, extra_files={"knob.json": json.dumps(about(model, settings))})
    files.write_bytes(path, buffer.getvalue())


def write_onnx(model: GatedClassifier, path: Path, settings: Settings = HOME) -> None:
    program = torch.onnx.export(
        trace(model, settings),
        input_names=INPUTS,
        output_names=OUTPUTS,
        opset_version=OPSET,
        dynamo=True,
        verbose=False,
    )
    assert program is not None
    entries = about(model, settings).items()
    texts = {name: value if isinstance(value, str) else json.dumps(value) for name, value in entries}
    program.model.metadata_props.update(texts)
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
    str, tuple[str, Callable[[GatedClassifier, Path, Settings], None], Callable[[Path], Callable[[Arrays], Arrays]]]
] = {
    "onnx": (".onnx", write_onnx, run_onnx),
    "torch": (".pt2", write_torch, run_torch),
}


def _patches(count: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Pictures (count, 3, size, size) of 4 x 4 coloured squares: unlike noise, they differ to a trained model."""
    side = -(-size // 4)
    return rng.random((count, 3, 4, 4)).repeat(side, 2).repeat(side, 3)[:, :, :size, :size]


def largest_difference(
    model: GatedClassifier,
    call: Callable[[Arrays], Arrays],
    frames: int = 36,
    streams: int = 3,
    seed: int = 0,
    settings: Settings = HOME,
) -> float:
    """Largest difference in probability from `KnobStream`, while every input changes: pictures, knobs, dt, memory."""
    rng = np.random.default_rng(seed)
    stream = KnobStream(model, device="cpu", settings=settings)
    state, worst = first_state(streams, model.num_classes, model.dynamics), 0.0
    still = _patches(streams, model.image_size, rng)
    for _ in range(frames):
        still = np.where(rng.random((streams, 1, 1, 1)) < 0.1, _patches(streams, model.image_size, rng), still)
        images = np.clip(still + rng.normal(0, rng.uniform(0, 0.3), still.shape), 0, 1).astype(np.float32)
        zeta, omega_n = (np.float32(x) for x in np.exp(rng.uniform((-1.6, -3), (1, 0.5))))  # 0.2 to 2.7, 0.05 to 1.6
        dt, kind = np.float32(rng.uniform(0.5, 1.4)), np.int32(rng.integers(len(KINDS)))
        inputs: dict[str, Any] = {"images": images, "zeta": zeta, "omega_n": omega_n, "dt": dt, "memory_kind": kind}
        outputs = call({**{name: np.asarray(value) for name, value in inputs.items()}, **state})
        state = {name: outputs[f"{name}_next"] for name in state}
        stream.turn(zeta=zeta, omega_n=omega_n, memory=KINDS[kind])
        wanted = stream.step(images, elapsed=float(dt))
        worst = max(worst, float(np.abs(outputs["probabilities"] - wanted.probabilities).max()))
    return worst


def export(
    name: str | Path, out: Path, formats: Sequence[str] = tuple(FORMATS), settings: Settings = HOME
) -> dict[Path, float]:
    """Write and verify a shipped model, by its name, or a checkpoint; a file that does not agree is not kept."""
    source = Path(assets.checkpoint(name))
    model = checkpoint.load(source)
    written = {}
    for kind in formats:
        suffix, write, run = FORMATS[kind]
        path = out / f"{source.stem}{suffix}"
        with files.replacing(path, suffix=path.suffix) as temporary:  # torch.export goes by it
            write(model, temporary, settings)
            difference = largest_difference(model, run(temporary), settings=settings)
            if not difference <= TOLERANCE:
                raise ValueError(f"{kind}: probabilities differ by {difference:.1e}, allowed {TOLERANCE:g}")
        written[path] = difference
    return written


def work(source: str, out: Path, formats: Sequence[str], settings: Path | None) -> None:
    constants = settings_file.load(settings) if settings else HOME
    for path, difference in export(source, out, formats, constants).items():
        print(f"{path}: agrees with the model to {difference:.1e} in probability")


def main(arguments: Sequence[str] | None = None) -> int:
    parser = commands.parser("train.export", __doc__)
    parser.add_argument("checkpoint", help="its path, or the name of a shipped model")
    parser.add_argument(
        "--out", type=commands.out_folder, default=Path("exported"), help="folder, default: %(default)s"
    )
    parser.add_argument("--format", choices=FORMATS, nargs="+", action=commands.Several, default=list(FORMATS))
    help = "settings file whose temperature and weights of attentive memory go into the files"
    parser.add_argument("--settings", type=commands.path, default=None, metavar="FILE", help=help)
    given = parser.parse_args(arguments)
    return commands.run("train.export", lambda: work(given.checkpoint, given.out, given.format, given.settings))


if __name__ == "__main__":
    sys.exit(main())
