"""Give a model of your own a knob: two-branch logits, or any single classifier.

A single classifier has no gate: the memory, which must be on, is all that the knobs act on. Works for torch modules,
plain functions, and logits arrays that come from elsewhere; any number of classes >= 2.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from knob_core import methods
from knob_core._arrays.checks import for_torch, real_numbers, require_finite, require_size, shown, unmasked
from knob_core._arrays.ruled_out import finite
from knob_core.branches import Branches, padded
from knob_core.memories import Attentive
from knob_core.runtime.sources import Branch
from knob_core.wrap.probabilities import ProbabilityNotice, require_logits


class Wrapped:
    """A source for `KnobStream`: a model; None: the frames are logits already."""

    def __init__(
        self,
        model: Callable[..., Any] | None,
        branches: int,
        knobs: tuple[float, float] | None,
        frame_ndim: int,
        attentive: Attentive | None = None,
    ) -> None:
        if model is not None and not callable(model):
            raise ValueError(f"model is a {type(model).__name__}, expected a torch module, a function, or None")
        if knobs is not None and np.shape(knobs) != (2,):
            raise ValueError(f"knobs is {shown(knobs)}, expected (zeta, omega_n) or None")
        if attentive is not None and not isinstance(attentive, Attentive):
            raise ValueError(f"attentive is {shown(attentive)}, expected an Attentive or None")
        self.model = model.eval() if _is_module(model) else model  # type: ignore[union-attr]
        self.method = methods.PLAINEST if branches == 1 else methods.DEFAULT
        self.num_classes: int | None = None
        self.knobs, self.attentive = knobs, attentive
        self._branches, self._frame_ndim = branches, frame_ndim
        self._notices = tuple(ProbabilityNotice() for _ in range(branches))

    def is_single(self, frames: Any) -> bool:
        if self.model is None and isinstance(frames, tuple):
            return bool(frames) and np.ndim(frames[0]) == 1
        return np.ndim(frames) == (1 if self.model is None else self._frame_ndim)

    def __call__(self, frames: Any) -> Branch:
        outputs, bad = (frames, None) if self.model is None else self._run(frames)
        if self._branches == 1:
            z = _logits("logits", outputs)
            z_static, z_dyn, u_star = z, z, np.zeros(len(z))
            self._notices[0].check("logits", z)
        else:
            if not isinstance(outputs, (tuple, list)) or len(outputs) != 3:
                raise ValueError(f"two branches gave {_told(outputs)}, expected (z_static, z_dyn, u_star)")
            z_static, z_dyn = _logits("z_static", outputs[0]), _logits("z_dyn", outputs[1])
            if z_static.shape != z_dyn.shape:
                raise ValueError(
                    f"z_static has shape {z_static.shape} and z_dyn {z_dyn.shape}, expected one shape (N, K)"
                )
            u_star = real_numbers("u_star", outputs[2])
            if u_star.shape != (len(z_static),):
                raise ValueError(f"u_star has shape {u_star.shape}, expected ({len(z_static)},)")
            self._notices[0].check("z_static", z_static)
            self._notices[1].check("z_dyn", z_dyn)
        if self.model is not None and len(z_dyn) != len(frames):
            raise ValueError(f"the model gave logits for {len(z_dyn)} frames, expected {len(frames)}, one row a frame")
        if bad is not None and bad.any():
            z_static = np.where(bad[:, None], np.nan, z_static)
        return Branch(z_static, z_dyn, u_star)

    def _run(self, frames: Any) -> tuple[Any, np.ndarray]:
        """The model's outputs, and which frames were not finite; those are blanked before it sees them."""
        torch = sys.modules.get("torch")
        if torch is not None and (_is_module(self.model) or isinstance(frames, torch.Tensor)):
            x = frames if isinstance(frames, torch.Tensor) else torch.from_numpy(for_torch(frames))
            parameter = next(self.model.parameters(), None) if _is_module(self.model) else None  # type: ignore[union-attr]
            if parameter is not None:  # NumPy's floats are double, a module's are not
                x = x.to(parameter.device, parameter.dtype if x.is_floating_point() else x.dtype)
            bad = ~torch.isfinite(x).flatten(1).all(1)
            if bad.any():
                x = torch.where(bad.view(-1, *[1] * (x.ndim - 1)), torch.zeros_like(x), x)
            with torch.inference_mode():
                return self.model(x), bad.cpu().numpy()  # type: ignore[misc]
        x = np.asarray(unmasked("frames", frames))
        bad = ~np.isfinite(x).reshape(len(x), -1).all(axis=1) if x.dtype.kind == "f" else np.zeros(len(x), bool)
        if bad.any():
            x = np.where(bad.reshape(-1, *[1] * (x.ndim - 1)), 0, x)
        return self.model(x), bad  # type: ignore[misc]


def classifier(
    model: Callable[..., Any] | None = None,
    knobs: tuple[float, float] | None = None,
    frame_ndim: int = 3,
    attentive: Attentive | None = None,
) -> Wrapped:
    """Any classifier: frames (N, ...) -> logits (N, K). Without a model, `step` takes logits (N, K) or (K,).

    `frame_ndim` is the number of axes of one frame. A torch module is put in evaluation mode, stays on its device, and
    is given frames in its own precision.
    """
    return Wrapped(model, 1, knobs, frame_ndim, attentive)


def two_branch(
    model: Callable[..., Any] | None = None,
    knobs: tuple[float, float] | None = None,
    frame_ndim: int = 3,
    attentive: Attentive | None = None,
) -> Wrapped:
    """A model of two branches: frames -> (z_static, z_dyn, u_star). Without a model, `step` takes such tuples."""
    return Wrapped(model, 2, knobs, frame_ndim, attentive)


def branches_of(
    logits: np.ndarray,
    labels: np.ndarray | None = None,
    severity: np.ndarray | None = None,
) -> Branches:
    """A single classifier's logits (R, T, K) as the branches of a stream, for `knob_core.response` and the console.

    Shorter streams end in frames of NaN.
    """
    z = np.asarray(unmasked("logits", logits))
    if z.ndim != 3 or z.dtype.kind != "f" or not z.size or z.shape[2] < 2:
        raise ValueError(
            f"logits are {z.dtype} of shape {z.shape}, expected floats (R, T, K) with R, T >= 1 and K >= 2"
        )
    z, missing = padded(finite(z))
    require_finite("logits", z)
    require_size("logits", z)
    require_logits("logits", z)
    paths, frames, _ = z.shape
    u_star = np.zeros((paths, frames), z.dtype)
    labels = np.full(paths, -1) if labels is None else np.asarray(labels)
    severity = np.zeros(frames) if severity is None else np.asarray(severity)
    return Branches(z, z, u_star, labels, severity, missing=missing)


def _told(outputs: Any) -> str:
    return f"{len(outputs)} arrays" if isinstance(outputs, (tuple, list)) else f"a {type(outputs).__name__}"


def _is_module(model: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(model, torch.nn.Module)


def _logits(name: str, x: Any) -> np.ndarray:
    z = real_numbers(name, x)
    if z.ndim != 2 or z.shape[1] < 2:
        raise ValueError(f"{name} has shape {z.shape}, expected (N, K) with K >= 2")
    return z
