"""Options of `knob serve` from a table, as a configuration file for Ray Serve has them."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from knob_core.serving import demo_cameras, options, serve_command


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
        ({"port": 99_999}, "port is 99999, expected int >= 0 and <= 65,535"),
        ({"queue": 1.5}, "queue is 1.5, expected int >= 1"),
        ({"queue": True}, "queue is True, expected int >= 1"),
        ({"grace": math.inf}, "grace is inf, expected float > 0"),
        ({"rate": "nan"}, "rate is 'nan', expected float > 0"),
        ({"max_frame": -5}, "max_frame is -5, expected int >= 1"),
    ],
)
def test_what_is_wrong_is_named(table: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        options.from_table(table)


LINES = {
    "--port 99999": "--port: is '99999', expected int >= 0 and <= 65,535",
    "--threads -3": "--threads: is '-3', expected int >= 1",
    "--max-frame -5": "--max-frame: is '-5', expected int >= 1",
    "--rate nan": "--rate: is 'nan', expected float > 0",
    "--grace inf": "--grace: is 'inf', expected float > 0",
    "--idle -1": "--idle: is '-1', expected float > 0",
    "--snapshot-every 0": "--snapshot-every: is '0', expected float > 0",
    "logits:99999999999 --port 0": "model is 'logits:99999999999', expected logits:K with 2 to 100,000 classes",
    "logits:5 --port 0 --device nope": "--device is 'nope', expected auto, cpu, or one that is here",
    "logits:5 --port 0 --state {file}": "--state is {file}, expected a folder, or one that can be made: File exists",
    "logits:5 --port 0 --state {file}/x": (
        "--state is {file}/x, expected a folder, or one that can be made: Not a directory"
    ),
}


@pytest.mark.parametrize("line", LINES)
def test_a_line_that_is_wrong_is_refused_in_one_line(
    line: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("")
    given = line.format(file=tmp_path / "file")
    assert status(serve_command.main, given) == 2
    said = capsys.readouterr().err
    assert LINES[line].format(file=tmp_path / "file") in said.splitlines()[-1] and "Traceback" not in said


CAMERAS = ("--streams -1", "--streams 0", "--rate 0", "--rate nan", "--give-up inf", "--frames -1")


@pytest.mark.parametrize("line", CAMERAS)
def test_cameras_are_refused_in_one_line(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(demo_cameras.main, line) == 2
    name, value = line.split()
    assert f"argument {name}: is '{value}', expected" in capsys.readouterr().err.splitlines()[-1]


def status(command: Callable[[list[str]], int], line: str) -> Any:
    """argparse leaves by itself."""
    try:
        return command(line.split())
    except SystemExit as left:
        return left.code
