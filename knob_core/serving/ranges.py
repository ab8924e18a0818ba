"""Numbers of a command line within their ranges: a type for argparse, and for tables with the same names."""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import Any

MANY = 1e9  # what is allowed where nothing else bounds it


@dataclass(frozen=True)
class Range:
    """Numbers of a kind from `least` on, up to `most`."""

    kind: type[int] | type[float]
    least: float
    most: float = MANY
    above: bool = False  # `least` itself is not allowed

    def __call__(self, value: Any) -> Any:
        try:
            found = math.nan if isinstance(value, bool) else self.kind(value)
            whole = self.kind is float or found == float(value)
        except (TypeError, ValueError, OverflowError):
            found, whole = math.nan, False
        if not whole or not self.least <= found <= self.most or (self.above and found == self.least):
            raise argparse.ArgumentTypeError(f"is {value!r}, expected {self}")
        return found

    def __str__(self) -> str:
        return f"{self.kind.__name__} {'>' if self.above else '>='} {self.least:g} and <= {self.most:,.0f}"


def whole(least: int, most: float = MANY) -> Range:
    return Range(int, least, most)


def positive(most: float = MANY) -> Range:
    return Range(float, 0.0, most, above=True)
