"""A stream that somebody uploaded: logits, and whatever else was known about them.

Labels (R, T) with -1 for unknown; severity (T,) where it was recorded. `branches` makes it what the console works on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from knob_core.branches import Branches
from knob_core.uploads.limits import MAX_CLASSES
from knob_core.wrap.command import Command, observe

KNOWN = frozenset({"logits", "z_static", "z_dyn", "u_star", "labels", "severity"})


@dataclass(frozen=True)
class Uploaded:
    """R streams of T frames over K classes; z_dyn is z_static where there was one branch only."""

    z_static: np.ndarray  # (R, T, K)
    z_dyn: np.ndarray  # (R, T, K)
    u_star: np.ndarray | None  # (R, T)
    labels: np.ndarray  # (R, T), -1 where unknown
    severity: np.ndarray | None  # (T,)

    @property
    def labelled(self) -> bool:
        """Some frame has a label: measures that need one can be had."""
        return bool((self.labels >= 0).any())

    def branches(self, command: Command | None = None) -> Branches:
        """For `knob_core.response`. A stream whose label changes on the way counts as unlabelled there."""
        command = command or Command()
        u_star = self.u_star if self.u_star is not None else command(observe(self.z_static, command), self.z_dyn)
        steady = (self.labels == self.labels[:, :1]).all(axis=1)
        labels = np.where(steady, self.labels[:, 0], -1)
        severity = np.zeros(self.z_dyn.shape[1]) if self.severity is None else self.severity
        return Branches(self.z_static, self.z_dyn, u_star, labels, severity)


def uploaded(name: str, arrays: dict[str, np.ndarray], classes: int | None = None) -> Uploaded:
    """Check shapes and values of what a file held: logits, or z_static and z_dyn; u_star, labels, severity."""
    if ("logits" in arrays) == ("z_static" in arrays or "z_dyn" in arrays):
        raise ValueError(f"{name} holds {', '.join(arrays) or 'nothing'}, expected logits, or z_static and z_dyn")
    for missing in {"z_static", "z_dyn"} - set(arrays) if "logits" not in arrays else ():
        raise ValueError(f"{name} has no {missing}, expected z_static and z_dyn together")
    z_static = _streams(name, "logits" if "logits" in arrays else "z_static", arrays, classes)
    z_dyn = z_static if "logits" in arrays else _streams(name, "z_dyn", arrays, classes)
    if z_dyn.shape != z_static.shape:
        raise ValueError(f"{name}: z_static has shape {z_static.shape} and z_dyn {z_dyn.shape}, expected the same")
    paths, frames, count = z_static.shape
    u_star = None
    if "u_star" in arrays:
        u_star = _finite(name, "u_star", arrays["u_star"])
        u_star = u_star[None] if u_star.ndim == 1 else u_star
        if u_star.shape != (paths, frames):
            raise ValueError(f"{name}: u_star has shape {u_star.shape}, expected {(paths, frames)}")
    severity = _severity(name, arrays["severity"], frames) if "severity" in arrays else None
    return Uploaded(z_static, z_dyn, u_star, _labels(name, arrays.get("labels"), paths, frames, count), severity)


def _streams(name: str, key: str, arrays: dict[str, np.ndarray], classes: int | None) -> np.ndarray:
    z = _finite(name, key, arrays[key])
    if z.ndim == 2:
        z = z[None]
    if z.ndim != 3 or 0 in z.shape or not 2 <= z.shape[2] <= MAX_CLASSES:
        raise ValueError(
            f"{name}: {key} has shape {z.shape}, expected (T, K) or (R, T, K) with 2 to {MAX_CLASSES} classes"
        )
    if classes is not None and z.shape[2] != classes:
        raise ValueError(f"{name}: {key} has {z.shape[2]} classes, expected {classes}")
    return z


def _finite(name: str, key: str, x: np.ndarray) -> np.ndarray:
    if x.dtype.kind not in "fiu":
        raise ValueError(f"{name}: {key} has dtype {x.dtype}, expected real numbers")
    x = x.astype(np.float64)
    bad = np.argwhere(~np.isfinite(x))
    if len(bad):
        index = tuple(int(i) for i in bad[0])
        raise ValueError(f"{name}: {key} is {x[index]} at index {index}, expected finite numbers")
    if x.size and np.abs(x).max() > 1e6:
        raise ValueError(f"{name}: {key} goes up to {np.abs(x).max():g}, expected at most 1e6: these are no logits")
    return x


def _severity(name: str, severity: np.ndarray, frames: int) -> np.ndarray:
    s = _finite(name, "severity", severity)
    if s.shape != (frames,):
        raise ValueError(f"{name}: severity has shape {s.shape}, expected ({frames},)")
    if s.min() < 0 or s.max() > 5:
        raise ValueError(f"{name}: severity lies in [{s.min():g}, {s.max():g}], expected [0, 5]")
    return s


def _labels(name: str, labels: np.ndarray | None, paths: int, frames: int, classes: int) -> np.ndarray:
    if labels is None:
        return np.full((paths, frames), -1)
    y = _finite(name, "labels", labels)
    if (y != np.rint(y)).any() or (y.size and (y.min() < -1 or y.max() >= classes)):
        wrong = y[(y != np.rint(y)) | (y < -1) | (y >= classes)].flat[0]
        raise ValueError(
            f"{name}: labels hold {wrong:g}, expected whole numbers in [0, {classes - 1}], or -1 for unknown"
        )
    each = y[:, None] if y.ndim == 1 and (paths > 1 or y.shape == (1,)) else np.atleast_2d(y)
    if each.shape not in ((paths, 1), (paths, frames)):
        raise ValueError(f"{name}: labels have shape {y.shape}, expected ({paths},) or ({paths}, {frames})")
    return np.broadcast_to(each, (paths, frames)).astype(np.int64)
