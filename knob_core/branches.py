"""The branch outputs of a stream: everything that does not depend on the knobs.

Branches are computed once per stream; turning a knob re-runs only gate -> fusion -> measures on these arrays.
Truth and severity may be one for all frames (labels) or all paths (severity), or one for each frame of each path.
"""

from __future__ import annotations

import io
from dataclasses import MISSING, dataclass, fields
from pathlib import Path

import numpy as np

from knob_core import files
from knob_core._arrays.checks import require_size, unmasked
from knob_core.schedules.lists import MAX_SEVERITY


@dataclass(frozen=True)
class Branches:
    """R paths (images x noise realisations, or change streams) of T frames over K classes."""

    z_static: np.ndarray  # (R, T, K) logits
    z_dyn: np.ndarray  # (R, T, K) logits
    u_star: np.ndarray  # (R, T) the gate's command
    labels: np.ndarray  # (R,) true class, or (R, T) one a frame; -1 where unknown
    severity: np.ndarray  # (T,) in [0, 5], or (R, T) where paths differ
    content: np.ndarray | None = None  # (R, T) number of the picture, where it may change; None: unknown
    segment: np.ndarray | None = None  # (R, T) kind of severity, a place in `streams.severity_segments.SEGMENTS`
    missing: np.ndarray | None = (
        None  # (R, T) 1 beyond a path's end, where paths differ in length; its last frame stays
    )

    def __post_init__(self) -> None:
        for field in fields(self):
            array = getattr(self, field.name)
            if array is None and field.default is None:
                continue
            found = unmasked(field.name, array).dtype if isinstance(array, np.ndarray) else type(array)
            if getattr(found, "kind", "") not in ("f", "i", "u"):
                raise ValueError(f"{field.name} is {found}, expected an array of real numbers")
        shape = self.z_static.shape
        if len(shape) != 3 or shape[2] < 2 or shape != self.z_dyn.shape:
            raise ValueError(
                f"z_static and z_dyn must share one shape (R, T, K) with K >= 2, got {shape} and {self.z_dyn.shape}"
            )
        paths, frames, classes = shape
        whole = (paths, frames)
        allowed = {"labels": ((paths,), whole), "severity": ((frames,), whole)}
        for field in fields(self)[2:]:
            array, shapes = getattr(self, field.name), allowed.get(field.name, (whole,))
            if array is not None and array.shape not in shapes:
                wanted = " or ".join(map(str, shapes))
                raise ValueError(f"{field.name} must have shape {wanted}, got {array.shape}")
        for field in fields(self):
            array = getattr(self, field.name)
            if array is not None and not np.isfinite(array).all():
                raise ValueError(f"{field.name} has values that are not finite")
        for name in ("z_static", "z_dyn", "u_star"):
            require_size(name, getattr(self, name))
        unknown = (self.labels < -1) | (self.labels >= classes)
        if unknown.any():
            raise ValueError(f"labels must lie in [-1, {classes - 1}], got {self.labels[unknown].flat[0]}")
        if (parts := self.labels != np.rint(self.labels)).any():
            raise ValueError(f"labels must be whole numbers, got {self.labels[parts].flat[0]}")
        if (outside := (self.severity < 0) | (self.severity > MAX_SEVERITY)).any():
            raise ValueError(f"severity must lie in [0, {MAX_SEVERITY:g}], got {self.severity[outside].flat[0]}")

    def at(self, order: slice | np.ndarray) -> Branches:
        """Some frames, in this order."""
        others = (self.content, self.segment, self.missing)
        return Branches(
            self.z_static[:, order],
            self.z_dyn[:, order],
            self.u_star[:, order],
            self.frame_labels[:, order],
            self.severity[..., order],
            *(None if array is None else array[:, order] for array in others),
        )

    @property
    def frame_labels(self) -> np.ndarray:
        """The true class of every frame, (R, T), -1 beyond a path's end; a view that must not be written to."""
        labels = np.broadcast_to(self.labels if self.labels.ndim == 2 else self.labels[:, None], self.u_star.shape)
        return labels if self.missing is None else np.where(self.missing, -1, labels)

    @property
    def frame_severity(self) -> np.ndarray:
        """The severity of every frame of every path, (R, T); a view that must not be written to."""
        return np.broadcast_to(self.severity, self.u_star.shape)


