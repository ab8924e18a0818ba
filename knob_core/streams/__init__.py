"""Streams of pictures whose content and corruption are under control."""

from knob_core.streams.controlled import BLOCK, ControlledStream, Frames

__all__ = ["BLOCK", "ControlledStream", "Frames"]
