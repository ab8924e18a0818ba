"""The classifiers: one encoder, two logit branches, and a gate that decides between them.

    features = E(x),  z_static = H_s(features),  z_dyn = H_d(features),  u* = G(features, stage statistics, confidence)
    z_fuse = g z_dyn + (1 - g) z_static

Paper, section 3 and Table 2. `width` is the only size switch: 64 is the paper's ResNet-18, 16 is the pocket model.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from knob_core import fusion, methods
from knob_core._arrays.checks import readable
from knob_core._torchvision import torchvision
from knob_core.data import MEAN, STD
from knob_core.gates import Gate
from knob_core.memories import Attentive

# One step from rest, as in the paper; and the gate of a stream that has come to rest, which for a model with a
# `reset_reference` is also Reset Mode in its normalised form at the trained knobs (`knob_core.gates`).
MODES = ("reset", "settled")
HOME_ZETA, HOME_OMEGA_N = 0.7, 0.4  # the knobs before training
STATIC_READS = ("features", "stages")  # what a gated model's static branch reads; the paper's is the first
STAGE_CHANNELS = 14  # mean and spread of every channel of stages 1 to 3, in widths: 2 (1 + 2 + 4)


class Outputs(NamedTuple):
    """What one forward pass gives; nothing in it depends on the knobs."""

    z_static: Tensor  # (N, K)
    z_dyn: Tensor  # (N, K)
    u_star: Tensor  # (N,)


class Encoder(torchvision.models.ResNet):
    """torchvision's ResNet-18 blocks behind a 3x3 stem without pooling, for 32x32 images, at any width."""

    def __init__(self, width: int) -> None:
        nn.Module.__init__(self)  # ResNet's own constructor fixes the width at 64
        self._norm_layer = nn.BatchNorm2d
        self.inplanes, self.dilation, self.groups, self.base_width = width, 1, 1, 64
        self.conv1 = nn.Conv2d(3, width, kernel_size=3, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        block = torchvision.models.resnet.BasicBlock
        self.layer1 = self._make_layer(block, width, 2)
        self.layer2 = self._make_layer(block, 2 * width, 2, stride=2)
        self.layer3 = self._make_layer(block, 4 * width, 2, stride=2)
        self.layer4 = self._make_layer(block, 8 * width, 2, stride=2)
        for module in self.modules():
            if isinstance(module, nn.Conv2d):
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
        self.register_buffer("mean", torch.tensor(MEAN).view(3, 1, 1))
        self.register_buffer("std", torch.tensor(STD).view(3, 1, 1))

    def forward(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """From images (N, 3, H, W) in [0, 1]: final features (N, 8w), and the first stage's map (N, w, H, W)."""
        features, first, _, _ = self.stages(images)
        return features, first

    def stages(self, images: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Final features, and the maps of stages 1 to 3, with w, 2w and 4w channels."""
        first = self.layer1(self.relu(self.bn1(self.conv1((images - self.mean) / self.std))))
        second = self.layer2(first)
        third = self.layer3(second)
        return self.layer4(third).mean((2, 3)), first, second, third


class Head(nn.Module):
    """Linear - ReLU - Linear."""

    def __init__(self, features: int, num_classes: int) -> None:
        super().__init__()
        self.hidden = nn.Linear(features, features)
        self.out = nn.Linear(features, num_classes)

    def activations(self, features: Tensor) -> Tensor:
        return torch.relu(self.hidden(features))

    def forward(self, features: Tensor) -> Tensor:
        return self.out(self.activations(features))


class StageHead(Head):
    """The same over the statistics of stages 1 to 3, which the last features have forgotten."""

    def __init__(self, width: int, num_classes: int) -> None:
        super().__init__(8 * width, num_classes)
        self.scale = nn.BatchNorm1d(STAGE_CHANNELS * width, affine=False)
        self.hidden = nn.Linear(STAGE_CHANNELS * width, 8 * width)

    def activations(self, features: Tensor) -> Tensor:
        return super().activations(self.scale(features))


def stage_statistics(first: Tensor) -> Tensor:
    """Mean and standard deviation of every channel, (N, 2w): what the last features forgot of the severity."""
    mean, square = first.mean((2, 3)), first.square().mean((2, 3))
    variance = torch.addcmul(square, mean, mean, value=-1)  # half the time of torch.var_mean
    return torch.cat((mean, variance.clamp_min(1e-6).sqrt()), 1)


def log_confidence(z_static: Tensor, z_dyn: Tensor) -> Tensor:
    """log p_max of each branch, (N, 2); no gradient to the branches."""
    return torch.log_softmax(torch.stack((z_static, z_dyn), 1).detach(), -1).amax(-1)


class CommandHead(nn.Module):
    """u*(x): a small network that reads final features, first-stage statistics and the branches' confidence."""

    def __init__(self, width: int) -> None:
        super().__init__()
        inputs, hidden = 10 * width + 2, 3 * width // 2
        self.scale = nn.BatchNorm1d(inputs, affine=False)
        self.net = nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(inplace=True), nn.Linear(hidden, 1))

    def forward(self, features: Tensor, statistics: Tensor, z_static: Tensor, z_dyn: Tensor) -> Tensor:
        inputs = torch.cat((features, statistics, log_confidence(z_static, z_dyn)), 1)
        scale = self.scale
        if self.training:
            inputs = scale(inputs)
        else:  # the same numbers; for one image the module around it takes longer than the work
            inputs = nn.functional.batch_norm(inputs, scale.running_mean, scale.running_var, eps=scale.eps)
        return self.net(inputs).squeeze(1)


def _softplus(raw: float) -> float:
    return max(raw, 0.0) + math.log1p(math.exp(-abs(raw)))


def _unsoftplus(value: Tensor) -> Tensor:
    return value + torch.log(-torch.expm1(-value))


class Knobs(nn.Module):
    """ζ and ω_n: learnable, positive by softplus, readable, and settable at run time without touching a weight."""

    def __init__(self, zeta: float = HOME_ZETA, omega_n: float = HOME_OMEGA_N) -> None:
        super().__init__()
        self.raw = nn.Parameter(_unsoftplus(torch.tensor([zeta, omega_n])))

    @property
    def values(self) -> tuple[Any, Any]:
        """ζ and ω_n, with gradient; where nobody asks for one and reading is free, as floats, which are far quicker."""
        if torch.is_grad_enabled() or not readable(self.raw):
            zeta, omega_n = nn.functional.softplus(self.raw)
        else:
            zeta, omega_n = map(_softplus, self.raw.tolist())
        return zeta, omega_n

    @property
    @torch.no_grad()
    def zeta(self) -> float:
        return float(self.values[0])

    @zeta.setter
    def zeta(self, value: float) -> None:
        self._set(0, "zeta", value)

    @property
    @torch.no_grad()
    def omega_n(self) -> float:
        return float(self.values[1])

    @omega_n.setter
    def omega_n(self, value: float) -> None:
        self._set(1, "omega_n", value)

    def _set(self, index: int, name: str, value: float) -> None:
        if not 0.0 < value < float("inf"):
            raise ValueError(f"{name} must be positive and finite, got {value!r}")
        with torch.no_grad():
            self.raw[index] = _unsoftplus(torch.tensor(float(value), dtype=torch.float64)).to(self.raw)


def encode(encoder: Encoder, images: Tensor, stages: bool = False) -> tuple[Tensor, Tensor]:
    """Final features (N, 8w), and the statistics of the first stage (N, 2w) or of stages 1 to 3, that one first."""
    if not stages:
        features, first = encoder(images)
        return features, stage_statistics(first)
    features, *maps = encoder.stages(images)
    return features, torch.cat([stage_statistics(stage) for stage in maps], 1)


class GatedClassifier(nn.Module):
    """A method of the family. `forward` gives the branches; fusion, Reset and Continuous Mode sit on top."""

    image_size: int = 32  # pixels of a side of the pictures that it was trained on
    classes: tuple[str, ...] | None = None  # names, where it is known what it was trained on
    attentive: Attentive | None = None  # weights of attentive memory that were fitted for it
    trained_knobs: tuple[float, float] | None = None  # zeta and omega_n that were learned with it
    reset_reference: float | None = None  # kappa at which Reset Mode is normalised (`knob_core.gates`); None: literal

    def __init__(
        self, method: str, width: int = 64, num_classes: int = 10, static_reads: str = STATIC_READS[0]
    ) -> None:
        super().__init__()
        self.method = method  # its row of knob_core.methods, and so its gate
        self.width, self.num_classes, self.static_reads = width, num_classes, static_reads
        self.encoder = Encoder(width)
        self.static_head: Head = StageHead(width, num_classes) if self.reads_stages else Head(8 * width, num_classes)
        self.dyn_head = Head(8 * width, num_classes)
        self.command = CommandHead(width)
        if self.dynamics.inertia:
            self.knobs = Knobs()

    @property
    def dynamics(self) -> Gate:
        """What turns u* into g."""
        return methods.get(self.method).gate.normalised(self.reset_reference)

    def normalise_reset(self) -> None:
        """From now on a stream's Reset Mode is normalised at the knobs as they stand."""
        if self.dynamics.inertia:
            with torch.no_grad():
                self.reset_reference = float(self.dynamics.kappa(*self.knob_values))

    @property
    def knob_values(self) -> tuple[Any, Any]:
        """ζ and ω_n; (1, 1) where there is nothing to turn."""
        return self.knobs.values if self.dynamics.inertia else (1.0, 1.0)

    @property
    def reads_stages(self) -> bool:
        return self.static_reads == "stages"

    def encode(self, images: Tensor) -> tuple[Tensor, Tensor]:
        """All that the heads and the gate read: final features (N, 8w) and stage statistics (N, 2w or 14w)."""
        return encode(self.encoder, images, self.reads_stages)

    def decide(self, features: Tensor, statistics: Tensor) -> Outputs:
        """The branches from what `encode` gave, or what it gave of more stages than are read here."""
        z_static = self.static_head(statistics if self.reads_stages else features)
        z_dyn = self.dyn_head(features)
        return Outputs(z_static, z_dyn, self.command(features, statistics[:, : 2 * self.width], z_static, z_dyn))

    def forward(self, images: Tensor) -> Outputs:
        return self.decide(*self.encode(images))

    def gate(self, u_star: Tensor, mode: str = "reset") -> Tensor:
        """g (N,) of independent samples. A stream's gate: `stream_gate`."""
        _check_mode(mode)
        dynamics = self.dynamics.normalised(None) if mode == "reset" else self.dynamics.without_inertia
        return dynamics.reset_g(u_star, *self.knob_values)

    def stream_gate(self, u_star: Tensor) -> Tensor:
        """g (..., T) in Continuous Mode from rest, with gradient to the knobs."""
        return self.dynamics.run(u_star, *self.knob_values).g

    def logits(self, outputs: Outputs, mode: str = "reset") -> Tensor:
        """Fused logits (N, K)."""
        return fusion.mix(outputs.z_static, outputs.z_dyn, self.gate(outputs.u_star, mode))

    def predict(self, images: Tensor, mode: str = "reset") -> Tensor:
        return self.logits(self(images), mode)


class Ungated(GatedClassifier):
    """One output, nothing to turn: both branches of `Outputs` are the same logits."""

    def __init__(self, method: str, width: int = 64, num_classes: int = 10) -> None:
        super().__init__(method, width, num_classes)
        del self.command

    def encode(self, images: Tensor) -> tuple[Tensor, Tensor]:
        features, _ = self.encoder(images)
        return features, features[:, :0]  # nobody reads statistics here

    def decide(self, features: Tensor, statistics: Tensor) -> Outputs:
        z = self.mix(features)
        return Outputs(z, z, z.new_zeros(z.shape[0]))

    def mix(self, features: Tensor) -> Tensor:
        raise NotImplementedError

    def logits(self, outputs: Outputs, mode: str = "reset") -> Tensor:
        _check_mode(mode)
        return outputs.z_static


class Static(Ungated):
    """The static branch alone; the other head is present, as in the paper's count, and unused."""

    def mix(self, features: Tensor) -> Tensor:
        return self.static_head(features)


class Attention(Ungated):
    """Channel attention over both heads' activations: a mix that is not convex, so nothing bounds its confidence."""

    def __init__(self, method: str, width: int = 64, num_classes: int = 10) -> None:
        super().__init__(method, width, num_classes)
        channels, squeezed = 16 * width, 3 * width // 2
        self.squeeze, self.excite = nn.Linear(channels, squeezed), nn.Linear(squeezed, channels)

    def mix(self, features: Tensor) -> Tensor:
        static, dyn = self.static_head.activations(features), self.dyn_head.activations(features)
        weights = torch.sigmoid(self.excite(torch.relu(self.squeeze(torch.cat((static, dyn), 1)))))  # (N, 2d)
        static_weights, dyn_weights = weights.chunk(2, 1)
        return self.static_head.out(static * static_weights) + self.dyn_head.out(dyn * dyn_weights)


_UNGATED: dict[str, type[Ungated]] = {"static": Static, "attention": Attention}
METHODS = tuple(methods.METHODS)


def build(method: str, width: int = 64, num_classes: int = 10, static_reads: str = STATIC_READS[0]) -> GatedClassifier:
    """A freshly initialised model; random numbers from torch's default generator.

    `static_reads` "stages" is our variant of the gated methods: their static branch reads stages 1 to 3.
    """
    methods.get(method)
    if width < 4 or width % 4:
        raise ValueError(f"width must be a positive multiple of 4, got {width!r}")
    if num_classes < 2:
        raise ValueError(f"num_classes must be at least 2, got {num_classes!r}")
    if static_reads not in STATIC_READS:
        raise ValueError(f"static_reads must be one of {', '.join(STATIC_READS)}, got {static_reads!r}")
    if method not in _UNGATED:
        return GatedClassifier(method, width, num_classes, static_reads)
    if static_reads != STATIC_READS[0]:
        raise ValueError(
            f"static_reads must be {STATIC_READS[0]} for {method}, which has no gate, got {static_reads!r}"
        )
    return _UNGATED[method](method, width, num_classes)


def _check_mode(mode: str) -> None:
    if mode not in MODES:
        raise ValueError(f"mode must be one of {', '.join(MODES)}, got {mode!r}")
