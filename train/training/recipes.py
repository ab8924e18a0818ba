"""Recipes: everything that decides a run, as visible literals.

`pocket` trains a width-16 encoder once per seed (warm stage), freezes it, and fits each method's heads and gate on it.
`robust` is the same with an encoder trained for longer on more kinds of change, and branches that differ: static reads
the encoder's stages 1 to 3, and the fused loss teaches both branches to complement each other (train/PROTOCOL.md).
`robust-80` trains the encoder of `robust` for the same 40 epochs once more, from where it ended (a warm restart).
`paper` is the paper's protocol to the letter (section 4.1, appendix A): end to end, no warm stage, the cross-entropy of
the fused output in Reset Mode and nothing else, whole severities 1-2, 1-3, 1-5, crops padded by 4 black pixels, AdamW
on all weights, 16-bit mixed precision on a GPU. `paper-pocket` is the same at width 16 for 30 epochs, the curriculum in
proportion, mixed precision in bfloat16, which a CPU has: about an hour of one thread for each method and seed.
What the paper leaves open, and what we take: train/STUDY.md.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, is_dataclass, replace
from typing import Any

from knob_core.models import STATIC_READS

MIN_VALIDATION = 8  # images: one for each training corruption and severity that is measured
MIN_WIDTH = 8  # narrower, torch's channels-last convolutions have been seen to corrupt memory in the backward pass
IMAGES = 50_000  # of CIFAR-10 for training


def _later(default: Any) -> Any:
    """An entry that came after models were published: headers leave it out at its default, so old ones still agree."""
    return field(default=default, metadata={"later": True})


@dataclass(frozen=True)
class Stage:
    """One uninterrupted stretch of training with one optimiser and one schedule."""

    epochs: int
    optimizer: str  # "sgd" (Nesterov 0.9) or "adamw"
    lr: float  # the peak
    weight_decay: float
    schedule: str  # "onecycle": up in the first quarter, down to zero; "cosine": down to zero from the start
    window_epochs: int = 0  # so many first epochs look through a 24-pixel window: 0.6 of the cost
    augmented_share: float = _later(0.0)  # of a batch, clean and corrupted images alike: chains and spectra
    average_epochs: float = _later(0.0)  # horizon of the running mean of the weights the stage ends with; 0: none
    precision: str = _later("float32")  # or "bfloat16": multiplications in mixed precision, on a CPU as well
    decay: str = _later("matrices")  # or "all": which weights decay


STAGE_CHOICES = {
    "optimizer": ("sgd", "adamw"),
    "schedule": ("onecycle", "cosine"),
    "precision": ("float32", "bfloat16"),
    "decay": ("matrices", "all"),
}
STAGE_RANGES: dict[str, tuple[float, float]] = {  # from, to; every number of a stage is here
    "epochs": (1, 100_000),
    "lr": (1e-12, 100.0),
    "weight_decay": (0.0, 100.0),
    "window_epochs": (0, 100_000),
    "augmented_share": (0.0, 1.0),
    "average_epochs": (0.0, 100_000.0),
}

CHOICES = {
    "padding": ("reflect", "zeros"),
    "severities": ("real", "whole"),
    "loss": ("complementary", "fused"),
    "static_reads": STATIC_READS,
    "static_sees": ("all", "corrupted"),
    "fused_teaches": ("command", "branches"),
    "streams_teach": ("knobs", "command"),
    "reset_form": ("literal", "normalised"),
}
RANGES: dict[str, tuple[float, float]] = {  # from, to; every number of a recipe is here
    "width": (MIN_WIDTH, 512),  # 512 is 64 times the weights of ResNet-18
    "batch": (2, IMAGES),  # a batch normalisation needs two
    "chunk": (1, IMAGES),
    "clean_share": (0.0, 1.0),
    "label_smoothing": (0.0, 1.0),
    "static_smoothing": (0.0, 1.0),
    "dyn_smoothing": (0.0, 1.0),
    "advantage_weight": (0.0, 1000.0),
    "severity_weight": (0.0, 1000.0),
    "stream_every": (1, 1_000_000),
    "stream_frames": (2, 1000),  # a stream has a frame before and one after its turn
    "validation": (MIN_VALIDATION, IMAGES),
    "limit": (0, IMAGES),
}
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")  # of a recipe, which is the name of its folder


@dataclass(frozen=True)
class Recipe:
    name: str
    width: int
    warm: Stage | None  # the encoder with a linear head, shared by all methods of a seed
    method: Stage  # heads and gate; the encoder too where there was no warm stage
    batch: int = 128  # images in one optimiser step, over all processes
    chunk: int = 64  # images that share one random generator; processes share a batch by chunks
    clean_share: float = 0.5  # of a batch; the rest is split evenly over the four training corruptions
    curriculum: tuple[tuple[float, float], ...] = ((0.3, 2.0), (0.6, 3.0), (1.0, 5.0))  # up to this part: top severity
    label_smoothing: float = 0.05  # of the warm stage
    static_smoothing: float = 0.08  # of the static branch: modest by training
    dyn_smoothing: float = 0.03  # of the dynamic branch: less, and on clean images only
    advantage_weight: float = 1.0  # u* learns [CE_dyn < CE_static]
    severity_weight: float = 0.6  # u* learns to fall with the severity
    stream_every: int = 4  # every so many steps, gates with dynamics also see short streams
    stream_frames: int = 12
    validation: int = 2000  # training images held out for history and temperature
    limit: int = 0  # train on so many images only; 0 is all
    padding: str = _later("reflect")  # around a crop as large as the picture, or "zeros"
    severities: str = _later("real")  # numbers in [1, top], or "whole" ones
    loss: str = _later("complementary")  # of gated methods (train/STUDY.md), or "fused": cross-entropy in Reset Mode
    static_reads: str = _later("features")  # or "stages": the static branch reads stages 1 to 3
    static_sees: str = _later("all")  # images, or "corrupted" ones only
    fused_teaches: str = _later("command")  # what the fused loss trains: u* alone, or "branches" as well
    streams_teach: str = _later("knobs")  # what learns from short streams: "knobs", or "command" for u* as well
    reset_form: str = _later("literal")  # of Reset Mode (`knob_core.gates`), or "normalised" at the trained knobs
    continues: str = _later("")  # the recipe whose finished encoder the warm stage begins with; else random weights

    def __post_init__(self) -> None:
        for name, allowed in CHOICES.items():
            if getattr(self, name) not in allowed:
                raise ValueError(f"{name} must be one of {', '.join(allowed)}, got {getattr(self, name)!r}")

    def stage(self, index: int) -> Stage:
        """0 is the warm stage, 1 the method's."""
        return self.warm if index == 0 and self.warm is not None else self.method


