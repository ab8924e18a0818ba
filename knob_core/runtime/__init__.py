"""The gate in a running system: frame in, answer out, knobs free to turn at any time.

stream = KnobStream("knob-ode-s0", zeta=0.7, omega_n=0.4)
answer = stream.step(frame)
"""

from knob_core.runtime.answer import Answer
from knob_core.runtime.knob_stream import KnobStream

__all__ = ["Answer", "KnobStream"]
