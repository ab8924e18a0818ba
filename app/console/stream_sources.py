"""Where a chosen stream comes from: shipped branch outputs at once, anything else computed on demand.

No torch here: what ships is NumPy. `compute_stream` imports it when something must be computed.
"""

from __future__ import annotations

import hashlib

import numpy as np
import streamlit as st

from app.console.compute_stream import ComputedStream
from app.console.shipped_models import attentive_weights, trained_knobs
from app.console.shown_stream import ShownStream
from app.console.stream_choice import StreamChoice
from knob_core import library, methods
from knob_core.branches import Branches
from knob_core.data import CLASSES, load_sample
from knob_core.library import StreamKey, film_strips

PREFERRED = (methods.DEFAULT, "shot_noise", "step")  # what opens first, where it ships


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
    method, corruption, schedule = PREFERRED
    best = max(
        listed, key=lambda k: (k.method == method, k.seed == 0, k.corruption == corruption, k.schedule == schedule)
    )
    return choice_of(best, best.images[0])


def choice_of(key: StreamKey, image: int) -> StreamChoice:
    """The choice that a shipped stream is."""
    return StreamChoice(
        key.method, key.seed, image, key.corruption, key.schedule, (), key.frames, key.realisations, key.noise_seed
    )


def shipped_key(choice: StreamChoice) -> StreamKey | None:
    """The shipped stream that a choice means, if there is one."""
    for key in shipped_streams():
        if choice.image in key.images and choice_of(key, choice.image) == choice:
            return key
    return None


def shipped_like(choice: StreamChoice) -> StreamKey | None:
    """A shipped stream of the same model, corruption and schedule, whatever its length and noise."""
    wanted = (choice.method, choice.model, choice.corruption, choice.schedule)
    return next((k for k in shipped_streams() if (k.method, k.seed, k.corruption, k.schedule) == wanted), None)


@st.cache_resource(max_entries=6, show_spinner=False)
def _branches(key: StreamKey) -> Branches:
    return library.load_stream(key)


@st.cache_resource(max_entries=12, show_spinner=False)
def shipped_stream(key: StreamKey, image: int) -> ShownStream:
    """A shipped stream with one of its images in view; raises OSError or ValueError with the cause."""
    branches = _branches(key)
    choice = choice_of(key, image)
    place = key.images.index(image)
    pixels, fault = None, ""
    try:
        pixels = film_strips.load(key, place)
    except (OSError, ValueError) as error:  # the traces are there all the same
        fault = str(error)
    return ShownStream(
        stream_id(choice), title(choice, branches, place * key.realisations, len(key.images)), key.method, branches,
        key.realisations, place, pixels, trained_knobs(key.method, key.seed),
        attentive_weights(key.method, key.seed), fault,
    )  # fmt: skip


def computed_stream(choice: StreamChoice, result: ComputedStream) -> ShownStream:
    """A stream that was computed on demand."""
    return ShownStream(
        stream_id(choice), title(choice, result.branches, 0, 1), choice.method, result.branches,
        choice.realisations, 0, result.pixels, trained_knobs(choice.method, choice.model),
        attentive_weights(choice.method, choice.model),
    )  # fmt: skip


def title(choice: StreamChoice, branches: Branches, path: int, images: int) -> str:
    """What is on the scope, and what the read-outs run over."""
    label = int(branches.frame_labels[path, 0])
    name = CLASSES[label] if 0 <= label < len(CLASSES) else "unlabelled image"
    over = f"read-outs over {images} images" if images > 1 else "read-outs over this image"
    return f"{name} in {choice.title()} ({over})"


def fallback() -> tuple[StreamChoice, ShownStream] | None:
    """The stream that opens first, or another where that one cannot be read; None where none can."""
    first = home()
    for key in sorted(shipped_streams(), key=lambda k: choice_of(k, first.image) != first):
        choice = choice_of(key, first.image if first.image in key.images else key.images[0])
        try:
            return choice, shipped_stream(key, choice.image)
        except (OSError, ValueError):
            continue
    return None
