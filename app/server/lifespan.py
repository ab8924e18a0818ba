"""What goes on while the server runs: compiling at the start, then emptying the sessions that visitors leave behind.

Streamlit keeps the session of a closed page for a while, in case that it comes back, and drops it when the next page is
closed, or later. So that nothing of a visitor stays where no other one comes, the server looks every now and then.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import streamlit as st

from app.server import background_jobs, garbage_collector
from app.server.streamlit_compat import sessions
from knob_core.branches import Branches
from knob_core.maps.many_settings import ManySettings
from knob_core.settings import HOME

SWEEPS = 6  # in the time in which a closed page may come back
Sessions = dict[str, "weakref.ref[Any]"]  # by id


def compile_maps() -> None:
    """Measure eight frames at one setting: the first visitor of *Tune* need not wait for compiled code.

    It is kept on disk, so this takes long once, and a moment ever after.
    """
    z = np.zeros((1, 8, 3), np.float32)
    stream = Branches(z, z, np.zeros((1, 8), np.float32), np.zeros((1, 8), np.int64), np.zeros(8, np.float32))
    ManySettings(stream).measure(np.array([HOME.zeta]), np.array([HOME.omega_n]))


def sweep(before: Sessions) -> Sessions:
    """Empty the sessions that are over; takes those that were there before, returns those that are there now."""
    now = sessions()
    over = [session for id, seen in before.items() if id not in now and (session := seen()) is not None]
    for session in over:  # few: Streamlit's message loop holds the last session until another one comes
        try:
            session.shutdown()
            session.session_state.clear()
        except Exception:  # the others are emptied all the same, and the next sweep comes
            logging.getLogger(__name__).exception("a session that is over could not be emptied")
    if before.keys() - now.keys():
        over.clear()
        garbage_collector.freeze()
    return {id: weakref.ref(session) for id, session in now.items()}


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[None]:
    """Compile, sweep while the server runs, and stop the jobs when it ends."""

    async def sweep_again_and_again() -> None:
        seen: Sessions = {}
        while True:
            await asyncio.sleep(max(0.1, st.get_option("server.disconnectedSessionTTL") / SWEEPS))
            seen = sweep(seen)

    threading.Thread(target=compile_maps, daemon=True, name="knob-warm-up").start()
    sweeping = asyncio.create_task(sweep_again_and_again())
    yield
    sweeping.cancel()
    background_jobs.close()
