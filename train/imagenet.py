"""ImageNet-C at small scale: `python -m train.imagenet FOLDER --model resnet50 --weights DEFAULT --count 500`.

Any classifier of torchvision on any folder in ImageNet's layout, one folder a class: in their sorted order, or where
all of their names are numbers, of these classes. Pictures are resized, cropped to 224 x 224, corrupted with the
constants of ImageNet-C (`knob_core.corruptions.imagenet`, all but frost) and judged; writes one row for each corruption
and severity.
`--shipped` measures EfficientNet-Lite0 of the outside models on the pictures that ship, enlarged, instead.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor
from tqdm import tqdm

from knob_core import data, devices, seeding
from knob_core._torchvision import torchvision
from knob_core.corruptions import CONSTANTS, TEST, corrupt
from knob_core.corruptions.imagenet import SIDE
from knob_core.data import Labels
from knob_core.library import result_tables
from train import commands
from train.measuring import picture_scores
from train.outside import images as outside

NAMES = tuple(CONSTANTS["imagenet-c"])
RESIZED = 256  # pixels of the shorter side, of which the middle 224 are taken
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet
CHUNK = 20  # pictures at a time, and the unit of seeding
CLEAN = "clean"
Classify = Callable[[Tensor], Tensor]  # (N, 3, 224, 224) in [0, 1] -> logits (N, K)


def measure(
    classify: Classify, pictures: Tensor, labels: Labels, names: Sequence[str], severities: Sequence[int], seed: int = 0
) -> list[dict[str, Any]]:
    """One row for clean and for each corruption and severity of pictures (N, 3, 224, 224), bytes."""
    cells = [(CLEAN, 0), *((name, severity) for name in names for severity in severities)]
    rows = []
    for name, severity in tqdm(cells, unit="cell", disable=None):
        parts = []
        for start in range(0, len(pictures), CHUNK):
            x = pictures[start : start + CHUNK].float() / 255
            if name != CLEAN:
                noise = seeding.generator(x.device, seed, "imagenet-c", name, severity, start)
                x = corrupt(x, name, severity, noise, constants="imagenet-c")
            with torch.inference_mode():
                parts.append(classify(x).float().cpu().numpy())
        cell = picture_scores.score(np.concatenate(parts), labels)
        rows.append({"corruption": name, "severity": severity, "n": len(labels), **cell.measure()})
    return rows


def torchvision_classifier(name: str, weights: str | None, device: torch.device) -> Classify:
    """A model of torchvision's list; weights by torchvision's name ("DEFAULT"), from a safetensors file, or random."""
    try:
        if weights is not None and Path(weights).is_file():
            model = torchvision.models.get_model(name)
            model.load_state_dict(load_file(weights))
        else:
            model = torchvision.models.get_model(name, weights=weights)
    except (ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise commands.WrongArgument(f"--model {name}, --weights {weights}: {str(error).splitlines()[0]}") from error
    model = model.eval().to(device)
    mean, std = (torch.tensor(x, device=device).view(3, 1, 1) for x in (MEAN, STD))
    return lambda x: model((x.to(device) - mean) / std)


def folder(root: Path, count: int | None) -> tuple[Tensor, Labels]:
    """Pictures (N, 3, 224, 224), bytes, and their classes; of `count` the same share of every class."""
    if not root.is_dir() or not any(path.is_dir() for path in root.iterdir()):
        raise commands.WrongArgument(f"{root} has no folders, expected one for each class")
    found = torchvision.datasets.ImageFolder(str(root))
    numbers = [int(name) for name in found.classes] if all(name.isdecimal() for name in found.classes) else None
    chosen = range(len(found)) if count is None else np.linspace(0, len(found), count, endpoint=False).astype(int)
    pictures, labels = [], []
    for place in chosen:
        path, index = found.samples[place]
        pictures.append(_cropped(Image.open(path).convert("RGB")))
        labels.append(index if numbers is None else numbers[index])
    return torch.from_numpy(np.stack(pictures)), np.array(labels)


def _cropped(picture: Image.Image) -> np.ndarray:
    """(3, 224, 224) bytes: the middle, as ImageNet's validation pictures are taken."""
    scale = RESIZED / min(picture.size)
    width, height = (max(SIDE, round(side * scale)) for side in picture.size)
    left, top = (width - SIDE) // 2, (height - SIDE) // 2
    resized = picture.resize((width, height), Image.Resampling.BILINEAR)
    return np.asarray(resized.crop((left, top, left + SIDE, top + SIDE))).transpose(2, 0, 1)


