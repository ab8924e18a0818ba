"""A stream that somebody uploaded: logits, and whatever else was known about them.

Labels (R, T) with -1 for unknown; severity (T,) where it was recorded. `branches` makes it what the console works on.
`notes` say what was passed over or changed on the way: probabilities turned into logits, -inf into a finite number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from knob_core.branches import Branches
from knob_core.csv_columns import Words
from knob_core.uploads.labels import class_names, frame_labels
from knob_core.uploads.limits import MAX_CLASSES, MAX_PATH_VALUES, short
from knob_core.uploads.scores import as_logits, require_finite

KNOWN = frozenset({"logits", "z_static", "z_dyn", "u_star", "labels", "severity", "classes"})
Held = dict[str, "np.ndarray | Words"]  # what a file held, by name


@dataclass(frozen=True)
class Uploaded:
    """R streams of T frames over K classes; z_dyn is z_static where there was one branch only."""

    z_static: np.ndarray  # (R, T, K)
    z_dyn: np.ndarray  # (R, T, K)
    u_star: np.ndarray | None  # (R, T)
    labels: np.ndarray  # (R, T), -1 where unknown
    severity: np.ndarray | None  # (T,)
    classes: tuple[str, ...] = ()  # K names, from the file; () where it has none
    notes: tuple[str, ...] = ()  # sentences for the one who uploaded it

    @property
    def class_names(self) -> tuple[str, ...]:
        """K names: the file's, or "class 0", "class 1" ..."""
        return self.classes or tuple(f"class {k}" for k in range(self.z_dyn.shape[2]))

    @property
    def labelled(self) -> bool:
        """Some frame has a label: measures that need one can be had."""
        return bool((self.labels >= 0).any())

    def branches(self) -> Branches:
        """For `knob_core.response`; labels are (R,) where no stream changes its own, else (R, T)."""
        u_star = np.zeros(self.labels.shape) if self.u_star is None else self.u_star  # both branches weigh alike
        steady = (self.labels == self.labels[:, :1]).all()
        labels = self.labels[:, 0] if steady else self.labels
        severity = np.zeros(self.z_dyn.shape[1]) if self.severity is None else self.severity
        return Branches(self.z_static, self.z_dyn, u_star, labels, severity)


def uploaded(name: str, held: Held, classes: int | None, notes: tuple[str, ...]) -> Uploaded:
    """Check shapes and values of what a file held: logits, or z_static and z_dyn; u_star, labels, severity, classes.

    `notes` say what was odd about the file, and stand before those that are found here.
    """
    if ("logits" in held) == ("z_static" in held or "z_dyn" in held):
        raise ValueError(f"{name} holds {', '.join(held) or 'nothing'}, expected logits, or z_static and z_dyn")
    for missing in {"z_static", "z_dyn"} - set(held) if "logits" not in held else ():
        raise ValueError(f"{name} has no {missing}, expected z_static and z_dyn together")
    z_static, changed = _streams(name, "logits" if "logits" in held else "z_static", held, classes)
    z_dyn = z_static
    if "logits" not in held:
        z_dyn, more = _streams(name, "z_dyn", held, classes)
        changed += more
    if z_dyn.shape != z_static.shape:
        raise ValueError(f"{name}: z_static has shape {z_static.shape} and z_dyn {z_dyn.shape}, expected the same")
    shape, count = z_static.shape[:2], z_static.shape[2]
    names = class_names(name, held.get("classes"), count)
    labels, more = frame_labels(name, held.get("labels"), shape, names, count)
    u_star, severity = (_finite(name, key, held) if key in held else None for key in ("u_star", "severity"))
    if u_star is not None:
        u_star = u_star[None] if u_star.ndim == 1 else u_star
        if u_star.shape != shape:
            raise ValueError(f"{name}: u_star has shape {u_star.shape}, expected {shape}")
    if severity is not None:
        _require_severity(name, severity, shape[1])
    return Uploaded(z_static, z_dyn, u_star, labels, severity, tuple(map(short, names)), (*notes, *changed, *more))


def _streams(name: str, key: str, held: Held, classes: int | None) -> tuple[np.ndarray, tuple[str, ...]]:
    """Logits (R, T, K), and what was changed to make them such."""
    z = _numbers(name, key, held)
    if z.ndim == 2:
        z = z[None]
    if z.ndim != 3 or 0 in z.shape or not 2 <= z.shape[2] <= MAX_CLASSES:
        raise ValueError(
            f"{name}: {key} has shape {z.shape}, expected (T, K) or (R, T, K) with 2 to {MAX_CLASSES} classes"
        )
    if classes is not None and z.shape[2] != classes:
        raise ValueError(f"{name}: {key} has {z.shape[2]} classes, expected {classes}")
    _, frames, count = z.shape
    if frames * count > MAX_PATH_VALUES:
        raise ValueError(
            f"{name}: {key} has {frames:,} frames x {count:,} classes = {frames * count:,} numbers a stream, "
            f"expected at most {MAX_PATH_VALUES:,}: fewer frames ({MAX_PATH_VALUES // count:,} of as many classes)"
        )
    return as_logits(name, key, z)


def _numbers(name: str, key: str, held: Held) -> np.ndarray:
    x = held[key]
    if isinstance(x, Words):
        raise ValueError(f"{name}: {key} has dtype text, expected real numbers")
    return x


def _finite(name: str, key: str, held: Held) -> np.ndarray:
    x = _numbers(name, key, held)
    require_finite(name, key, x)
    return x


def _require_severity(name: str, s: np.ndarray, frames: int) -> None:
    if s.shape != (frames,):
        raise ValueError(f"{name}: severity has shape {s.shape}, expected ({frames},)")
    if s.min() < 0 or s.max() > 5:
        raise ValueError(f"{name}: severity lies in [{s.min():g}, {s.max():g}], expected [0, 5]")
