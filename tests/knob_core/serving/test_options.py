"""Options of `knob serve` from a table, as a configuration file for Ray Serve has them."""

from __future__ import annotations

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
        ({"modell": "x"}, "unrecognized arguments: --modell=x"),
        ({"queue": "many"}, "argument --queue: invalid int value: 'many'"),
        ({"policy": "oldest"}, "argument --policy: invalid choice: 'oldest'"),
        ({"ray": 1}, "argument --ray: ignored explicit argument '1'"),
        ({"queue": 1.5}, "argument --queue: invalid int value: '1.5'"),
    ],
)
def test_what_is_wrong_is_named(table: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        options.from_table(table)


LINES = {
    "--port 99999": "--port is 99999, expected one that is free on 127.0.0.1",
    "--port many": "argument --port: invalid int value: 'many'",
    "logits:5 --port 0 --threads -3": "--threads is -3, expected 1 or more",
    "logits:5 --port 0 --max-frame -5": "max_frame is -5, expected",
    "logits:5 --port 0 --grace inf": "grace is inf, expected a finite number > 0",
    "logits:5 --port 0 --idle -1": "idle is -1.0, expected a finite number > 0",
    "logits:5 --port 0 --snapshot-every 0": "every is 0.0, expected a number of seconds > 0",
    "logits:1 --port 0": "model is 'logits:1', expected logits:K with 2 classes or more",
    "logits:5 --port 0 --device nope": "--device is 'nope', expected auto, cpu, or one that is here",
    "logits:5 --port 0 --state {file}": "--state is {file}, expected a folder, or one that can be made: File exists",
    "logits:5 --port 0 --tls-key {file}": "--tls-key is {file}, expected --tls-cert with it",
    "logits:5 --port 0 --tls-cert {file}": "--tls-cert is {file} and --tls-key {file}, expected a certificate",
    "logits:5 --port 0 --tls-cert {file}x": "expected a certificate and its key in PEM format: No such file",
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


CAMERAS = ("--streams -1", "--streams 0", "--rate 0.0", "--rate nan", "--give-up inf", "--frames -1")


@pytest.mark.parametrize("line", CAMERAS)
def test_cameras_are_refused_in_one_line(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status(demo_cameras.main, line) == 2
    name, value = line.split()
    assert f"{name} is {value}, expected a number > 0" in capsys.readouterr().err.splitlines()[-1]


def status(command: Callable[[list[str]], int], line: str) -> Any:
    """argparse leaves by itself."""
    try:
        return command(line.split())
    except SystemExit as left:
        return left.code