def padded(z: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Logits (R, T, K) whose paths may end in NaN frames: with the last frame repeated instead, and `missing` (R, T).

    `missing` is None where all paths have T frames. NaN anywhere else is refused.
    """
    nothing = np.isnan(z).all(axis=-1)  # (R, T)
    if not nothing.any():
        return z, None
    last = z.shape[1] - 1 - nothing[:, ::-1].argmin(axis=1)  # (R,)
    missing = np.arange(z.shape[1]) > last[:, None]
    if (wrong := nothing & ~missing | nothing.all(axis=1, keepdims=True)).any():
        path, frame = (int(i) for i in np.argwhere(wrong)[0])
        raise ValueError(f"frame {frame} of stream {path} is NaN, expected frames of NaN at the end of a stream only")
    held = np.take_along_axis(z, last[:, None, None], axis=1)  # (R, 1, K)
    return np.where(missing[..., None], held, z), missing.astype(np.int8)


STORED = {
    "labels": np.int16,
    "severity": np.float32,
    "content": np.int32,
    "segment": np.int8,
    "missing": np.int8,
}  # as they lie in a file
WHOLE_NUMBERS = ("labels", "content", "segment", "missing")
REQUIRED = tuple(field.name for field in fields(Branches) if field.default is MISSING)


def save(branches: Branches, path: str | Path, dtype: str = "float16", **others: np.ndarray) -> None:
    """Write as a compressed .npz; logits and commands in `dtype`. The file appears whole or not at all.

    `others` are further arrays that go into the same file; `load` does not look at them.
    """
    arrays = {field.name: getattr(branches, field.name) for field in fields(branches)}
    arrays = {name: _stored(name, array, dtype) for name, array in arrays.items() if array is not None}
    twice = sorted(arrays.keys() & others.keys())
    if twice:
        raise ValueError(f"others has {', '.join(twice)}, which are arrays of the branches themselves")
    buffer = io.BytesIO()
    np.savez_compressed(buffer, allow_pickle=False, **arrays, **others)
    files.write_bytes(path, buffer.getvalue())


def _stored(name: str, array: np.ndarray, dtype: str) -> np.ndarray:
    """As it lies in a file: whole numbers are the same there, and real ones finite."""
    kind, whole = np.dtype(STORED.get(name, dtype)), name in WHOLE_NUMBERS
    if not whole and kind.kind != "f":
        raise ValueError(f"dtype is {dtype!r}, expected a type of real numbers")
    with np.errstate(over="ignore", invalid="ignore"):
        stored = array.astype(kind)
    if (lost := stored != array if whole else ~np.isfinite(stored)).any():
        raise ValueError(f"{name} has the value {array[lost][0]:g}, which {kind} cannot hold")
    return stored


def load(path: str | Path) -> Branches:
    """Read what `save` wrote, as float32 (whole numbers as int64); files without the optional arrays are fine."""
    names = [field.name for field in fields(Branches)]
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in names if name in REQUIRED or name in file}
    except FileNotFoundError:
        raise
    except Exception as error:  # zipfile, zlib and numpy each have errors of their own for a damaged file
        raise ValueError(
            f"{path} is not a whole branches file ({error}); wanted an .npz with {', '.join(REQUIRED)}"
        ) from error
    for name, array in arrays.items():
        wanted = "iu" if name in WHOLE_NUMBERS else "f"
        if array.dtype.kind not in wanted:
            raise ValueError(
                f"{path}: {name} is {array.dtype}, expected {'whole' if wanted == 'iu' else 'real'} numbers"
            )
    return Branches(
        **{name: array.astype(np.int64 if name in WHOLE_NUMBERS else np.float32) for name, array in arrays.items()}
    )
