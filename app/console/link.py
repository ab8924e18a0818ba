"""The whole setting as a link, and back: nothing in a link is trusted.

A value that cannot be used is left at its default and named in a problem; a knob out of range is held at its end.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any
from urllib.parse import parse_qsl, urlencode

from app.console.compared import COLUMNS
from app.console.console_state import FRAME_RATES, TEMPERATURES, View
from app.console.panels import PANELS
from app.console.pins import MOST as MOST_PINS
from app.console.pins import Pins, clean_name
from app.console.stream_choice import FRAMES, MAX_LINK_LIST, StreamChoice
from app.figures.bode_plot import UNITS
from app.widgets.knobs import OMEGA_N, ZETA
from knob_core.goals import KINDS as GOALS
from knob_core.goals import Goals
from knob_core.memories import KINDS
from knob_core.schedules import SCHEDULES
from knob_core.settings import MODES, Settings
from knob_core.streams.scenes import FIXED

PARAMETER = "s."  # how a schedule's own parameters begin
GOAL = "g."  # how goals begin
PIN = "pin."  # how pins begin; their names follow
LEFT_OUT = "left_out"  # names what did not fit into the link

NO_PINS = Pins()
OLD_MEMORY = {"0": "off", "1": "plain"}  # in links of the time before attentive memory


@dataclass(frozen=True)
class Linked:
    """What a link said, and what in it could not be used."""

    settings: Settings
    view: View
    choice: StreamChoice
    problems: tuple[str, ...] = ()
    pins: Pins = NO_PINS


def write(
    settings: Settings, view: View, choice: StreamChoice, home_choice: StreamChoice, pins: Pins = NO_PINS
) -> dict[str, str]:
    """Query parameters; what is at home is left out, so that an address stays short."""
    home_settings, home_view = Settings(), View()
    left_out = "" if fits(choice) else "schedule"
    if left_out:
        choice = replace(choice, schedule=home_choice.schedule, parameters=home_choice.parameters)
    return _acting(settings) | _texts(
        ("fps", settings.frame_rate, home_settings.frame_rate),
        ("panel", view.panel, home_view.panel),
        ("unit", view.unit, home_view.unit),
        ("sort", view.sort, home_view.sort),
        *((GOAL + name, limit, None) for name, limit in settings.goals.set().items()),
        *((name, getattr(choice, name), getattr(home_choice, name)) for name in _CHOICE),
        *((PARAMETER + name, _shortened(value), None) for name, value in choice.parameters),
        (LEFT_OUT, left_out, ""),
        *((PIN + pin.name, ",".join(f"{k}:{v}" for k, v in _acting(pin.settings).items()), None) for pin in pins),
        ("drawn", pins.drawn, ""),
    )


def fits(choice: StreamChoice) -> bool:
    """A link can hold the stream: a list of severities may be too long for one."""
    return all(len(str(_shortened(value))) <= MAX_LINK_LIST for _, value in choice.parameters)


def _shortened(value: float | int | str) -> float | int | str:
    """A list that is too long for a link with its runs counted: `0.88x8` is 0.88 in eight frames."""
    if not isinstance(value, str) or len(value) <= MAX_LINK_LIST:
        return value
    runs = ((text, len(list(same))) for text, same in groupby(value.replace(",", " ").replace(";", " ").split()))
    return " ".join(text if count == 1 else f"{text}x{count}" for text, count in runs)


def _lengthened(text: str) -> str:
    """The inverse of `_shortened`."""
    if "x" not in text:
        return text
    runs = [(value, int(count) if x else 1) for value, x, count in (run.partition("x") for run in text.split())]
    if any(count < 1 for _, count in runs) or sum(count for _, count in runs) > FRAMES[1]:
        raise ValueError(f"expected runs of at least 1 frame, at most {FRAMES[1]} in all")
    return " ".join(value for value, count in runs for _ in range(count))


def write_choice(choice: StreamChoice) -> str:
    """A stream as one line of text, without the limits of an address."""
    own = {name: str(value) for name in _CHOICE if (value := getattr(choice, name)) != getattr(StreamChoice(), name)}
    return urlencode({**own, **{PARAMETER + name: f"{value}" for name, value in choice.parameters}})


def read_choice(text: str) -> StreamChoice:
    """The inverse of `write_choice`, from anybody; raises ValueError where something cannot be used."""
    query = dict(parse_qsl(text, max_num_fields=100))
    problems: list[str] = []
    choice = StreamChoice()
    for name in _CHOICE:
        if name in query:
            choice = _put(choice, name, query[name], problems)
    choice = _parameters(choice, query, problems)
    if problems or write_choice(choice) != text:
        raise ValueError("; ".join(problems) or f"{_short(text)} names no stream")
    return choice


def _acting(settings: Settings) -> dict[str, str]:
    """What of a setting acts on the stream."""
    home = Settings()
    return {"z": f"{settings.zeta:g}", "w": f"{settings.omega_n:g}"} | _texts(
        ("on", settings.on, home.on),
        ("memory", settings.memory, home.memory),
        ("mode", settings.mode, home.mode),
        ("t", settings.temperature, home.temperature),
    )


def _texts(*entries: tuple[str, Any, Any]) -> dict[str, str]:
    """(name, value, value at home) as text; what is at home is left out."""
    out = {}
    for name, value, home in entries:
        text = str(int(value)) if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
        if value != home:
            out[name] = text
    return out


_CHOICE = ("method", "model", "image", "corruption", "schedule", "frames", "realisations", "seed", "scenes", "content")


class _Reader:
    """Values of a query one by one; what cannot be used is named in `problems`. `where`: the part of the link."""

    def __init__(self, query: Mapping[str, str], problems: list[str], where: str = "") -> None:
        self.query, self.problems, self.where = query, problems, where

    def number(self, name: str, bounds: tuple[float, float], home: float) -> float:
        if name not in self.query:
            return home
        text = self.query[name]
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        said = f"{self.where}{name} = {_short(text)} in the link"
        if math.isnan(value):
            instead = "no goal is set" if math.isnan(home) else f"{home:g} is used"
            self.problems.append(f"{said} is not a number; {instead}")
            return home
        if not bounds[0] <= value <= bounds[1]:
            self.problems.append(f"{said} is outside [{bounds[0]:g}, {bounds[1]:g}] and was held there")
        return min(bounds[1], max(bounds[0], value))

    def one_of(self, name: str, allowed: tuple[str, ...], home: str) -> str:
        value = self.query.get(name, home)
        if value in allowed:
            return value
        instead = f"{home} is used" if home else "it is left out"
        self.problems.append(f"{self.where}{name} = {_short(value)} in the link is unknown; {instead}")
        return home

    def acting(self) -> Settings:
        """The inverse of `_acting`."""
        home = Settings()
        memory = self.one_of("memory", (*KINDS, *OLD_MEMORY), home.memory)
        return Settings(
            zeta=self.number("z", ZETA, home.zeta),
            omega_n=self.number("w", OMEGA_N, home.omega_n),
            on=self.one_of("on", ("0", "1"), str(int(home.on))) == "1",
            memory=OLD_MEMORY.get(memory, memory),
            mode=self.one_of("mode", MODES, home.mode),
            temperature=self.number("t", TEMPERATURES, home.temperature),
        )


def read(query: Mapping[str, str], home_choice: StreamChoice) -> Linked:
    """A link's query parameters, clamped and checked one by one; `home_choice` is the stream of an empty link."""
    problems: list[str] = []
    reader = _Reader(query, problems)
    wanted = {name: reader.number(GOAL + name, kind.bounds, math.nan) for name, kind in GOALS.items()}
    settings = replace(
        reader.acting(),
        frame_rate=reader.number("fps", FRAME_RATES, Settings().frame_rate),
        goals=Goals(**{name: limit for name, limit in wanted.items() if not math.isnan(limit)}),
    )
    orders = tuple(sign + name for name in COLUMNS for sign in ("", "-"))
    view = View(
        reader.one_of("panel", tuple(PANELS), View().panel),
        reader.one_of("unit", UNITS, View().unit),
        reader.one_of("sort", ("", *orders), ""),
    )
    choice = home_choice
    if "image" in query and "content" not in query:
        choice = choice.with_content(FIXED)  # links of the time before scenes changed
    for name in _CHOICE:
        if name in query:
            choice = _put(choice, name, query[name], problems)
    choice = choice.with_content(choice.content, choice.scenes)
    choice = _parameters(choice, query, problems)
    if query.get(LEFT_OUT) == "schedule":
        instead = SCHEDULES[choice.schedule].label.lower()
        problems.append(f"the list of severities was too long for the link; the schedule {instead} is shown instead")
    pins = _pins(query, problems)
    return Linked(settings, view, choice, tuple(problems), pins)


