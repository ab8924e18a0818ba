"""The whole setting as a link, and back: nothing in a link is trusted.

A value that cannot be used is left at its default and named in a problem; a knob out of range is held at its end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from app.console.console_state import FRAME_RATES, TEMPERATURES, View
from app.console.panels import PANELS
from app.console.stream_choice import MAX_LINK_LIST, StreamChoice
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

OLD_MEMORY = {"0": "off", "1": "plain"}  # in links of the time before attentive memory


@dataclass(frozen=True)
class Linked:
    """What a link said, and what in it could not be used."""

    settings: Settings
    view: View
    choice: StreamChoice
    problems: tuple[str, ...] = ()


def write(settings: Settings, view: View, choice: StreamChoice, home_choice: StreamChoice) -> dict[str, str]:
    """Query parameters; what is at home is left out, so that an address stays short."""
    out = {"z": f"{settings.zeta:g}", "w": f"{settings.omega_n:g}"}
    home_settings, home_view = Settings(), View()
    for name, value, home in (
        ("on", settings.on, home_settings.on),
        ("memory", settings.memory, home_settings.memory),
        ("mode", settings.mode, home_settings.mode),
        ("fps", settings.frame_rate, home_settings.frame_rate),
        ("t", settings.temperature, home_settings.temperature),
        ("panel", view.panel, home_view.panel),
        ("unit", view.unit, home_view.unit),
        *((GOAL + name, limit, None) for name, limit in settings.goals.set().items()),
        *((name, getattr(choice, name), getattr(home_choice, name)) for name in _CHOICE),
        *((PARAMETER + name, value, None) for name, value in choice.parameters),
    ):
        text = str(int(value)) if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
        if value != home and len(text) <= MAX_LINK_LIST:
            out[name] = text
    return out


_CHOICE = ("method", "model", "image", "corruption", "schedule", "frames", "realisations", "seed", "scenes", "content")


def read(query: Mapping[str, str], home_choice: StreamChoice) -> Linked:
    """A link's query parameters, clamped and checked one by one; `home_choice` is the stream of an empty link."""
    problems: list[str] = []
    settings, view, choice = Settings(), View(), home_choice

    def number(name: str, bounds: tuple[float, float], home: float) -> float:
        if name not in query:
            return home
        text = query[name]
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if math.isnan(value):
            instead = "no goal is set" if math.isnan(home) else f"{home:g} is used"
            problems.append(f"{name} = {_short(text)} in the link is not a number; {instead}")
            return home
        if not bounds[0] <= value <= bounds[1]:
            problems.append(
                f"{name} = {_short(text)} in the link is outside [{bounds[0]:g}, {bounds[1]:g}] and was held there"
            )
        return min(bounds[1], max(bounds[0], value))

    def one_of(name: str, allowed: tuple[str, ...], home: str) -> str:
        value = query.get(name, home)
        if value in allowed:
            return value
        problems.append(f"{name} = {_short(value)} in the link is unknown; {home} is used")
        return home

    wanted = {name: number(GOAL + name, kind.bounds, math.nan) for name, kind in GOALS.items()}
    settings = Settings(
        zeta=number("z", ZETA, settings.zeta),
        omega_n=number("w", OMEGA_N, settings.omega_n),
        on=one_of("on", ("0", "1"), str(int(settings.on))) == "1",
        memory=OLD_MEMORY.get(memory := one_of("memory", (*KINDS, *OLD_MEMORY), settings.memory), memory),
        mode=one_of("mode", MODES, settings.mode),
        frame_rate=number("fps", FRAME_RATES, settings.frame_rate),
        temperature=number("t", TEMPERATURES, settings.temperature),
        goals=Goals(**{name: limit for name, limit in wanted.items() if not math.isnan(limit)}),
    )
    view = View(one_of("panel", tuple(PANELS), view.panel), one_of("unit", UNITS, view.unit))
    if "image" in query and "content" not in query:
        choice = choice.with_content(FIXED)  # links of the time before scenes changed
    for name in _CHOICE:
        if name in query:
            choice = _put(choice, name, query[name], problems)
    choice = choice.with_content(choice.content, choice.scenes)
    return Linked(settings, view, _parameters(choice, query, problems), tuple(problems))


def _put(choice: StreamChoice, name: str, text: str, problems: list[str]) -> StreamChoice:
    try:
        value: Any = int(text) if isinstance(getattr(choice, name), int) else text
        return replace(choice, **{name: value})
    except ValueError:
        problems.append(f"{name} = {_short(text)} in the link cannot be used; {getattr(choice, name)} is used")
        return choice


def _parameters(choice: StreamChoice, query: Mapping[str, str], problems: list[str]) -> StreamChoice:
    known = {parameter.name: parameter for parameter in SCHEDULES[choice.schedule].parameters}
    values: dict[str, float | int | str] = {}
    for key, text in query.items():
        name = key.removeprefix(PARAMETER)
        if not key.startswith(PARAMETER) or name not in known:
            continue
        try:
            kind = {"number": float, "integer": int, "text": str}[known[name].kind]
            value = kind(text)
            known[name].check(value)
            if known[name].kind == "text":
                SCHEDULES[choice.schedule](1, **{name: value})
            values[name] = value
        except (ValueError, OverflowError) as error:
            problems.append(f"{key} = {_short(text)} in the link cannot be used ({str(error)[:120]})")
    return choice.with_parameters(values)


def _short(text: str) -> str:
    return repr(text if len(text) <= 24 else text[:24] + "…")