def shipped(count: int | None) -> tuple[Classify, Tensor, Labels]:
    """EfficientNet-Lite0 on pictures of the sample that ships, enlarged to 224 x 224; classes are CIFAR-10's."""
    model, (images, labels, _) = outside.network(), data.load_sample()
    chosen = np.linspace(0, len(images), count or len(images), endpoint=False).astype(int)
    small = torch.from_numpy(images[chosen]).float() / 255
    large = torch.nn.functional.interpolate(small, size=(SIDE, SIDE), mode="bicubic").clamp_(0, 1)
    classify: Classify = lambda x: outside.grouped(model((x - outside.MIDDLE) / outside.SCALE))  # noqa: E731
    return classify, (large * 255).round().byte(), labels[chosen]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = commands.parser("train.imagenet", __doc__)
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("folder", nargs="?", type=commands.path, help="pictures in ImageNet's layout")
    what.add_argument("--shipped", action="store_true", help="EfficientNet-Lite0 on the pictures that ship")
    parser.add_argument("--model", default="resnet50", metavar="NAME", help="of torchvision (default: %(default)s)")
    parser.add_argument(
        "--weights",
        metavar="NAME",
        help="DEFAULT, ... of torchvision, or a safetensors file of its state; default: random",
    )
    parser.add_argument("--count", type=commands.positive, metavar="N", help="pictures; default: all")
    parser.add_argument(
        "--only", nargs="+", action=commands.Several, metavar="NAME", choices=NAMES, default=NAMES,
        help="some of the eighteen",
    )  # fmt: skip
    parser.add_argument(
        "--severities", nargs="+", action=commands.Several, type=commands.whole(1, 5), default=[1, 2, 3, 4, 5]
    )
    parser.add_argument("--seed", type=commands.seed, default=0, help="of the noise (default: %(default)s)")
    parser.add_argument("--device", type=commands.device, default="auto", help="auto, cpu, cuda, ...")
    parser.add_argument("--out", type=commands.out_file, default=result_tables.RESULTS / "imagenet.csv", metavar="FILE")
    return parser.parse_args(arguments)


def work(args: argparse.Namespace) -> None:
    if args.shipped:
        name = "EfficientNet-Lite0"
        classify, pictures, labels = shipped(args.count)
    else:
        name, (pictures, labels) = args.model, folder(args.folder, args.count)
        classify = torchvision_classifier(args.model, args.weights, devices.pick(args.device))
        classes = classify(pictures[:1].float() / 255).shape[1]
        if labels.max() >= classes:
            raise commands.WrongArgument(f"{args.folder} has class {labels.max()}, {args.model} knows {classes}")
    rows = measure(classify, pictures, labels, args.only, args.severities, args.seed)
    frame = result_tables.write([{"model": name, **row} for row in rows], args.out)
    corrupted = frame[frame["corruption"] != CLEAN].groupby("corruption")["accuracy"].mean()
    standard = corrupted[corrupted.index.isin(TEST)]
    scores = f"clean {frame['accuracy'].iloc[0]:.1%}, {len(standard)} standard corruptions {standard.mean():.1%}"
    print(f"{name}: {scores}: {args.out}")


main = commands.main_of("train.imagenet", parse, work)


if __name__ == "__main__":
    sys.exit(main())
