"""Live mode: frame by frame it is the stream itself, a turn acts from its frame on, and nothing ever resets it."""

from __future__ import annotations

import numpy as np
import pytest

from app.console.live_run import LiveRun
from app.console.shown_stream import ShownStream
from knob_core import gate
from knob_core.response import respond
from knob_core.settings import Settings


def play(live: LiveRun, stream: ShownStream, settings: Settings, frames: int, at_once: int = 7) -> None:
    while frames > 0:
        live.due = min(at_once, frames)
        frames -= live.due
        live.advance(stream, settings)


@pytest.mark.parametrize("at_once", [1, 7, 64])
def test_it_is_the_stream_itself(stream: ShownStream, at_once: int) -> None:
    live = LiveRun()
    play(live, stream, Settings(), stream.frames, at_once)
    whole, _ = respond(stream.branches, Settings())
    assert live.response is not None
    np.testing.assert_allclose(live.response.p_max, whole.p_max, atol=1e-9)
    np.testing.assert_array_equal(live.response.predicted, whole.predicted)
    branches, response = live.window(stream.branches)
    np.testing.assert_array_equal(branches.severity, stream.branches.severity)
    np.testing.assert_allclose(response.g, whole.g, atol=1e-9)


def test_a_turn_acts_from_its_frame_on(stream: ShownStream) -> None:
    live, before, after = LiveRun(), Settings(0.2, 1.0, memory="off"), Settings(2.0, 0.1, memory="off")
    play(live, stream, before, 50)
    play(live, stream, after, 30)
    zeta, omega_n = np.repeat([0.2, 2.0], [50, 30]), np.repeat([1.0, 0.1], [50, 30])
    u, _ = gate.run(stream.branches.u_star[:, :80], zeta, omega_n)  # one run with knobs that move
    assert live.response is not None
    np.testing.assert_allclose(live.response.u[:, :80], u, atol=1e-9)
    assert np.isnan(live.response.u[:, 80:]).all()
    assert live.omega_n is not None
    np.testing.assert_array_equal(live.omega_n[:80], np.repeat([before.omega_n, after.omega_n], [50, 30]))
    assert live.spans(stream.frames) == [(50, 50)]
    assert live.window(stream.branches)[1].g.shape[1] == 80


def test_it_sweeps_on_and_on(stream: ShownStream) -> None:
    live = LiveRun()
    play(live, stream, Settings(memory="off"), 2 * stream.frames + 10)
    assert live.t == 250 and live.spans(stream.frames) == []
    twice, _ = gate.run(np.tile(stream.branches.u_star, (1, 3)), 1.0, 0.4)
    assert live.response is not None
    np.testing.assert_allclose(live.response.u[:, :10], twice[:, 240:250], atol=1e-9)
    branches, response = live.window(stream.branches)
    np.testing.assert_allclose(response.u, twice[:, 130:250], atol=1e-9)  # in the order of arrival
    np.testing.assert_array_equal(branches.severity, np.roll(stream.branches.severity, -10))


def test_turns_are_forgotten_when_swept_over(stream: ShownStream) -> None:
    live = LiveRun()
    for i in range(40):
        play(live, stream, Settings(zeta=0.5 + 0.01 * (i % 2)), 30)
    assert len(live.turns) <= stream.frames // 30 + 1


def test_many_turns_at_one_frame_are_one(stream: ShownStream) -> None:
    live = LiveRun()
    play(live, stream, Settings(), stream.frames + 20)
    live.due = 0
    for i in range(3000):  # paused, and somebody plays with the knob
        live.advance(stream, Settings(zeta=0.5 + 0.0001 * i))
    assert len(live.turns) == 2 and live.spans(stream.frames) == [(20, 20)]
    live.advance(stream, Settings())  # and back
    assert live.spans(stream.frames) == []
