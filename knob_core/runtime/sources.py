"""Where branch outputs come from: a source turns a batch of frames into z_static, z_dyn and u*.

z_static, z_dyn (N, K) and u* (N,) per frame; a single classifier gives its logits twice and u* = 0.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from knob_core import methods
from knob_core._extras import needed_for
from knob_core.gates import Gate
from knob_core.memories import Attentive
from knob_core.runtime.frame_size import SizeNotice


class Branch(NamedTuple):
    """One frame of N streams; rows that are not finite count as missing."""

    z_static: np.ndarray  # (N, K)
    z_dyn: np.ndarray  # (N, K)
    u_star: np.ndarray  # (N,)


@runtime_checkable
class Source(Protocol):
    """What `KnobStream` asks of a model."""

    method: str  # whose gate it has: a key of knob_core.methods.METHODS
    num_classes: int | None  # None: known from the first frame
    knobs: tuple[float, float] | None  # zeta, omega_n that belong to it
    attentive: Attentive | None  # weights of attentive memory that belong to it

    def is_single(self, frames: Any) -> bool: ...

    def __call__(self, frames: Any) -> Branch: ...


class GatedSource:
    """A model of one of the methods, on images."""

    def __init__(self, model: Any, device: Any) -> None:
        self.model = model.eval().to(device)
        self.device = device
        self.method: str = model.method
        self.gate: Gate = model.dynamics  # with its own form of Reset Mode
        self.num_classes: int | None = model.num_classes
        self.size: tuple[int, int] = (model.image_size, model.image_size)
        self._notice = SizeNotice(self.size)
        self.attentive: Attentive | None = model.attentive
        knobs = getattr(model, "knobs", None)
        self.knobs = None if knobs is None else (knobs.zeta, knobs.omega_n)
        if self.attentive is not None:
            self.knobs = None  # its weights are fitted around the home setting

    def is_single(self, frames: Any) -> bool:
        return np.ndim(frames) == 3

    def prepare(self, picture: np.ndarray) -> np.ndarray:
        """One picture (H, W, 3) as small as the model takes it, to be kept until its batch."""
        if picture.shape == (*self.size, 3) and picture.dtype == np.uint8:  # bytes until the whole batch is made floats
            return np.ascontiguousarray(picture.transpose(2, 0, 1))
        import torch

        from knob_core.runtime.frames import as_images

        self._notice.check(picture.shape)
        return as_images(picture[None], torch.device("cpu"), self.size)[0].numpy()

    def __call__(self, frames: Any) -> Branch:
        import torch

        from knob_core.runtime.frames import as_images

        self._notice.check(np.shape(frames)[1:])
        images = as_images(frames, self.device, self.size)
        bad = ~torch.isfinite(images).all(dim=3).all(dim=2).all(dim=1)  # (N,)
        if bad.any():
            images = torch.where(bad[:, None, None, None], 0.0, images)
        with torch.inference_mode():
            outputs = self.model(images)
        z_static, z_dyn, u_star = (x.cpu().double().numpy() for x in outputs)  # some devices have no doubles
        if bad.any():
            u_star = np.where(bad.cpu().numpy(), np.nan, u_star)
        return Branch(z_static, z_dyn, u_star)


def gate_of(source: Source) -> Gate:
    """The source's own gate, or its method's."""
    return getattr(source, "gate", None) or methods.get(source.method).gate


def source_of(model: Any, device: str = "auto") -> Source:
    """A source from a shipped model's name, a checkpoint's path, a model of ours, or what is a source already."""
    if isinstance(model, Source):
        return model
    with needed_for(f"the model {model!r}" if isinstance(model, (str, os.PathLike)) else f"a {type(model).__name__}"):
        from knob_core import assets, checkpoint, devices, models

    where = devices.pick(device)
    if isinstance(model, (str, os.PathLike)):
        return GatedSource(checkpoint.load(assets.checkpoint(model)), where)
    if isinstance(model, models.GatedClassifier):
        return GatedSource(model, where)
    raise ValueError(
        f"model is a {type(model).__name__}, expected the path of a checkpoint, a model of knob_core.models, or any "
        "model wrapped by knob_core.wrap.classifier or knob_core.wrap.two_branch"
    )
