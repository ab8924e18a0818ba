"""From a map's numbers to the Tune page's cards and figures. It draws and changes no state."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from app.console.pins import Pin, Pins, acting
from app.figures import map_figures as draw
from app.figures.map_figures import IsoLine, Mark
from app.tune.map_job import PLACES, Charted, worst_at
from app.widgets.knobs import HOME, OMEGA_N, ZETA
from knob_core import goals as goals_
from knob_core.goals import Goals
from knob_core.maps import MEASURES, Frontier, SettingsMap, frontier
from knob_core.maps.iso_lines import iso_line
from knob_core.settings import Settings

DASHES = ("dash", "dot", "", "dash")  # of the goals' lines, in the order of the goals
LABELS = {"excess_flips": "excess flips per 100 frames", "delay": "frames to a new class",
          "confident_errors": "confident errors per 100 frames", "accuracy": "right answers"}  # fmt: skip
ZETAS, OMEGAS = np.array(ZETA), np.array(OMEGA_N)


@dataclass(frozen=True)
class Shown:
    """All that the page draws from."""

    charted: Charted
    measure: str  # on the map
    goals: Goals
    settings: Settings
    pins: Pins = field(default_factory=Pins)

    @property
    def front(self) -> Frontier | None:
        return frontier(self.charted.map)

    @property
    def here(self) -> list[Pin]:
        """The pins that differ from the present setting in the knobs alone: this map is also theirs."""
        own = acting(self.settings)
        return [
            p for p in self.pins if replace(p.settings, zeta=own.zeta, omega_n=own.omega_n) == replace(own, on=True)
        ]


def at(charted: Charted, zeta: float, omega_n: float) -> dict[str, float]:
    """Every measure of one setting, in the set of streams where it is worst."""
    return worst_at(charted.sets, [(zeta, omega_n)])[0]


def now(charted: Charted, settings: Settings) -> dict[str, float]:
    """The same for the present setting; without Knob where it is off, as the console shows it."""
    return at(charted, settings.zeta, settings.omega_n) if settings.on else charted.off


def measure_words(name: str) -> str:
    """A measure by the name that it has on every page."""
    return MEASURES[name].words


def measurable(map_: SettingsMap) -> list[str]:
    """Measures that these streams can tell."""
    return [name for name in MEASURES if np.isfinite(map_.values[name]).any()]


def cards(now: dict[str, float], goals: Goals, sets: int) -> list[dict[str, Any]]:
    """The four that can have a goal, and the likelihood; each says whether its goal is met."""
    out = []
    wanted = goals.set()
    for name, kind in goals_.KINDS.items():
        value, measure = now[kind.measure], MEASURES[kind.measure]
        card: dict[str, Any] = {"id": name, "label": LABELS[name], "now": measure.shown(value), "rest": [], "help": ""}
        if name == "delay":
            card["rest"].append(["median", MEASURES["delay_median"].shown(now["delay_median"])])
            card["rest"].append(["slowest tenth", MEASURES["delay_90"].shown(now["delay_90"])])
        if name in wanted:
            verdict = goals_.verdict(name, wanted[name], value)
            sign = "✓ met" if verdict.met else "✗ missed" if math.isfinite(value) else "not measurable"
            card["rest"].insert(0, [sign, f"{kind.sense} {kind.shown(wanted[name])}"])
            card |= {
                "mood": "good" if verdict.met else "bad",
                "help": f"{measure_words(kind.measure)}: {verdict.words}",
            }
        out.append(card)
    nll, ece = MEASURES["nll"], MEASURES["ece"]
    out.append({"id": "nll", "label": "surprise (NLL)", "now": nll.shown(now["nll"]), "help": nll.words,
                "rest": [["miscalibration (ECE)", ece.shown(now["ece"])]]})  # fmt: skip
    return out


def figures(shown: Shown, now: dict[str, float]) -> list[dict[str, Any]]:
    """The map, and the frontier where there is one."""
    front = shown.front
    return [_map(shown), *([_frontier(shown, front, now)] if front is not None else [])]


def shade(values: np.ndarray, more_is_better: bool) -> np.ndarray:
    """In [0, 1], 1 is worst; the root, so that differences between good settings are seen."""
    cost = -values if more_is_better else values
    if not np.isfinite(cost).any():
        return np.zeros(cost.shape)
    low, high = np.nanmin(cost), np.nanquantile(cost, 0.97)
    return np.sqrt(np.clip((cost - low) / max(high - low, 1e-12), 0, 1))


def met(map_: SettingsMap, goals: Goals) -> np.ndarray:
    """(A, B) bool: every goal that these streams can tell is met, and there is one."""
    inside, any_ = np.ones((len(map_.zeta), len(map_.omega_n)), bool), False
    for name, limit in goals.set().items():
        kind = goals_.KINDS[name]
        value = map_.worst(kind.measure)
        if np.isfinite(value).any():
            any_ = True
            inside &= value >= limit if kind.at_least else value <= limit
    return inside & any_


def _map(shown: Shown) -> dict[str, Any]:
    map_, measure, name = shown.charted.map, MEASURES[shown.measure], measure_words(shown.measure)
    values = map_.worst(shown.measure)
    whole = draw.cells(values, map_.zeta, map_.omega_n, PLACES)
    lines = []
    for dash, (goal, limit) in zip(DASHES, shown.goals.set().items(), strict=False):
        kind = goals_.KINDS[goal]
        x, y = iso_line(map_.worst(kind.measure), limit)
        words = f"goal: {measure_words(kind.measure)}, {kind.sense} {kind.shown(limit)}"
        lines.append(IsoLine(words, _fine(x, map_.omega_n), _fine(y, map_.zeta), dash))
    meets = met(map_, shown.goals)
    over = "" if map_.sets == 1 else f", worst of {map_.sets} streams"
    best, worst = (np.nanmin, np.nanmax)[:: -1 if measure.more_is_better else 1]
    measured = np.isfinite(values).any()
    ends = f"From {measure.shown(best(values))}, without red, to {measure.shown(worst(values))}. " if measured else ""
    share = f"{100 * meets.mean():.0f} % of the settings meet every goal. " if shown.goals else ""
    return draw.settings_map(
        shade(whole, measure.more_is_better),
        draw.cells(meets, map_.zeta, map_.omega_n, PLACES),
        [measure.shown(value) for value in whole[::-1].ravel()], ZETAS, OMEGAS, PLACES, marks(shown), lines,
        title=f"{name[0].upper()}{name[1:]}{over}",
        words=f"{ends}{share}Click a setting, or use arrow keys and Enter, to turn the knobs there.",
        alt=f"map of {name} over damping and natural frequency",
    )  # fmt: skip


def _fine(places: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """Places of a level as places of the whole grid."""
    fine = np.log(axis / axis[0]) / np.log(axis[-1] / axis[0]) * (PLACES - 1)
    return np.interp(places, np.arange(len(axis)), fine)


def marks(shown: Shown) -> list[Mark]:
    """Home, the pins and where the knobs stand, the last on top."""
    found = [Mark("home", HOME.zeta, HOME.omega_n, "muted", "circle-open")]
    found += [Mark(pin.name, *_held(pin.settings), "confidence", "x") for pin in shown.here]
    if shown.settings.on:
        found.append(Mark("now", *_held(shown.settings), "gate"))
    return found


def _held(settings: Settings) -> tuple[float, float]:
    """The knobs, within the map."""
    return min(max(settings.zeta, ZETA[0]), ZETA[1]), min(max(settings.omega_n, OMEGA_N[0]), OMEGA_N[1])


def _frontier(shown: Shown, front: Frontier, now: dict[str, float]) -> dict[str, Any]:
    labels = [
        f"ζ {z:.3g}, ωₙ {w:.3g}: {f:.2f} excess flips, {d:.2f} frames"
        for z, w, d, f in zip(front.zeta, front.omega_n, front.delay, front.flips, strict=True)
    ]
    spots: list[tuple[str, float, float, str, str]] = []
    if shown.here:
        found = worst_at(shown.charted.sets, [(pin.settings.zeta, pin.settings.omega_n) for pin in shown.here])
        spots += [
            (pin.name, there["delay_mean"], there["excess_flips"], "confidence", "x")
            for pin, there in zip(shown.here, found, strict=True)
        ]
    if shown.settings.on:
        spots.append(("now", now["delay_mean"], now["excess_flips"], "text", "circle-open"))
    rivals = [(curve.name, curve.delay, curve.flips) for curve in shown.charted.rivals]
    beside = "Thin: rival filters, as tuned on validation streams. " if rivals else ""
    return draw.frontier(
        front.delay, front.flips, labels, front.named, rivals, spots, (shown.goals.delay, shown.goals.excess_flips),
        words=f"Each point is a setting that no other beats in both. {beside}Click one to turn the knobs there.",
        alt=f"frontier of {len(labels)} settings: from {labels[0]} to {labels[-1]}",
    )  # fmt: skip


def place_of(settings: Settings) -> str:
    """The map's cell in which the knobs stand, as the browser names it."""
    zeta, omega_n = _held(settings)
    row, column = round(draw.place(zeta, ZETAS, PLACES)), round(draw.place(omega_n, OMEGAS, PLACES))
    return f"map/{row}.{np.geomspace(*OMEGA_N, PLACES)[column]:.3g}"


def picked_setting(pick: object, charted: Charted) -> tuple[float, float] | None:
    """(zeta, omega_n) of what the browser says was picked; None for anything that is not on the page."""
    if not isinstance(pick, str):
        return None
    figure, _, name = pick.partition("#")[0].partition("/")
    if figure == "map":
        row, _, column = name.partition(".")
        omegas = np.geomspace(*OMEGA_N, PLACES)
        columns = [f"{value:.3g}" for value in omegas]
        if row in {str(i) for i in range(PLACES)} and column in columns:
            return float(np.geomspace(*ZETA, PLACES)[int(row)]), float(omegas[columns.index(column)])
    front = frontier(charted.map) if figure == "frontier" else None
    if front is not None and name[:1] == "f" and name[1:].isdecimal() and int(name[1:]) < len(front.zeta):
        return float(front.zeta[int(name[1:])]), float(front.omega_n[int(name[1:])])
    return None
