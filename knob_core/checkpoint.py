"""A trained model in one file: safetensors with a readable header, never pickle.

The header is one JSON object: format, method, width, num_classes, the SHA-256 of the tensors, the size of its pictures
where it is not 32, the weights of attentive memory where they were fitted, the form of Reset Mode where it is not the
literal one, and what the trainer added (data, recipe, seed, metrics).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save as serialise

from knob_core import files, models
from knob_core._arrays.checks import shown
from knob_core.data import CLASSES
from knob_core.memories import Attentive

FORMAT = "knob-checkpoint-1"
DIGEST = "tensors_sha256"  # its entry in the header; files without it came before it
MOST = 1_000_000  # of width and classes


def digest(tensors: Mapping[str, torch.Tensor]) -> str:
    """SHA-256 of tensors by name: names, dtypes, shapes and bytes, so that a changed header leaves it as it is."""
    sha = hashlib.sha256()
    for name, value in sorted(tensors.items()):
        sha.update(f"{name}{value.dtype}{tuple(value.shape)}".encode())
        sha.update(value.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return sha.hexdigest()


def save(
    model: models.GatedClassifier,
    path: str | os.PathLike[str],
    header: dict[str, Any] | None = None,
    half: bool = False,
) -> None:
    """Write the weights, in half precision if asked, and the header. The file appears whole or not at all."""
    tensors = {}
    for name, value in model.state_dict().items():
        narrow = half and value.is_floating_point() and value.numel() > 2  # the two knobs keep every digit
        tensors[name] = (value.half() if narrow else value).contiguous().cpu()
    own = {"format": FORMAT, "method": model.method, "width": model.width, "num_classes": model.num_classes}
    own[DIGEST] = digest(tensors)
    if model.image_size != models.GatedClassifier.image_size:
        own["image_size"] = model.image_size
    if model.reads_stages:
        own["static_reads"] = model.static_reads
    if model.attentive is not None:
        own["attentive"] = model.attentive.to_dict()
    if model.reset_reference is not None:
        own["reset"] = {"form": "normalised", "kappa": model.reset_reference}
    files.write_bytes(path, serialise(tensors, {"knob": json.dumps({**(header or {}), **own}, sort_keys=True)}))


def is_half(path: str | os.PathLike[str]) -> bool:
    """Whether the weights were written in half precision."""
    with safe_open(Path(path), "pt") as file:
        return any(file.get_slice(name).get_dtype() == "F16" for name in file.keys())  # noqa: SIM118 (no iterator)


def trained_knobs_of(header: dict[str, Any], path: str | os.PathLike[str]) -> tuple[float, float] | None:
    """zeta and omega_n that were learned with attentive memory on; None where they were not."""
    found = header.get("trained_knobs")
    if found is None:
        return None
    if isinstance(found, dict):
        zeta, omega_n = found.get("zeta"), found.get("omega_n")
        if isinstance(zeta, float) and isinstance(omega_n, float) and 0 < zeta <= 100 and 0 < omega_n <= 100:
            return zeta, omega_n
    raise ValueError(f"{path} has trained_knobs {shown(found)}, expected zeta and omega_n in (0, 100]")


def reset_reference_of(header: dict[str, Any], path: str | os.PathLike[str]) -> float | None:
    """Kappa at which Reset Mode is normalised; None in a header without one: the literal form."""
    if "reset" not in header:
        return None
    found = header["reset"]
    if isinstance(found, dict) and found.get("form") == "normalised":
        kappa = found.get("kappa")
        if isinstance(kappa, float) and 0 < kappa <= 4:
            return kappa
    raise ValueError(f"{path} has reset {shown(found)}, expected the form 'normalised' and kappa in (0, 4]")


def image_size_of(header: dict[str, Any], path: str | os.PathLike[str]) -> int:
    """Pixels of a side of the pictures that the model takes; 32 where the header does not tell."""
    found = header.get("image_size", models.GatedClassifier.image_size)
    if isinstance(found, int) and not isinstance(found, bool) and 8 <= found <= 1024:
        return found
    raise ValueError(f"{path} has image_size {shown(found)}, expected a whole number in [8, 1024]")


def classes_of(header: dict[str, Any]) -> tuple[str, ...] | None:
    """Names of the classes, where our trainer says what it trained on: ten classes may be anybody's."""
    return CLASSES if header.get("data") == "CIFAR-10" and header.get("num_classes") == len(CLASSES) else None


