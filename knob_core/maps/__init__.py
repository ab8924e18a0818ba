"""Maps over the two knobs: every measure of a set of streams at many settings, and what can be read off them.

`many_settings` measures, `settings_map` refines a grid step by step, `find` looks for a setting that meets goals,
`frontier` sets excess flips against delay, with rivals beside it.
"""

from knob_core.maps.find import Found, find
from knob_core.maps.frontier import Frontier, frontier
from knob_core.maps.many_settings import ManySettings
from knob_core.maps.measure_words import MEASURES
from knob_core.maps.settings_map import Grid, SettingsMap, Step, refine

__all__ = ["MEASURES", "Found", "Frontier", "Grid", "ManySettings", "SettingsMap", "Step", "find", "frontier", "refine"]
