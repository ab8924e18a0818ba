"""The branch outputs of a stream: everything that does not depend on the knobs.

Branches are computed once per stream; turning a knob re-runs only gate -> fusion -> measures on these arrays.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np


@dataclass(frozen=True)
class Branches:
    """R paths (images x noise realisations) of T frames over K classes."""

    z_static: np.ndarray  # (R, T, K) logits
    z_dyn: np.ndarray  # (R, T, K) logits
    u_star: np.ndarray  # (R, T) the gate's command
    labels: np.ndarray  # (R,) true class, -1 where unknown
    severity: np.ndarray  # (T,) in [0, 5]

    def __post_init__(self) -> None:
        if self.z_static.ndim != 3 or self.z_static.shape != self.z_dyn.shape:
            raise ValueError(
                f"z_static and z_dyn must share one shape (R, T, K), got {self.z_static.shape} and {self.z_dyn.shape}"
            )
        paths, frames, _ = self.z_static.shape
        for name, shape in {"u_star": (paths, frames), "labels": (paths,), "severity": (frames,)}.items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} must have shape {shape}, got {getattr(self, name).shape}")
        for field in fields(self):
            if not np.isfinite(getattr(self, field.name)).all():
                raise ValueError(f"{field.name} has values that are not finite")


def save(branches: Branches, path: str | Path, dtype: str = "float16") -> None:
    """Write as a compressed .npz; logits and commands in `dtype`. The file appears whole or not at all."""
    arrays = {field.name: getattr(branches, field.name) for field in fields(branches)}
    for name in ("z_static", "z_dyn", "u_star"):
        arrays[name] = arrays[name].astype(dtype)
    arrays["labels"] = arrays["labels"].astype(np.int16)
    arrays["severity"] = arrays["severity"].astype(np.float32)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    path = Path(path)
    temporary = path.with_name(path.name + ".part")
    temporary.write_bytes(buffer.getvalue())
    temporary.replace(path)


def load(path: str | Path) -> Branches:
    """Read what `save` wrote, as float32."""
    names = [field.name for field in fields(Branches)]
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in names}
    except FileNotFoundError:
        raise
    except Exception as error:  # zipfile, zlib and numpy each have errors of their own for a damaged file
        raise ValueError(
            f"{path} is not a whole branches file ({error}); wanted an .npz with {', '.join(names)}"
        ) from error
    labels = arrays.pop("labels").astype(np.int64)
    return Branches(labels=labels, **{name: array.astype(np.float32) for name, array in arrays.items()})
