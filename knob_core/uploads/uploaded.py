"""What somebody uploaded: streams of logits, or pictures, and whatever else was known about them.

`notes` say what was passed over or changed on the way: probabilities turned into logits, -inf into a finite number.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from knob_core._arrays.probabilities import whole_of
from knob_core._arrays.ruled_out import FAR, finite
from knob_core.branches import Branches, padded
from knob_core.uploads.labels import UNKNOWN, class_names, frame_labels
from knob_core.uploads.refusals import short

LARGEST = 1e6  # more than any logit
LEAST = 1e-6  # a probability below it counts as this much
Held = dict[str, np.ndarray]  # what a file held, by name: float64, or text


@dataclass(frozen=True)
class Pictures:
    """One stream of T frames."""

    images: np.ndarray  # (T, 3, 32, 32) uint8
    names: tuple[str, ...]  # of the files, in order
    labels: np.ndarray  # (T,) class, -1 where unknown
    frame_rate: float | None = None  # frames/s, where there is one moving file and it tells
    notes: tuple[str, ...] = ()  # sentences for the one who uploaded them


@dataclass(frozen=True)
class Uploaded:
    """R streams of up to T frames over K classes; z_dyn is z_static where there was one branch only."""

    z_static: np.ndarray  # (R, T, K), NaN beyond a stream's end
    z_dyn: np.ndarray  # (R, T, K)
    u_star: np.ndarray | None  # (R, T)
    labels: np.ndarray  # (R, T), -1 where unknown
    severity: np.ndarray | None  # (T,)
    classes: tuple[str, ...] = ()  # K names, from the file; () where it has none
    notes: tuple[str, ...] = ()  # sentences for the one who uploaded it
    asks: str = ""  # heading of a column that may be the label; until that is answered it is left out

    @property
    def class_names(self) -> tuple[str, ...]:
        """K names: the file's, or "class 0", "class 1" ..."""
        return self.classes or tuple(f"class {k}" for k in range(self.z_dyn.shape[2]))

    @property
    def lengths(self) -> np.ndarray:
        """(R,) frames of each stream."""
        return (~np.isnan(self.z_static[..., 0])).sum(axis=1)

    @property
    def labelled(self) -> bool:
        """Some frame has a label: measures that need one can be had."""
        return bool((self.labels >= 0).any())

    def branches(self) -> Branches:
        """For `knob_core.response`; labels are (R,) where no stream changes its own, else (R, T)."""
        z_static, missing = padded(self.z_static)
        z_dyn = z_static if self.z_dyn is self.z_static else padded(self.z_dyn)[0]
        u_star = np.zeros(self.labels.shape) if self.u_star is None else self.u_star  # both branches weigh alike
        steady = (self.labels == self.labels[:, :1]).all()
        labels = self.labels[:, 0] if steady else self.labels
        severity = np.zeros(self.z_dyn.shape[1]) if self.severity is None else self.severity
        return Branches(z_static, z_dyn, u_star, labels, severity, missing=missing)


def uploaded(name: str, held: Held, notes: tuple[str, ...] = (), asks: str = "") -> Uploaded:
    """Check shapes and values of what a file held: logits, or z_static and z_dyn; u_star, labels, severity, classes.

    `notes` say what was odd about the file, and stand before those that are found here.
    """
    if ("logits" in held) == ("z_static" in held or "z_dyn" in held):
        raise ValueError(f"{name} holds {', '.join(held) or 'nothing'}, expected logits, or z_static and z_dyn")
    for missing in {"z_static", "z_dyn"} - set(held) if "logits" not in held else ():
        raise ValueError(f"{name} has no {missing}, expected z_static and z_dyn together")
    z_static, changed = _streams(name, "logits" if "logits" in held else "z_static", held)
    z_dyn, more = (z_static, ()) if "logits" in held else _streams(name, "z_dyn", held)
    if z_dyn.shape != z_static.shape:
        raise ValueError(f"{name}: z_static has shape {z_static.shape} and z_dyn {z_dyn.shape}, expected the same")
    shape, count, missing = z_static.shape[:2], z_static.shape[2], np.isnan(z_static).all(axis=-1)
    if (np.isnan(z_dyn).all(axis=-1) != missing).any():
        raise ValueError(f"{name}: streams of z_static and z_dyn end in different frames, expected the same")
    names = class_names(name, held.get("classes"), count)
    for key in held.keys() & {"labels", "u_star"}:
        if held[key].dtype.kind == "f" and held[key].shape == shape:
            held[key] = np.where(missing, UNKNOWN, held[key])
    labels, said = frame_labels(name, held.get("labels"), shape, names, count)
    labels = np.where(missing, UNKNOWN, labels)
    u_star, severity = (_finite(name, key, held) if key in held else None for key in ("u_star", "severity"))
    if u_star is not None:
        u_star = u_star[None] if u_star.ndim == 1 else u_star
        if u_star.shape != shape:
            raise ValueError(f"{name}: u_star has shape {u_star.shape}, expected {shape}")
    if severity is not None:
        _require_severity(name, severity, shape[1])
    return Uploaded(
        z_static, z_dyn, u_star, labels, severity, tuple(map(short, names)), (*notes, *changed, *more, *said), asks
    )


