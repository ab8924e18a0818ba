"""Fit to labelled streams: is someone speaking? Real meetings, which ship with the package. Needs `pip install .`

Prints what Knob and the rules of practice do on recordings that none of them was fitted on.
"""

from __future__ import annotations

from pathlib import Path

from knob_core import fit, settings
from knob_core.data import real


def main() -> None:
    speech = real.load("speech")  # Silero VAD on 13 clips of meetings, 31.25 frames/s
    found = fit(speech.logits, speech.labels, speech.groups, max_delay=8)  # frames until a change is shown, on average
    print(found)
    settings.save(found.settings, Path("knob.toml"))
    print('knob.toml is written: Knob(settings="knob.toml"), or KnobStream(model, settings="knob.toml")')


if __name__ == "__main__":
    main()
