"""Files from anybody: logits as npz, npy, CSV, TSV or parquet; pictures as zip, files, one animated file or video.

Each upload is read by a process of its own, with a memory limit and a deadline, by ordinary libraries. Nothing is
unpacked to disk or unpickled. A file that cannot be read is refused with a ValueError: one sentence that names the file
and says what is expected.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from knob_core.uploads.process import Stopped, ask
from knob_core.uploads.uploaded import Pictures, Uploaded

__all__ = ["Pictures", "Stopped", "Uploaded", "read_logits", "read_pictures"]


def read_logits(
    name: str, content: bytes, cancelled: Callable[[], bool] | None = None, label: str | None = None
) -> Uploaded:
    """The streams in a file called `name`; where `asks` names a column, `label` is the answer: its heading, or ""."""
    found = ask("logits", [(name, content)], cancelled, label=label)
    return Uploaded(**{"z_dyn": found["z_static"], **found})


def read_pictures(
    files: Sequence[tuple[str, bytes]], classes: Sequence[str] = (), cancelled: Callable[[], bool] | None = None
) -> Pictures:
    """Frames of (name, bytes) files: one zip, one moving picture, or many stills; labels by number or class name."""
    return Pictures(**ask("pictures", files, cancelled, classes=list(classes)))
