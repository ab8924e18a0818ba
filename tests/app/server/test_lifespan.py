"""Nothing of a session outlives it, and what the Tune page runs is compiled in advance."""

from __future__ import annotations

import gc
import weakref
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.server import garbage_collector, lifespan
from knob_core.assets import ROOT
from knob_core.memories._loop import follow


class Circle:
    """An object that only the garbage collector can remove."""

    def __init__(self) -> None:
        self.itself = self


def test_what_lived_at_a_freeze_is_collected_after_the_next() -> None:
    live = Circle()
    seen = weakref.ref(live)
    garbage_collector.freeze()
    del live
    gc.collect()
    assert seen() is not None  # excluded, as it should be until somebody looks again
    garbage_collector.freeze()
    assert seen() is None


def test_a_visit_leaves_nothing_behind() -> None:
    """A visit that lived while others' modules were loaded: its controller, stream and endpoint go with it."""
    visit: Any = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=60).run()
    assert not visit.exception
    state = visit.session_state
    parts = [
        weakref.ref(state[name]) for name in ("console_state", "console_controller", "console_endpoint", "downloads")
    ]
    garbage_collector.freeze()
    del visit, state
    garbage_collector.freeze()
    assert [part() for part in parts] == [None] * 4


class Session:
    """As far as the sweep knows one: its state holds an upload."""

    def __init__(self) -> None:
        upload = Circle()
        self.upload, self.over = weakref.ref(upload), False
        self.session_state = {"upload": upload}

    def shutdown(self) -> None:
        self.over = True


class Stubborn(Session):
    """One that cannot be shut down."""

    def shutdown(self) -> None:
        raise RuntimeError("no")


def test_a_session_that_is_over_is_emptied_even_where_it_is_still_held(monkeypatch: pytest.MonkeyPatch) -> None:
    """And where another one cannot be."""
    stubborn, left, stays = Stubborn(), Session(), Session()
    kept = {"stubborn": stubborn, "left": left, "stays": stays}
    monkeypatch.setattr(lifespan, "sessions", lambda: dict(kept))
    seen = lifespan.sweep({})
    assert lifespan.sweep(seen).keys() == kept.keys() and not left.over
    del kept["stubborn"], kept["left"]
    assert lifespan.sweep(seen).keys() == {"stays"}
    assert left.over and left.upload() is None
    assert not stays.over and stays.upload() is not None


def test_the_kernels_of_the_map_are_compiled() -> None:
    lifespan.compile_maps()
    assert follow.machine_code().signatures  # numba's list of compiled forms
