"""Made-up streams for the app's tests, and the app on them."""

from __future__ import annotations

import made_streams
import pytest

from app.console.shown_stream import ShownStream


@pytest.fixture
def stream() -> ShownStream:
    """Two images, six realisations, 120 frames of a step."""
    return ShownStream("made", "a made-up stream", "knob-ode", made_streams.branches(2, 6, 120), 6, 1)


@pytest.fixture
def scenes() -> ShownStream:
    """Six realisations of 120 frames in which the class changes every 20; no fixed picture beside it."""
    return ShownStream("scenes", "made-up scenes", "knob-ode", made_streams.scenes(), 6)
