"""Commands that fit, evaluate and report."""

import knob_core  # noqa: F401 (Ctrl-C is one line from here on, before torch is imported)
