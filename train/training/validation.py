"""What is measured after every epoch, on held-out training images: clean, and under the training corruptions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from knob_core import corruptions, seeding
from knob_core.inference import over_batches
from knob_core.models import GatedClassifier, Outputs
from knob_core.probes.learning import gate_advantage

SEVERITIES = (3.0, 5.0)  # of each training corruption
BATCH = 250  # as ever: histories are compared to the bit


@dataclass(frozen=True)
class Validation:
    """Held-out images: all of them clean, then once more shared out over the corruptions and severities."""

    images: Tensor  # (N, 3, 32, 32) in [0, 1]
    labels: Tensor  # (N,)
    clean: int  # so many at the front


def make(images: Tensor, labels: Tensor, seed: int) -> Validation:
    floats = images.to(torch.get_default_dtype()) / 255
    cells = [(name, severity) for name in corruptions.TRAINING for severity in SEVERITIES]
    parts, kept = [floats], [labels]
    for index, (name, severity) in enumerate(cells):
        rows = slice(index, None, len(cells))
        generator = seeding.generator(images.device, seed, "validation", index)
        parts.append(corruptions.corrupt(floats[rows], name, severity, generator))
        kept.append(labels[rows])
    return Validation(torch.cat(parts).contiguous(memory_format=torch.channels_last), torch.cat(kept), len(images))


def _outputs(
    model: nn.Module, validation: Validation, forward: Callable[[Tensor], tuple[Tensor, ...]]
) -> tuple[Tensor, ...]:
    model.eval()
    return over_batches(forward, validation.images, batch=BATCH)


def _accuracies(logits: Tensor, validation: Validation, name: str = "") -> dict[str, float]:
    right = (logits.argmax(1) == validation.labels).float()
    clean = validation.clean
    return {
        f"{name}clean_accuracy": float(right[:clean].mean()),
        f"{name}corrupted_accuracy": float(right[clean:].mean()),
    }


def measure_warm(model: nn.Module, validation: Validation) -> dict[str, float]:
    (logits,) = _outputs(model, validation, lambda x: (model(x),))
    return _accuracies(logits, validation)


def measure_method(model: GatedClassifier, validation: Validation) -> dict[str, float]:
    """Accuracies, and for gated methods the E-2 measures over clean and corrupted images alike, and the knobs."""
    z_static, z_dyn, u_star = _outputs(model, validation, model)
    row = _accuracies(model.logits(Outputs(z_static, z_dyn, u_star), "settled"), validation)
    if not model.dynamics.gated:
        return row
    row |= _accuracies(z_static, validation, "static_") | _accuracies(z_dyn, validation, "dyn_")
    g = torch.sigmoid(u_star)
    probe = gate_advantage(*(tensor.cpu().numpy() for tensor in (z_static, z_dyn, g, validation.labels)))
    row |= {f"auc_oa_{name}": value for name, value in probe.auc_oa.items()}
    row |= {f"auc_gca_{name}": value for name, value in probe.auc_gca.items()}
    row |= {"polarisation": probe.polarisation, "saturated": probe.saturated}
    row |= {"gate_clean": float(g[: validation.clean].mean()), "gate_corrupted": float(g[validation.clean :].mean())}
    knobs = getattr(model, "knobs", None)
    if knobs is not None:
        row |= {"zeta": knobs.zeta, "omega_n": knobs.omega_n}
    return {name: value for name, value in row.items() if np.isfinite(value)}
