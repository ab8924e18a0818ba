"""The kinds of memory, as objects: what a stream makes of the frames it has seen.

off         nothing is remembered (the paper)
plain       the static branch with the gate's inertia
attentive   the fused answer with inertia that gives way where a frame contradicts it
"""

from knob_core.memories.attentive import UNFITTED, Attentive
from knob_core.memories.base import Gap, Inputs, Memory, Remembered
from knob_core.memories.plain import NoMemory, Plain

__all__ = [
    "KINDS",
    "OFF",
    "PLAIN",
    "UNFITTED",
    "Attentive",
    "Gap",
    "Inputs",
    "Memory",
    "NoMemory",
    "Plain",
    "Remembered",
]

OFF, PLAIN = NoMemory(), Plain()
KINDS = ("attentive", "plain", "off")  # as settings name them