def _streams(name: str, key: str, held: Held) -> tuple[np.ndarray, tuple[str, ...]]:
    """Logits (R, T, K), and what was changed to make them such."""
    z = _numbers(name, key, held)
    if z.ndim == 2:
        z = z[None]
    if z.ndim != 3 or 0 in z.shape or z.shape[2] < 2:
        raise ValueError(f"{name}: {key} has shape {z.shape}, expected (T, K) or (R, T, K) with 2 classes or more")
    try:
        held_on, missing = padded(z)
    except ValueError as error:
        raise ValueError(f"{name}: in {key} {error}") from error
    z, notes = _as_logits(name, key, held_on)
    return z if missing is None else np.where(missing[..., None], np.nan, z), notes


def _numbers(name: str, key: str, held: Held) -> np.ndarray:
    x = held[key]
    if x.dtype.kind == "U":
        raise ValueError(f"{name}: {key} has dtype text, expected real numbers")
    return x


def _finite(name: str, key: str, held: Held) -> np.ndarray:
    x = _numbers(name, key, held)
    _require_finite(name, key, x)
    return x


def _require_severity(name: str, s: np.ndarray, frames: int) -> None:
    if s.shape != (frames,):
        raise ValueError(f"{name}: severity has shape {s.shape}, expected ({frames},)")
    if s.min() < 0 or s.max() > 5:
        raise ValueError(f"{name}: severity lies in [{s.min():g}, {s.max():g}], expected [0, 5]")


def _as_logits(name: str, key: str, z: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Logits (R, T, K) from finite numbers or -inf, and a sentence for everything that was changed.

    p = softmax(z) does not change when z is replaced by log p, so the logarithms of probabilities are their logits.
    """
    ruled_out = np.isneginf(z)  # (R, T, K)
    _require_finite(name, key, np.where(ruled_out, 0, z))
    if (all_out := ruled_out.all(axis=-1)).any():
        index = tuple(int(i) for i in np.argwhere(all_out)[0])
        raise ValueError(f"{name}: {key} is -inf for every class at index {index}, expected a number for one at least")
    if ruled_out.any():
        share = f"{int(ruled_out.sum()):,} of {z.size:,} numbers in {key} are -inf"
        return finite(z), (f"{share}: they become {FAR:g} less than the smallest other logit of their frame.",)
    if (whole := whole_of(z)) is not None:
        kind = "probabilities (frames add up to 1)" if whole == 1 else "percentages (frames add up to 100)"
        note = f"The numbers in {key} are {kind}: logarithms of probabilities are the logits, "
        return np.log(np.maximum(z / whole, LEAST)), (f"{note}with {LEAST:g} for what is less.",)
    if z.min() >= 0 and z.max() <= 1:
        return z, (f"All numbers in {key} lie between 0 and 1, but frames do not add up to 1: are these logits?",)
    return z, ()


def _require_finite(name: str, key: str, x: np.ndarray) -> None:
    """Refuse NaN, infinities and giants by their place."""
    bad = ~np.isfinite(x)
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"{name}: {key} is {x[index]} at index {index}, expected finite numbers")
    if (largest := np.abs(x).max(initial=0)) > LARGEST:
        raise ValueError(f"{name}: {key} goes up to {largest:g}, expected at most 1e6: these are no logits")