def _pins(query: Mapping[str, str], problems: list[str]) -> Pins:
    """The pinned settings, by name."""
    pins = Pins()
    for key, text in query.items():
        if not key.startswith(PIN):
            continue
        name = key.removeprefix(PIN)
        if len(pins) == MOST_PINS or not name or clean_name(name) != name or pins.get(name) is not None:
            why = f"at most {MOST_PINS} are kept" if len(pins) == MOST_PINS else "its name cannot be used"
            problems.append(f"the pin {_short(name)} in the link is left out: {why}")
            continue
        entries = dict(entry.partition(":")[::2] for entry in text[:MAX_LINK_LIST].split(","))
        pins = pins.add(name, _Reader(entries, problems, f"pin {_short(name)}: ").acting())
    drawn = query.get("drawn", "")
    if drawn and pins.get(drawn) is None:
        problems.append(f"drawn = {_short(drawn)} in the link is not one of its pins; none is drawn")
        drawn = ""
    return replace(pins, drawn=drawn)


def _put(choice: StreamChoice, name: str, text: str, problems: list[str]) -> StreamChoice:
    try:
        value: Any = int(text) if isinstance(getattr(choice, name), int) else text
        return replace(choice, **{name: value})
    except ValueError:
        problems.append(f"{name} = {_short(text)} in the link cannot be used; {getattr(choice, name)} is used")
        return choice


_KINDS: dict[str, Callable[[str], float | int | str]] = {"number": float, "integer": int, "text": _lengthened}


def _parameters(choice: StreamChoice, query: Mapping[str, str], problems: list[str]) -> StreamChoice:
    known = {parameter.name: parameter for parameter in SCHEDULES[choice.schedule].parameters}
    values: dict[str, float | int | str] = {}
    for key, text in query.items():
        name = key.removeprefix(PARAMETER)
        if not key.startswith(PARAMETER) or name not in known:
            continue
        try:
            value = _KINDS[known[name].kind](text)
            known[name].check(value)
            if known[name].kind == "text":
                SCHEDULES[choice.schedule](1, **{name: value})
            values[name] = value
        except (ValueError, OverflowError) as error:
            problems.append(f"{key} = {_short(text)} in the link cannot be used ({str(error)[:120]})")
    return choice.with_parameters(values)


def _short(text: str) -> str:
    return repr(text if len(text) <= 24 else text[:24] + "…")
