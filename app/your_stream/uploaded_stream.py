"""A visitor's uploaded stream as the console shows it: from logits, or from pictures through a shipped model."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlencode

import numpy as np

from app.console.shipped_models import FOLDER, attentive_weights, reset_reference, trained_knobs
from app.console.shown_stream import ShownStream
from app.server import garbage_collector
from knob_core import methods
from knob_core.branches import Branches
from knob_core.data import CLASSES
from knob_core.library.film_strips import film_frames
from knob_core.uploads import Pictures, Uploaded
from knob_core.uploads.video import CONTAINERS

MOST_FRAMES = 3000  # of a stream that is looked at while knobs turn
MOST_VALUES = 2_000_000  # logits in all: more would make a drag slow
LONGEST_TITLE = 40  # characters
WHOLE_STREAMS = (".zip", ".gif", *CONTAINERS)  # files that are a whole stream
NEEDS_LABELS = "right answers, confident errors and miscalibration"


@dataclass(frozen=True)
class UploadedStream(ShownStream):
    """A stream with classes of its own."""

    severity_known: bool = True
    uploaded: Uploaded | None = None  # what is shown of the file's logits; the rest is not kept

    @property
    def drawn_severity(self) -> np.ndarray | None:
        """Nothing where nothing was recorded: 0 would say that the pictures were clean."""
        return self.branches.severity if self.severity_known else None


def file_id(files: Sequence[tuple[str, bytes]]) -> str:
    """A short name for some files, from what is in them."""
    digest = hashlib.sha256()
    for name, content in files:
        digest.update(f"{len(name)} {name} {len(content)} ".encode() + content)
    return digest.hexdigest()[:16]


def source_of(id: str, title: str) -> str:
    """What a log of turns calls it."""
    return urlencode({"file": id, "name": title})


def shown_part(uploaded: Uploaded) -> Uploaded:
    """The frames and streams that are shown; copied, so that the memory of the others is free."""
    paths, frames, classes = uploaded.z_dyn.shape
    kept_frames = min(frames, MOST_FRAMES, max(1, MOST_VALUES // classes))
    kept_paths = min(paths, max(1, MOST_VALUES // (kept_frames * classes)))
    kept_frames = min(kept_frames, int(uploaded.lengths[:kept_paths].max()))
    if (kept_paths, kept_frames) == (paths, frames):
        return uploaded
    part = (slice(kept_paths), slice(kept_frames))
    z_static = uploaded.z_static[part].copy()
    return replace(
        uploaded,
        z_static=z_static,
        z_dyn=z_static if uploaded.z_dyn is uploaded.z_static else uploaded.z_dyn[part].copy(),
        u_star=None if uploaded.u_star is None else uploaded.u_star[part].copy(),
        labels=uploaded.labels[part].copy(),
        severity=None if uploaded.severity is None else uploaded.severity[:kept_frames].copy(),
    )


def newest(files: Sequence[tuple[str, bytes]]) -> list[tuple[str, bytes]]:
    """Of files that came one after the other: a later zip or video replaces what came before, but for its labels."""
    whole = [place for place, (name, _) in enumerate(files) if Path(name).suffix.lower() in WHOLE_STREAMS]
    if not whole or len(files) == 1:
        return list(files)
    tables = [file for file in files if Path(file[0]).suffix.lower() == ".csv"]
    return [files[whole[-1]], *tables[-1:]]


def short_title(names: Sequence[str]) -> str:
    """What a stream is called: its file, shortened, or how many files."""
    if len(names) > 1:
        return f"{len(names)} files"
    return names[0] if len(names[0]) <= LONGEST_TITLE else f"{names[0][: LONGEST_TITLE - 9]}…{names[0][-8:]}"


def of_logits(id: str, title: str, uploaded: Uploaded) -> tuple[UploadedStream, list[str]]:
    """The stream, and what the visitor should know about it."""
    paths, frames = uploaded.labels.shape
    kept = shown_part(uploaded)
    kept_paths, kept_frames = kept.labels.shape
    branches = kept.branches()
    notes, single = [], kept.z_dyn is kept.z_static
    if (kept_paths, kept_frames) != (paths, frames):
        notes.append(f"Shown are {kept_paths} of {paths} streams and the first {kept_frames} of {frames} frames.")
    if (shorter := int((kept.lengths < kept_frames).sum())) > 0:
        notes.append(f"{shorter} of {kept_paths} streams are shorter than the longest, which has {kept_frames} frames.")
    if single:
        notes.append("One classifier has no gate: a memory must be on for the knobs to act.")
    if not uploaded.labelled:
        notes.append(f"The file has no labels: {NEEDS_LABELS} need them, and are not shown.")
    elif (unknown := int((branches.frame_labels < 0).all(axis=1).sum())) > 0:
        notes.append(f"{unknown} of {kept_paths} streams have no label; they do not count for {NEEDS_LABELS}.")
    notes += uploaded.notes
    if uploaded.severity is None:
        notes.append("No severity was recorded, so lag after a step cannot be told.")
    return UploadedStream(
        id, title, methods.PLAINEST if single else methods.DEFAULT, branches, 1,
        names=uploaded.class_names, severity_known=uploaded.severity is not None, uploaded=kept,
        source=source_of(id, title),
    ), notes  # fmt: skip


def shipped_model() -> tuple[str, int] | None:
    """The model that looks at uploaded pictures: (method, seed), None where none ships."""
    found = sorted(FOLDER.glob(f"{methods.DEFAULT}-s*.safetensors"))
    return (methods.DEFAULT, int(found[0].stem.rpartition("-s")[2])) if found else None


def of_pictures(
    id: str, title: str, pictures: Pictures, tell: Callable[[float], object]
) -> tuple[UploadedStream, list[str]]:
    """Run the pictures through the shipped model; `tell` hears the progress in [0, 1]."""
    model = shipped_model()
    if model is None:
        raise ValueError(
            f"there is no {methods.DEFAULT} checkpoint in {FOLDER}, so pictures cannot be judged; logits can"
        )
    with garbage_collector.loading("torch"):
        import torch

        from knob_core import checkpoint, devices
        from knob_core.data.pixels import to_unit

    images, labels = pictures.images[:MOST_FRAMES], pictures.labels[:MOST_FRAMES]
    device = devices.pick()
    net = checkpoint.load(FOLDER / f"{model[0]}-s{model[1]}.safetensors", device)
    parts = []
    for start in range(0, len(images), 100):
        tell(start / len(images))
        with torch.inference_mode():
            parts.append([x.cpu().numpy() for x in net(to_unit(images[start : start + 100], device))])
    z_static, z_dyn, u_star = (np.concatenate(part)[None] for part in zip(*parts, strict=True))
    branches = Branches(z_static, z_dyn, u_star, labels[None], np.zeros(len(images), np.float32))
    name = methods.get(net.method).name
    notes = [f"{len(images)} frames, each the middle square of its picture in 32 x 32, seen by {name}."]
    if len(images) < len(pictures.images):
        notes.append(f"Shown are the first {len(images)} of {len(pictures.images)} frames.")
    if not (labels >= 0).any():
        notes.append(f"The labels are unknown: {NEEDS_LABELS} are not shown.")
    notes += pictures.notes
    pixels = np.moveaxis(images[film_frames(len(images))], 1, -1)
    return UploadedStream(
        id,
        title,
        net.method,
        branches,
        1,
        pixels=pixels,
        trained=trained_knobs(*model),
        attentive=attentive_weights(*model),
        reset_reference=reset_reference(*model),
        names=CLASSES,
        severity_known=False,
        source=source_of(id, title),
    ), notes