POCKET = Recipe(
    name="pocket",
    width=16,
    warm=Stage(epochs=20, optimizer="sgd", lr=0.2, weight_decay=5e-4, schedule="onecycle", window_epochs=14),
    method=Stage(epochs=5, optimizer="adamw", lr=1e-3, weight_decay=1e-2, schedule="cosine"),
)

PAPER = Recipe(
    name="paper",
    width=64,
    warm=None,
    method=Stage(epochs=100, optimizer="adamw", lr=3e-4, weight_decay=1e-4, schedule="cosine", decay="all"),
    padding="zeros",
    severities="whole",
    loss="fused",
)

PAPER_POCKET = replace(
    PAPER, name="paper-pocket", width=16, method=replace(PAPER.method, epochs=30, precision="bfloat16")
)

_ROBUST_ENCODER = Stage(
    epochs=40,
    optimizer="sgd",
    lr=0.2,
    weight_decay=5e-4,
    schedule="onecycle",
    window_epochs=30,
    augmented_share=0.5,
    average_epochs=2.0,
    precision="bfloat16",
)

ROBUST = replace(
    POCKET,
    name="robust",
    warm=_ROBUST_ENCODER,
    curriculum=((0.1, 3.0), (1.0, 5.0)),
    static_reads="stages",
    fused_teaches="branches",
    streams_teach="command",
    reset_form="normalised",
)

ROBUST_80 = replace(ROBUST, name="robust-80", continues="robust")

RECIPES = {recipe.name: recipe for recipe in (POCKET, PAPER, PAPER_POCKET, ROBUST, ROBUST_80)}


def as_dict(recipe: Recipe) -> dict[str, Any]:
    """Nested plain values, for a checkpoint's header."""
    return _entries(recipe)


def _entries(node: Any) -> Any:
    if not is_dataclass(node):
        return node
    kept = [entry for entry in fields(node) if not (entry.metadata and getattr(node, entry.name) == entry.default)]
    return {entry.name: _entries(getattr(node, entry.name)) for entry in kept}


def held_out(header: dict[str, Any]) -> int | None:
    """How many training images a checkpoint was not trained on, by its header; None where that does not tell."""
    recipe = header.get("recipe")
    count = recipe.get("validation") if isinstance(recipe, dict) else None
    return count if type(count) is int else None


def differences(old: dict[str, Any], new: dict[str, Any], prefix: str = "") -> list[str]:
    """One line for each entry in which two recipes differ."""
    lines = []
    for key in sorted(old.keys() | new.keys()):
        before, after = _plain(old.get(key)), _plain(new.get(key))
        if isinstance(before, dict) and isinstance(after, dict):
            lines += differences(before, after, f"{prefix}{key}.")
        elif before != after:
            lines.append(f"{prefix}{key}: {before!r} in the checkpoint, {after!r} now")
    return lines


