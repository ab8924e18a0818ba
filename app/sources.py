"""Where a chosen stream comes from: shipped branch outputs at once, anything else computed on demand.

No torch here: what ships is NumPy. `app.compute` imports it when something must be computed.
"""

from __future__ import annotations

import hashlib
from dataclasses import replace

import numpy as np
import streamlit as st

from app.choice import Choice
from app.stream import Stream
from knob_core import shipped


def stream_id(choice: Choice) -> str:
    """A short name for a stream, from its plain values."""
    return hashlib.sha256(repr(choice).encode()).hexdigest()[:16]
