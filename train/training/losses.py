"""What each stage minimises.

Static is trained modest on everything, dynamic sharp on what is clean, and u* to know which of the two to trust:
L = CE_ε(static) + CE(dynamic | clean) + CE(fused) + a BCE(u*, [CE_dyn < CE_static]) + b BCE(u*, s),
with the branches fixed in CE(fused) unless the recipe lets it teach them too, to complement each other.
The study behind it: train/STUDY.md.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, cross_entropy

from knob_core import corruptions, fusion
from knob_core.models import GatedClassifier, Outputs
from train.training.batches import Batch
from train.training.encodings import Encodings, Key
from train.training.recipes import Recipe

STREAM = -1  # ends the key of a batch's short streams
OPEN, SHUT = 0.9, 0.15  # the gate that the severity target wants on clean images and at severity 5


class Step(NamedTuple):
    """What one step gives: the loss to descend, and what a person wants to watch."""

    loss: Tensor
    accuracy: Tensor
    gate: Tensor  # mean settled gate, 0.5 where there is none


class WarmClassifier(nn.Module):
    """The encoder with a plain linear head: what the warm stage trains."""

    def __init__(self, encoder: nn.Module, features: int, num_classes: int) -> None:
        super().__init__()
        self.encoder, self.head = encoder, nn.Linear(features, num_classes)

    def forward(self, images: Tensor) -> Tensor:
        return self.head(self.encoder(images)[0])


def warm_step(model: nn.Module, batch: Batch, recipe: Recipe, step: int) -> Step:
    logits = model(batch.images)
    logits = logits.to(batch.images.dtype)  # a mixed-precision model answers in 16 bits
    loss = cross_entropy(logits, batch.labels, label_smoothing=recipe.label_smoothing)
    return Step(loss, _accuracy(logits, batch), logits.new_tensor(0.5))


def method_step(
    model: nn.Module,
    batch: Batch,
    recipe: Recipe,
    step: int,
    encodings: Encodings | None = None,
    smoothing: float = 0.0,
) -> Step:
    """`encodings` where the encoder is frozen; else it learns too. `smoothing` of the labels where there is no gate."""
    assert isinstance(model, GatedClassifier)
    outputs = model.decide(*_encode(model, batch.images, batch.key, encodings))
    if recipe.loss == "fused":  # the paper's: end to end through one step from rest
        logits = model.logits(outputs, "reset").to(batch.images.dtype)
        loss = cross_entropy(logits, batch.labels, label_smoothing=smoothing)
        return Step(loss, _accuracy(logits, batch), model.gate(outputs.u_star, "reset").mean().to(loss.dtype))
    logits = model.logits(outputs, "settled")
    if not model.dynamics.gated:
        loss = cross_entropy(logits, batch.labels, label_smoothing=smoothing)
        return Step(loss, _accuracy(logits, batch), logits.new_tensor(0.5))
    loss = branch_loss(outputs, batch, recipe) + gate_loss(outputs, batch, recipe)
    learns = model.dynamics.inertia or recipe.streams_teach == "command"
    if learns and step % recipe.stream_every == 0:
        loss = loss + stream_loss(model, batch, recipe, encodings)
    return Step(loss, _accuracy(logits, batch), torch.sigmoid(outputs.u_star).mean())


def _accuracy(logits: Tensor, batch: Batch) -> Tensor:
    return (logits.argmax(1) == batch.labels).float().mean()


def _encode(model: GatedClassifier, images: Tensor, key: Key, encodings: Encodings | None) -> tuple[Tensor, Tensor]:
    return model.encode(images) if encodings is None else encodings.of(model, images, key)


def branch_loss(outputs: Outputs, batch: Batch, recipe: Recipe) -> Tensor:
    """Static: every image or the corrupted ones, smoothed. Dynamic: the clean ones, sharp; as many in every batch."""
    clean = batch.clean
    seen = ~clean if recipe.static_sees == "corrupted" else slice(None)
    static = cross_entropy(outputs.z_static[seen], batch.labels[seen], label_smoothing=recipe.static_smoothing)
    return static + cross_entropy(outputs.z_dyn[clean], batch.labels[clean], label_smoothing=recipe.dyn_smoothing)


def gate_loss(outputs: Outputs, batch: Batch, recipe: Recipe) -> Tensor:
    """Fused loss, advantage and severity targets, all through the settled gate g = sigmoid(u*)."""
    z_static, z_dyn = outputs.z_static.detach(), outputs.z_dyn.detach()
    mixed = (outputs.z_static, outputs.z_dyn) if recipe.fused_teaches == "branches" else (z_static, z_dyn)
    fused = cross_entropy(fusion.fuse(*mixed, torch.sigmoid(outputs.u_star)), batch.labels)
    ce_static, ce_dyn = (cross_entropy(z, batch.labels, reduction="none") for z in (z_static, z_dyn))
    advantage = binary_cross_entropy_with_logits(outputs.u_star, (ce_dyn < ce_static).to(outputs.u_star.dtype))
    wanted = OPEN + (SHUT - OPEN) * batch.severity / 5
    severity = binary_cross_entropy_with_logits(outputs.u_star, wanted.to(outputs.u_star.dtype))
    return fused + recipe.advantage_weight * advantage + recipe.severity_weight * severity


def stream_loss(model: GatedClassifier, batch: Batch, recipe: Recipe, encodings: Encodings | None = None) -> Tensor:
    """Cross-entropy over short streams through the method's own gate: a step between two severities, fresh noise.

    This is what the knobs learn from, and u* where the recipe says so; the branches are taken as they are.
    """
    frames = recipe.stream_frames
    chunk = len(batch.images) // len(batch.generators)
    streams, labels = [], []
    for index, generator in enumerate(batch.generators):
        paths = slice(index * chunk, index * chunk + max(1, chunk // frames))  # a chunk begins with its clean images
        with torch.autocast(batch.images.device.type, enabled=False):  # blurs are products: 16 bits would round them
            streams.append(_stream(batch.images[paths], frames, generator))
        labels.append(batch.labels[paths])
    with torch.no_grad():
        images = torch.cat(streams).contiguous(memory_format=torch.channels_last)
        encoded = _encode(model, images, (*batch.key, STREAM), encodings)
    was_training = model.command.training
    model.command.eval()  # its input statistics belong to the batches
    with torch.set_grad_enabled(recipe.streams_teach == "command"):
        outputs = model.decide(*encoded)
    model.command.train(was_training)
    target = torch.cat(labels)  # (P,)
    shape = (len(target), frames)
    g = model.stream_gate(outputs.u_star.view(shape))  # (P, T)
    z_static, z_dyn = (z.detach().view(*shape, -1) for z in (outputs.z_static, outputs.z_dyn))
    z_fuse = fusion.fuse(z_static, z_dyn, g)
    return cross_entropy(z_fuse.flatten(0, 1), target.repeat_interleave(frames))


def _stream(images: Tensor, frames: int, generator: torch.Generator) -> Tensor:
    """One corruption, two severities, a turn at a random frame: (P x T, 3, H, W)."""
    count, device = len(images), images.device
    before, after = torch.rand((2, count, 1), generator=generator, device=device) * 5
    turn = torch.randint(1, frames, (count, 1), generator=generator, device=device)
    severity = torch.where(torch.arange(frames, device=device) < turn, before, after)  # (P, T)
    pick = int(torch.randint(0, len(corruptions.TRAINING), (1,), generator=generator, device=device))
    repeated = images.repeat_interleave(frames, 0)
    return corruptions.corrupt(repeated, corruptions.TRAINING[pick], severity.flatten(), generator)