def override(recipe: Recipe, assignments: list[str]) -> Recipe:
    """Apply `name=value` or `stage.name=value` from a command line."""
    for assignment in assignments:
        path, equals, text = assignment.partition("=")
        if not equals:
            raise ValueError(f"--set wants name=value, got {assignment!r}")
        recipe = _assign(recipe, path.split("."), text, path)
    return recipe


def check(recipe: Recipe, gated: bool = True) -> Recipe:
    """The recipe as it came; raises a ValueError that names the first entry that nothing can be trained with.

    A recipe for methods without a gate alone, not `gated`, needs no clean images for a dynamic branch.
    """
    plain = NAME.fullmatch(recipe.name) is not None
    _require(plain, "name", repr(recipe.name), "a plain file name of up to 64 letters, digits, '.', '_' and '-'")
    known = ("", *RECIPES)
    _require(recipe.continues in known, "continues", repr(recipe.continues), f"nothing or one of {', '.join(RECIPES)}")
    begun = not recipe.continues or recipe.warm is not None
    _require(
        begun, "continues", repr(recipe.continues), "nothing: this recipe has no warm stage that could begin there"
    )
    _check_ranges(recipe, RANGES)
    for prefix, stage in {"warm.": recipe.warm, "method.": recipe.method}.items():
        if stage is not None:
            _check_ranges(stage, STAGE_RANGES, prefix)
            for name, allowed in STAGE_CHOICES.items():
                value = getattr(stage, name)
                _require(value in allowed, prefix + name, repr(value), " or ".join(allowed))
    _require(recipe.width % 4 == 0, "width", recipe.width, "a multiple of 4")
    _require(recipe.batch % recipe.chunk == 0, "batch", recipe.batch, f"a multiple of chunk, which is {recipe.chunk}")
    few = f"0, which is all, or at least {recipe.batch}, which is a batch"
    _require(recipe.limit == 0 or recipe.limit >= recipe.batch, "limit", recipe.limit, few)
    if recipe.limit > recipe.validation:  # the larger one is named
        rest, kept = IMAGES - recipe.validation, f"{recipe.validation} of {IMAGES} are held out for validation"
        _require(recipe.limit <= rest, "limit", recipe.limit, f"at most {rest}, since {kept}")
    rest = IMAGES - max(recipe.limit, recipe.batch)
    _require(recipe.validation <= rest, "validation", recipe.validation, f"at most {rest}: the others train")
    if gated and recipe.loss == "complementary":
        clean = round(recipe.chunk * recipe.clean_share)  # as `batches.corrupt_chunk` has it
        of = f"of a chunk of {recipe.chunk}"
        _require(clean > 0, "clean_share", recipe.clean_share, f"at least one image {of}: dynamic learns from them")
        left = recipe.static_sees == "all" or clean < recipe.chunk
        _require(left, "clean_share", recipe.clean_share, f"to leave an image {of}: static sees corrupted ones only")
    return recipe


def _check_ranges(node: Recipe | Stage, ranges: dict[str, tuple[float, float]], prefix: str = "") -> None:
    for name, (low, high) in ranges.items():
        value = getattr(node, name)
        _require(low <= value <= high, prefix + name, value, f"{low:.12g} to {high:.12g}")  # nan is in no range


def _require(right: bool, name: str, value: object, expected: str) -> None:
    if not right:
        raise ValueError(f"{name} is {value}, expected {expected}")


def _assign(node: Any, path: list[str], text: str, whole: str) -> Any:
    names = [field.name for field in fields(node)]
    if path[0] not in names:
        raise ValueError(f"--set {whole}: no such entry; known: {', '.join(names)}")
    current = getattr(node, path[0])
    if len(path) > 1:
        if current is None:
            raise ValueError(f"--set {whole}: this recipe has no {path[0]} stage")
        if not is_dataclass(current):
            raise ValueError(f"--set {whole}: {path[0]} has no entries of its own")
        return replace(node, **{path[0]: _assign(current, path[1:], text, whole)})
    if not isinstance(current, (int, float, str)):
        raise ValueError(f"--set {whole}: only numbers and words can be set")
    try:
        value = type(current)(text)
    except ValueError as error:
        raise ValueError(f"--set {whole}: wants {type(current).__name__}, got {text!r}") from error
    return replace(node, **{path[0]: value})


def _plain(value: Any) -> Any:
    """Tuples become lists, as JSON makes them."""
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value
