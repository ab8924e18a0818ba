"""Where a chosen stream comes from: shipped branch outputs at once, anything else computed on demand.

No torch here: what ships is NumPy. `compute_stream` imports it when something must be computed.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import streamlit as st

from app.console import link
from app.console.compute_stream import ComputedStream
from app.console.shipped_models import attentive_weights, reset_reference, trained_knobs
from app.console.shown_stream import ShownStream
from app.console.stream_choice import StreamChoice
from knob_core import library, methods
from knob_core.branches import Branches
from knob_core.data import CLASSES, load_sample
from knob_core.library import StreamKey, film_strips
from knob_core.streams.scenes import FIXED

PREFERRED = (methods.DEFAULT, "shot_noise", "step", "mixed")  # what opens first, where it ships


def stream_id(choice: StreamChoice) -> str:
    """A short name for a stream, from its plain values."""
    return hashlib.sha256(repr(choice).encode()).hexdigest()[:16]


def shipped_streams() -> list[StreamKey]:
    """What ships; empty where nothing does. `why_nothing` has the cause."""
    try:
        return library.streams()
    except (OSError, ValueError, KeyError, TypeError):
        return []


def why_nothing() -> str:
    """The cause of there being no stream at all."""
    try:
        return "none of them can be read" if library.streams() else "the list of shipped streams is empty"
    except (OSError, ValueError, KeyError, TypeError) as error:
        return str(error)


@st.cache_resource(max_entries=1, show_spinner=False)
def labels() -> np.ndarray:
    """(N,) classes of the sample's images; raises where the sample cannot be read."""
    return load_sample()[1]


def sample_fault() -> str:
    """Why there are no images to choose from, or nothing."""
    try:
        labels()
        return ""
    except (OSError, ValueError, KeyError) as error:
        return f"no image can be chosen, because the sample cannot be read: {error}"


def home() -> StreamChoice:
    """The stream that opens first: the preferred one where it ships."""
    listed = shipped_streams()
    if not listed:
        return StreamChoice()
    method, corruption, schedule, content = PREFERRED
    best = max(
        listed,
        key=lambda k: (
            k.method == method, k.seed == 0, k.content == content, k.corruption == corruption, k.schedule == schedule
        ),
    )  # fmt: skip
    return choice_of(best)


def choice_of(key: StreamKey, image: int | None = None) -> StreamChoice:
    """The choice that a shipped stream is, with one of its images in view; None, or one that it has not: the first."""
    shown = image if image in key.images else key.images[0]
    return StreamChoice(
        key.method, key.seed, 0 if key.changing else shown, key.corruption, key.schedule, (),
        key.frames, key.realisations, key.noise_seed, key.content,
    )  # fmt: skip


def shipped_key(choice: StreamChoice) -> StreamKey | None:
    """The shipped stream that a choice means, if there is one."""
    return next((key for key in shipped_streams() if choice_of(key, choice.image) == choice), None)


def shipped_like(choice: StreamChoice) -> StreamKey | None:
    """A shipped stream of the same model, corruption, schedule and content, whatever its length and noise."""
    wanted = (choice.method, choice.model, choice.corruption, choice.schedule, choice.content)
    return next(
        (k for k in shipped_streams() if (k.method, k.seed, k.corruption, k.schedule, k.content) == wanted), None
    )


def companion(choice: StreamChoice) -> tuple[Branches, str] | None:
    """One fixed picture's paths under the same model and corruption, on which a gate's step and tone can be measured.

    Of the same schedule where that ships, else of a step; with it the picture's name. None where nothing ships.
    """
    fixed = choice.with_content(FIXED)
    for wanted in (fixed, replace(fixed, schedule="step", parameters=())):
        if (key := shipped_like(wanted)) is None:
            continue
        try:
            whole, rows = _branches(key), slice(0, key.realisations)
        except (OSError, ValueError):
            continue
        part = Branches(whole.z_static[rows], whole.z_dyn[rows], whole.u_star[rows], whole.labels[rows], whole.severity)
        return part, class_name(int(whole.labels[0]))
    return None


@st.cache_resource(max_entries=6, show_spinner=False)
def _branches(key: StreamKey) -> Branches:
    return library.load_stream(key)


@st.cache_resource(max_entries=12, show_spinner=False)
def shipped_stream(key: StreamKey, image: int) -> ShownStream:
    """A shipped stream with one of its images in view; raises OSError or ValueError with the cause."""
    branches = _branches(key)
    choice = choice_of(key, image)
    place = 0 if key.changing else key.images.index(choice.image)
    pixels, fault = None, ""
    try:
        pixels = film_strips.load(key, place)
    except (OSError, ValueError) as error:  # the traces are there all the same
        fault = str(error)
    return ShownStream(
        stream_id(choice), title(choice, branches, place * key.realisations, film_strips.strips(key)), key.method,
        branches, key.realisations, place, pixels, trained_knobs(key.method, key.seed),
        attentive_weights(key.method, key.seed), reset_reference(key.method, key.seed), fault,
        probe=companion(choice) if key.changing else None,
        source=link.write_choice(choice),
    )  # fmt: skip


def computed_stream(choice: StreamChoice, result: ComputedStream) -> ShownStream:
    """A stream that was computed on demand."""
    return ShownStream(
        stream_id(choice), title(choice, result.branches, 0, 1), choice.method, result.branches,
        choice.realisations, 0, result.pixels, trained_knobs(choice.method, choice.model),
        attentive_weights(choice.method, choice.model), reset_reference(choice.method, choice.model),
        probe=companion(choice) if choice.changing else None,
        source=link.write_choice(choice),
    )  # fmt: skip


def title(choice: StreamChoice, branches: Branches, path: int, images: int) -> str:
    """What is on the scope, and what the read-outs run over."""
    if choice.changing:
        return choice.title()
    over = f"read-outs over {images} images" if images > 1 else "read-outs over this image"
    return f"{class_name(int(branches.frame_labels[path, 0]))} in {choice.title()} ({over})"


def class_name(label: int) -> str:
    """A class in words."""
    return CLASSES[label] if 0 <= label < len(CLASSES) else "unlabelled image"


def fallback() -> tuple[StreamChoice, ShownStream] | None:
    """The stream that opens first, or another where that one cannot be read; None where none can."""
    first = home()
    for key in sorted(shipped_streams(), key=lambda k: choice_of(k, first.image) != first):
        choice = choice_of(key, first.image)
        try:
            return choice, shipped_stream(key, choice.image)
        except (OSError, ValueError):
            continue
    return None