def attentive_of(header: dict[str, Any], path: str | os.PathLike[str]) -> Attentive | None:
    """The weights of attentive memory in a header; None in one that was written before there were any."""
    if "attentive" not in header:
        return None
    try:
        return Attentive.from_dict(header["attentive"])
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error


def read_header(path: str | os.PathLike[str]) -> dict[str, Any]:
    """The header alone, without the weights."""
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no checkpoint at {path}")
    try:
        with safe_open(path, "pt") as file:
            metadata = file.metadata() or {}
    except (SafetensorError, OSError) as error:
        raise ValueError(f"{path} is damaged, cut short, or no safetensors file ({error})") from error
    if "knob" not in metadata:
        raise ValueError(f"{path} is a safetensors file, but not one of ours: it has no 'knob' header")
    try:
        header = json.loads(metadata["knob"])
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} has a header that is not JSON ({error})") from error
    if not isinstance(header, dict) or header.get("format") != FORMAT:
        found = header.get("format") if isinstance(header, dict) else type(header).__name__
        raise ValueError(f"{path} has format {shown(found)}, this version reads {FORMAT!r}")
    return header


def _whole(header: dict[str, Any], name: str) -> int:
    """A number of the header that is a whole one; `models.build` says which of them there are models of."""
    found = header[name]
    if type(found) is not int or not 0 <= found <= MOST:
        raise ValueError(f"{name} is {shown(found)}, expected a whole number of at most {MOST}")
    return found


def load(path: str | os.PathLike[str], device: str | torch.device = "cpu") -> models.GatedClassifier:
    """The model, in evaluation mode and single precision, on `device`."""
    header = read_header(path)
    try:
        with torch.device("meta"):  # shapes alone: the header may ask for any size, only the tensors tell
            reads = header.get("static_reads", models.STATIC_READS[0])
            model = models.build(header["method"], _whole(header, "width"), _whole(header, "num_classes"), reads)
    except (KeyError, TypeError, ValueError, ArithmeticError, RuntimeError) as error:
        raise ValueError(f"{path} has a header that names no model of ours ({str(error)[:200]})") from error
    wanted = model.state_dict()
    stored = {}
    with safe_open(Path(path), "pt") as file:
        names = set(file.keys())
        if names != wanted.keys():
            odd = sorted(names ^ wanted.keys())
            kind = f"{model.method} of width {model.width}"
            raise ValueError(f"{path} does not fit a {kind}: {len(odd)} entries differ, first {odd[0]!r}")
        for name, like in wanted.items():
            shape = tuple(file.get_slice(name).get_shape())
            if shape != tuple(like.shape):
                raise ValueError(f"{path}: {name} has shape {shape}, expected {tuple(like.shape)}")
            stored[name] = file.get_tensor(name)
    if DIGEST in header and header[DIGEST] != digest(stored):
        raise ValueError(f"{path} is damaged: the SHA-256 of its tensors is not the one in its header")
    tensors = {name: stored[name].to(like.dtype) for name, like in wanted.items()}
    for name, value in tensors.items():
        if not torch.isfinite(value).all():
            raise ValueError(f"{path}: {name} has values that are not finite")
    model.load_state_dict(tensors, assign=True)
    model.classes = classes_of(header)
    model.attentive, model.trained_knobs = attentive_of(header, path), trained_knobs_of(header, path)
    model.reset_reference, model.image_size = reset_reference_of(header, path), image_size_of(header, path)
    return model.eval().to(device)
