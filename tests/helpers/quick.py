"""Which of many values `make quick` tries: a test of one check over many values is slow but for a few of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

import pytest


def slow_but(
    quick: Collection[Any], values: Iterable[Any], key: Callable[[Any], Any] = lambda value: value
) -> list[Any]:
    """The values as parameters of a test, all marked slow whose key is not among the `quick` ones."""
    return [value if key(value) in quick else pytest.param(value, marks=pytest.mark.slow) for value in values]
