"""Pinned settings: up to eight, each with a name; one of them is drawn beside the present setting.

Names and actions come from the browser or a link: nothing of them is trusted. A pin keeps what acts on the stream
(knobs, switches, temperature, weights), not the goals and the frame rate, which belong to whoever looks.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

from knob_core.settings import HOME, Settings

KNOBS = ("zeta", "omega_n", "on", "memory", "mode", "temperature")  # of a setting: what acts, but for its weights
MOST = 8
LONGEST = 16  # characters of a name
RESERVED = ("now", "truth", "without", "without knob", "previous", "home")  # rows that are there in any case
LETTERS = "ABCDEFGH"  # names of pins that nobody named


class Pin(NamedTuple):
    """One pinned setting."""

    name: str
    settings: Settings
    id: int = 0  # no other pin has it, and it stays when the name changes


def acting(settings: Settings) -> Settings:
    """The part of a setting that acts on the stream."""
    return replace(settings, goals=HOME.goals, frame_rate=HOME.frame_rate)


def clean_name(text: object) -> str:
    """A name as it may be used: printable, without spaces at its ends, not too long; "" where it cannot be used."""
    if not isinstance(text, str):
        return ""
    name = printable(text)
    return "" if name.casefold() in RESERVED else name


def printable(text: str) -> str:
    """What can be shown of it, without spaces at its ends, and not too long."""
    return "".join(c if c.isprintable() else " " for c in text[: 4 * LONGEST]).strip()[:LONGEST].strip()


@dataclass(frozen=True)
class Pins:
    """All pins in the order in which they were pinned, and the name of the one that is drawn ("": none)."""

    pins: tuple[Pin, ...] = ()
    drawn: str = ""

    def __iter__(self) -> Iterator[Pin]:
        return iter(self.pins)

    def __len__(self) -> int:
        return len(self.pins)

    def get(self, name: object) -> Pin | None:
        """The pin of that name."""
        return next((pin for pin in self.pins if pin.name == name), None)

    def by_id(self, id: object) -> Pin | None:
        """The pin with that id."""
        return next((pin for pin in self.pins if pin.id == id), None)

    @property
    def shown(self) -> Pin | None:
        """The pin that is drawn."""
        return self.get(self.drawn)

    def same(self, settings: Settings) -> Pin | None:
        """The pin that keeps this very setting."""
        own = acting(settings)
        return next((pin for pin in self.pins if pin.settings == own), None)

    @property
    def next_name(self) -> str:
        """The first letter that no pin is called by; "" where there is no room for one more."""
        return next((letter for letter in LETTERS if self.get(letter) is None), "") if len(self) < MOST else ""

    def press(self, settings: Settings) -> Pins:
        """The button was pressed: pin this setting and draw it; one that is pinned already is removed."""
        if (known := self.same(settings)) is not None:
            return self.remove(known.name)
        return self.add(self.next_name, settings)

    def add(self, name: str, settings: Settings) -> Pins:
        """One more, drawn; nothing changes where the name is empty or taken, or where there is no room."""
        if not name or self.get(name) is not None or len(self) >= MOST:
            return self
        free = next(id for id in range(MOST) if self.by_id(id) is None)
        return Pins((*self.pins, Pin(name, acting(settings), free)), name)

    def remove(self, name: str) -> Pins:
        return Pins(tuple(pin for pin in self.pins if pin.name != name), "" if self.drawn == name else self.drawn)

    def rename(self, name: str, to: str) -> Pins:
        """Another name; nothing changes where it is empty or taken."""
        if not to or self.get(to) is not None or self.get(name) is None:
            return self
        renamed = tuple(pin._replace(name=to) if pin.name == name else pin for pin in self.pins)
        return Pins(renamed, to if self.drawn == name else self.drawn)

    def draw(self, name: str) -> Pins:
        """Draw this one, or none where it is drawn already."""
        return self if self.get(name) is None else replace(self, drawn="" if self.drawn == name else name)

    def act(self, action: Mapping[str, object]) -> Pins:
        """What the browser asks for; anything that cannot be done leaves the pins as they are."""
        what, pin = action.get("act"), self.by_id(action.get("pin"))
        if pin is None:
            return self
        if what == "rename":
            return self.rename(pin.name, clean_name(action.get("to")))
        return self.remove(pin.name) if what == "remove" else self.draw(pin.name) if what == "draw" else self

    def refusal(self, action: Mapping[str, object]) -> str:
        """Why a pin does not get the name that the browser asks for; "" where it does, or nothing was asked."""
        pin, to = self.by_id(action.get("pin")), action.get("to")
        if action.get("act") != "rename" or pin is None or not isinstance(to, str) or clean_name(to) == pin.name:
            return ""
        if not clean_name(to):
            return f"“{printable(to)}” cannot be a pin's name: it stands for something else here"
        return f"“{clean_name(to)}” is another pin's name" if self.get(clean_name(to)) else ""

    def button(self, settings: Settings) -> str:
        """What the button would do now; "" where there is no room."""
        if (known := self.same(settings)) is not None:
            return f"unpin {known.name}"
        return f"pin {self.next_name}" if self.next_name else ""

    def button_help(self, settings: Settings) -> str:
        """The same in a sentence."""
        if (known := self.same(settings)) is not None:
            return f"Forget {known.name}, which is this very setting"
        if not self.next_name:
            return f"There are {MOST} pins already: remove one under Compare first"
        return f"Keep this setting as {self.next_name}, dashed, to compare with"
