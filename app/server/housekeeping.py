"""Let go of what visitors leave behind.

Streamlit keeps the session of a closed page for a while, in case that it comes back, and drops it when the next page is
closed, or later. So that nothing of a visitor stays where no other one comes, the server looks every now and then.
"""

from __future__ import annotations

import asyncio
import logging
import weakref
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import streamlit as st

from app.server import freed_memory, garbage_collector
from app.server.streamlit_internals import end_session, forget_downloads, forget_old_files, sessions

Kept = dict[str, "weakref.ref[Any]"]  # sessions by id
SWEEPS = 6  # in the time in which a closed page may come back


def sweep(before: Kept) -> Kept:
    """Empty the sessions that are over; given those that were there before, returns those that are there now."""
    now = sessions()
    over = [session for id, kept in before.items() if id not in now and (session := kept()) is not None]
    for session in over:
        try:
            end_session(session)
        except Exception:  # the others are emptied all the same, and the next sweep comes
            logging.getLogger(__name__).exception("a session that is over could not be emptied")
    for id in before.keys() - now.keys():  # most of these sessions are gone already, but not what makes their files
        forget_downloads(id)
    forget_old_files()
    if before.keys() - now.keys():
        del over
        garbage_collector.freeze()
        freed_memory.give_back()
    return {id: weakref.ref(session) for id, session in now.items()}


@asynccontextmanager
async def lifespan(app: object) -> AsyncIterator[None]:
    """Sweep while the server runs."""

    async def sweep_again_and_again() -> None:
        seen: Kept = {}
        while True:
            await asyncio.sleep(max(1.0, st.get_option("server.disconnectedSessionTTL") / SWEEPS))
            seen = sweep(seen)

    sweeping = asyncio.create_task(sweep_again_and_again())
    yield
    sweeping.cancel()
