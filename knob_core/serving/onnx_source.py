"""An ONNX file as the model of a service: one that `knob export` wrote, or any classifier's.

Of an exported file only the branch outputs z_static, z_dyn and u_star are used; memory and gate are ours, in double
precision, so that knobs may differ from stream to stream. Any other file needs one input (N, 3, H, W), pixels in
[0, 1], and one output (N, K), logits.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from knob_core import methods
from knob_core.memories import Attentive
from knob_core.runtime.frame_size import SizeNotice
from knob_core.runtime.sources import Branch

BRANCHES = ("z_static", "z_dyn", "u_star")


class OnnxSource:
    """A source of `knob_core.runtime`."""

    knobs: tuple[float, float] | None = None
    _notice: SizeNotice | None = None

    def __init__(self, path: Path, threads: int | None = None) -> None:
        try:
            import onnxruntime
        except ImportError:
            raise ValueError(f"{path} needs onnxruntime: pip install 'knob-core[export]'") from None
        if not path.is_file():
            raise ValueError(f"{path} is not a file")
        options = onnxruntime.SessionOptions()
        if threads is not None:
            options.intra_op_num_threads = threads
        try:
            self._session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # onnxruntime has no one base of its errors
            raise ValueError(f"{path} is not an ONNX file that can be run: {str(error)[:200]}") from error
        inputs, outputs = self._session.get_inputs(), {entry.name: entry for entry in self._session.get_outputs()}
        about = self._session.get_modelmeta().custom_metadata_map
        self._exported = "method" in about
        self.classes: tuple[str, ...] | None = None
        self.attentive: Attentive | None = None
        if self._exported:
            if not set(BRANCHES) <= set(outputs):
                raise ValueError(f"{path} has no outputs {', '.join(BRANCHES)}: export it anew with `knob export`")
            self.method = methods.get(about["method"]).key
            reference = float(about["reset_reference"]) if "reset_reference" in about else None
            self.gate = methods.get(self.method).gate.normalised(reference)
            self.num_classes: int | None = int(about["num_classes"])
            self.classes = tuple(json.loads(about["classes"])) if "classes" in about else None
            self.attentive = Attentive.from_dict(json.loads(about["attentive"]))
            self._names = {entry.name for entry in inputs}
            self.size: tuple[int, int] | None = (int(about.get("image_size", 32)),) * 2
            return
        if len(inputs) != 1 or len(outputs) != 1 or len(inputs[0].shape) != 4:
            raise ValueError(f"{path} has {len(inputs)} inputs and {len(outputs)} outputs, expected images and logits")
        self.method, self.gate = methods.PLAINEST, methods.get(methods.PLAINEST).gate
        classes = next(iter(outputs.values())).shape[-1]
        self.num_classes = classes if isinstance(classes, int) else None
        self._input = inputs[0].name
        size = inputs[0].shape[2:]
        self.size = (size[0], size[1]) if all(isinstance(n, int) for n in size) else None

    def is_single(self, frames: Any) -> bool:
        return np.ndim(frames) == 3

    def prepare(self, picture: np.ndarray) -> np.ndarray:
        """One picture (H, W, 3) as the file takes it."""
        import torch

        from knob_core.runtime.frames import as_images

        if self.size is not None:
            self._notice = self._notice or SizeNotice(self.size)
            self._notice.check(picture.shape)
        return as_images(picture[None], torch.device("cpu"), self.size)[0].numpy()

    def __call__(self, frames: Any) -> Branch:
        x = np.asarray(frames)
        if x.shape[-1] == 3 and x.shape[1] != 3:
            x = np.stack([self.prepare(frame) for frame in x])
        images = np.ascontiguousarray(x, np.float32)
        if not self._exported:
            (z,) = self._session.run(None, {self._input: images})
            return Branch(*(np.asarray(z, np.float64),) * 2, np.zeros(len(z)))
        given = {name: x for name, x in self._resting(len(images)).items() if name in self._names}
        z_static, z_dyn, u_star = self._session.run(list(BRANCHES), {"images": images, **given})
        return Branch(*(np.asarray(x, np.float64) for x in (z_static, z_dyn, u_star)))

    def _resting(self, streams: int) -> dict[str, np.ndarray]:
        """Inputs on which the branches do not depend."""
        classes = self.num_classes or 0
        scalars = {name: np.array(1.0, np.float32) for name in ("zeta", "omega_n", "dt")}
        sizes = {"gate": (len(self.gate.rest),), "memory": (classes, 2)}
        states = {name: np.zeros((streams, *size), np.float32) for name, size in sizes.items()}
        return {**scalars, "memory_kind": np.array(0, np.int32), **states, "seen": np.zeros(streams, bool)}
