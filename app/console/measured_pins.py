"""What the pinned settings do to the shown stream, kept so that a turn of a knob costs one setting and not several.

Measures are kept for every pin; answers (megabytes) only for the pin that is drawn.
"""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field

from app.console.shown_stream import ShownStream
from knob_core.measures.operator import OperatorMeasures, measure
from knob_core.response import Response
from knob_core.settings import Settings

MOST = 32  # settings and streams whose measures are kept

Key = tuple[str, Settings]


@dataclass
class MeasuredPins:
    """One visitor's; whoever asks holds the state's lock."""

    _measures: OrderedDict[Key, OperatorMeasures] = field(default_factory=OrderedDict)
    _drawn: tuple[Key, Response] | None = None

    def response(self, stream: ShownStream, settings: Settings) -> Response:
        """The whole stream under a setting; the last one asked for is kept."""
        key = stream.id, settings
        if self._drawn is None or self._drawn[0] != key:
            self._drawn = key, stream.respond(settings)
        return self._drawn[1]

    def of(self, stream: ShownStream, settings: Settings) -> OperatorMeasures:
        """Every measure of the whole stream under a setting."""
        key = stream.id, settings
        if key not in self._measures:
            drawn = self._drawn
            response = drawn[1] if drawn is not None and drawn[0] == key else stream.respond(settings)
            self._measures[key] = measure(stream.branches, response, stream.known, stream.without_knob.predicted)
            if len(self._measures) > MOST:
                self._measures.popitem(last=False)
        self._measures.move_to_end(key)
        return self._measures[key]

    def forget(self) -> None:
        """Free the answers, where no pin is drawn."""
        self._drawn = None
