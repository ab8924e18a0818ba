"""A guard for commands that choose something: a choice may look at the four training corruptions only.

Why, and what else a choice may look at: train/PROTOCOL.md.
"""

from __future__ import annotations

from collections.abc import Iterable

from knob_core import corruptions

CLEAN = "clean"


def require_training_corruptions(names: Iterable[str]) -> tuple[str, ...]:
    """The names as they came, where each is clean or a training corruption; else an error that names the others."""
    asked = tuple(names)
    allowed = (CLEAN, *corruptions.TRAINING)
    refused = [name for name in asked if name not in allowed]
    if refused:
        seen = ", ".join(f"{name} (a test corruption)" if name in corruptions.TEST else name for name in refused)
        raise ValueError(f"nothing may be chosen by looking at {seen}; allowed: {', '.join(allowed)}")
    return asked


def leave_one_out(names: Iterable[str] = corruptions.TRAINING) -> list[tuple[tuple[str, ...], str]]:
    """Each training corruption once as the unseen one: pairs of (corruptions to train on, corruption to judge by)."""
    asked = require_training_corruptions(names)
    return [(tuple(other for other in asked if other != name), name) for name in asked]
