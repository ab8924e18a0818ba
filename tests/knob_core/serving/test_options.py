"""Options of `knob serve` from a table, as a configuration file for Ray Serve has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from knob_core.serving import options


def test_a_table_is_the_command_line() -> None:
    line = ["m", "--max-batch", "8", "--policy", "refuse", "--allow-host", "x", "--state", "s", "--ray", "--slew", "2"]
    table = {
        "model": "m",
        "max_batch": 8,
        "policy": "refuse",
        "allow_host": ["x"],
        "state": "s",
        "ray": True,
        "slew": 2,
    }
    assert options.from_table(table) == options.parser().parse_args(line)
    assert options.from_table({}).state is None and options.from_table(table).state == Path("s")


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"modell": "x"}, "option 'modell' is not known, expected some of allow_host"),
        ({"queue": "many"}, "queue is 'many', expected int"),
        ({"policy": "oldest"}, "policy is 'oldest', expected one of newest, refuse"),
        ({"allow_host": "x"}, "expected a list of texts"),
        ({"ray": 1}, "expected true or false"),
    ],
)
def test_what_is_wrong_is_named(table: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        options.from_table(table)
