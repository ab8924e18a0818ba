"""Which stream is looked at, as plain values: they key every cache, fill the menus and stand in the link."""

from __future__ import annotations

from dataclasses import dataclass, replace

from knob_core import methods
from knob_core.data import CLASSES
from knob_core.schedules import SCHEDULES
from knob_core.streams.scenes import CONTENTS, FIXED, LISTED, Scene, read_list

MODEL_ORDER = tuple(reversed(methods.METHODS))  # in menus: the newest method first
CORRUPTIONS = {  # in families, as the benchmark has them; importing them from knob_core would import torch
    "noise": ("gaussian_noise", "shot_noise", "impulse_noise", "speckle_noise"),
    "blur": ("defocus_blur", "glass_blur", "motion_blur", "zoom_blur", "gaussian_blur"),
    "weather": ("snow", "frost", "fog", "brightness", "spatter"),
    "digital": ("contrast", "elastic_transform", "pixelate", "jpeg_compression", "saturate"),
}
CORRUPTION_NAMES = tuple(name for family in CORRUPTIONS.values() for name in family)
IMAGES = 1000  # in the sample that ships
FRAMES = (40, 3000)
REALISATIONS = (1, 32)
SEEDS = (0, 9999)
DRAWN = "listed"  # the schedule that takes a list: drawn by hand, or read from a CSV file
MAX_LINK_LIST = 2000  # characters of a listed schedule in a link

Parameters = tuple[tuple[str, float | int | str], ...]


@dataclass(frozen=True)
class StreamChoice:
    """One stream, or one that could be computed."""

    method: str = methods.DEFAULT
    model: int = 0  # the training seed of the checkpoint
    image: int = 0  # of the sample; 0 where content changes
    corruption: str = "shot_noise"
    schedule: str = "step"
    parameters: Parameters = ()  # those that differ from the schedule's own, sorted by name
    frames: int = 240
    realisations: int = 8
    seed: int = 0  # of the noise; where content changes also of its cuts and pictures
    content: str = FIXED  # a name of CONTENTS
    scenes: str = ""  # pictures and their frames, of content "listed"

    def __post_init__(self) -> None:
        methods.get(self.method)
        if self.corruption not in CORRUPTION_NAMES:
            raise ValueError(f"corruption is {self.corruption!r}, expected one of {', '.join(CORRUPTION_NAMES)}")
        if self.schedule not in SCHEDULES:
            raise ValueError(f"schedule is {self.schedule!r}, expected one of {', '.join(SCHEDULES)}")
        if self.content not in CONTENTS:
            raise ValueError(f"content is {self.content!r}, expected one of {', '.join(CONTENTS)}")
        self.listed()
        for name, value, (low, high) in (
            ("image", self.image, (0, IMAGES - 1)),
            ("frames", self.frames, FRAMES),
            ("realisations", self.realisations, REALISATIONS),
            ("seed", self.seed, SEEDS),
            ("model", self.model, SEEDS),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                raise ValueError(f"{name} is {value!r}, expected a whole number in [{low}, {high}]")

    @property
    def changing(self) -> bool:
        """The picture changes."""
        return self.content != FIXED

    def listed(self) -> tuple[Scene, ...]:
        """The own list of scenes; empty for other content."""
        if self.content != LISTED:
            return ()
        if len(self.scenes) > MAX_LINK_LIST:
            raise ValueError(f"the list of scenes has {len(self.scenes)} characters, expected at most {MAX_LINK_LIST}")
        return read_list(self.scenes, CLASSES, IMAGES)

    def with_content(self, content: str, scenes: str = "") -> StreamChoice:
        """The same stream with other content; what does not belong to it is left out: equal streams are equal."""
        image = self.image if content == FIXED else 0
        return replace(self, content=content, image=image, scenes=scenes if content == LISTED else "")

    def with_parameters(self, values: dict[str, float | int | str]) -> StreamChoice:
        """The same stream with other schedule parameters; defaults are left out, so that equal streams are equal."""
        known = {parameter.name: parameter for parameter in SCHEDULES[self.schedule].parameters}
        kept = []
        for name, value in sorted(values.items()):
            if name not in known:
                raise ValueError(f"{self.schedule} has no parameter {name!r}, it has {', '.join(known)}")
            known[name].check(value)
            if value != known[name].default:
                kept.append((name, value))
        return replace(self, parameters=tuple(kept))

    def title(self) -> str:
        """In a few words."""
        spoiled = f"{self.corruption.replace('_', ' ')}, {SCHEDULES[self.schedule].label.lower()}"
        return f"{CONTENTS[self.content].label.lower()} in {spoiled}" if self.changing else spoiled
