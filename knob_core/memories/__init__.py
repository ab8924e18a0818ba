"""The kinds of memory, as settings name them: switches of one spring (`knob_core.knob`).

attentive   the answer has inertia, and a frame that contradicts it turns omega_n up
plain       the same with constant omega_n
off         nothing is remembered: the paper
"""

from knob_core.memories.attentive import UNFITTED, Attentive, Frames, Memory, Remembered, at_rest

KINDS = ("attentive", "plain", "off")

__all__ = ["KINDS", "UNFITTED", "Attentive", "Frames", "Memory", "Remembered", "at_rest"]
