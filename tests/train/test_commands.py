"""A command that fails says why in one line, and its exit code says that it failed."""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import train
from train import commands
from train.training.loop import Diverged


def fail(error: BaseException) -> None:
    raise error


def test_a_command_that_ends_well_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("train.it", lambda: None) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("error", [ValueError("seed is -1"), FileNotFoundError("no data in x"), Diverged("NaN")])
def test_an_error_of_the_user_or_the_data_is_one_line(error: Exception, capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("train.it", lambda: fail(error)) == 1
    assert capsys.readouterr().err == f"train.it: {error}\n"


def test_a_full_disk_under_what_is_printed_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """A log on a full disk ended a training in "No space left on device", without a word of what had no space."""
    assert commands.run("train.it", lambda: fail(OSError(errno.ENOSPC, "No space left on device"))) == 1
    told = "train.it: the disk is full: what this command prints could not be written\n"
    assert capsys.readouterr().err == told
    named = OSError(errno.ENOSPC, "No space left on device", "runs/.lock")
    assert commands.run("train.it", lambda: fail(named)) == 1
    assert "runs/.lock" in capsys.readouterr().err


def test_an_interrupt_says_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("train.it", lambda: fail(KeyboardInterrupt())) == 130
    assert "the same command goes on" in capsys.readouterr().err


def test_a_defect_of_ours_keeps_its_trace() -> None:
    with pytest.raises(TypeError):
        commands.run("train.it", lambda: fail(TypeError("a bug")))


def test_a_wrong_argument_has_its_own_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("train.it", lambda: commands.checked_count(7, 5)) == 2
    assert capsys.readouterr().err == "train.it: --count is 7, expected 1 to 5\n"
    assert commands.checked_count(None, 5) == 5 and commands.checked_count(3, 5) == 3


@pytest.mark.parametrize(
    ("first", "count", "told"),
    [
        (10_000, 2000, "--first is 10000, expected a multiple of 250 from 0 to 9750"),
        (100, 2000, "--first is 100, expected a multiple of 250 from 0 to 9750"),
        (-250, 2000, "--first is -250, expected a multiple"),
        (9750, 2000, "--count is 2000, expected 2 to 250"),
        (0, 1, "--count is 1, expected 2 to 10000"),
        (0, int("9" * 1000), "--count is 9999999999999999999999999999999999999..., expected 2 to 10000"),
    ],
)
def test_a_range_that_is_not_there_names_what_is_wrong_with_it(first: int, count: int, told: str) -> None:
    assert commands.checked_range(9750, 250, 10_000, 250, 2) == slice(9750, 10_000)
    with pytest.raises(commands.WrongArgument, match=told.replace(".", r"\.")):
        commands.checked_range(first, count, 10_000, 250, 2)


def test_a_place_to_write_to_is_checked_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert commands.out_folder(str(tmp_path / "new" / "one")) == tmp_path / "new" / "one"
    assert commands.out_file(str(tmp_path / "file")) == tmp_path / "file"
    assert commands.out_file("x.csv") == Path("x.csv")
    for place in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(argparse.ArgumentTypeError, match=r"file' is a file, expected a folder"):
            commands.out_folder(str(place))
    with pytest.raises(argparse.ArgumentTypeError, match="is a folder, expected a file"):
        commands.out_file(str(tmp_path))
    with pytest.raises(argparse.ArgumentTypeError, match=r"file' is a file, expected a folder"):
        commands.out_file(str(tmp_path / "file" / "x.csv"))
    with pytest.raises(argparse.ArgumentTypeError, match="'/dev/null' is a device or pipe, expected a file"):
        commands.out_file("/dev/null")
    for check in (commands.out_file, commands.out_folder):
        with pytest.raises(argparse.ArgumentTypeError, match="is empty, expected a path"):
            check("")


def test_a_missing_tool_is_named_but_a_missing_module_of_ours_is_a_defect(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("train.it", lambda: fail(ModuleNotFoundError("no", name="matplotlib.figure"))) == 1
    assert capsys.readouterr().err.startswith("train.it: needs matplotlib.figure; install")
    with pytest.raises(ModuleNotFoundError):
        commands.run("train.it", lambda: fail(ModuleNotFoundError("no", name="knob_core.nothing")))


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (commands.positive, "3", ("0", "-1", "1.5", "x", "nan", "", "9" * 20, "9" * 5000)),
        (commands.threads, "8", ("0", "1025")),
        (commands.path, "a/b", ("", "\x00", "x" * 300, "a/" + "x" * 5000)),
        (commands.out_file, "a/b", ("\x00", "x" * 300)),
        (commands.out_folder, "a/b", ("\x00", "x" * 300)),
        (commands.seed, "0", ("-1", "1.5", "x", str(2**63))),
        (commands.device, "cpu", ("toaster", "cuda:99", "meta", "vulkan")),
    ],
)
def test_arguments_are_checked_before_anything_is_loaded(check, good: str, bad: tuple[str, ...]) -> None:
    assert str(check(good)) == good
    for text in bad:
        with pytest.raises(argparse.ArgumentTypeError):
            check(text)


def test_an_option_that_is_given_again_keeps_its_earlier_values_and_each_value_once() -> None:
    parser = commands.parser("train.it", None)
    default = ("a", "b")
    parser.add_argument("--only", nargs="+", action=commands.Several, choices=("a", "b", "c"), default=default)
    assert parser.parse_args([]).only == default
    assert parser.parse_args(["--only", "c", "--only", "a", "c"]).only == ["c", "a"]
    assert parser.parse_args(["--only", "b", "b"]).only == ["b"] and default == ("a", "b")


@pytest.mark.parametrize(
    ("name", "given", "dest", "expected"),
    [
        ("fit", ["--all", "--set", "limit=640", "--set", "method.epochs=1"], "set", ["limit=640", "method.epochs=1"]),
        ("fit", ["--all", "--seeds", "5", "--seeds", "7", "5"], "seeds", [5, 7]),
        ("evaluate", ["--only", "fog", "fog", "--only", "snow"], "only", ["fog", "snow"]),
        ("outside.__main__", ["--models", "text", "--models", "speech"], "models", ["text", "speech"]),
    ],
)
def test_options_of_several_values_may_be_given_again(
    name: str, given: list[str], dest: str, expected: list[object]
) -> None:
    parse = importlib.import_module(f"train.{name}").parse
    assert vars(parse(given))[dest] == expected


COMMANDS = sorted(path.stem for path in Path(train.__path__[0]).glob("*.py") if "__main__" in path.read_text())


@pytest.mark.parametrize("name", [*COMMANDS, "report.__main__"])
def test_every_command_reports_through_this_module(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module(f"train.{name}")
    assert module.commands is commands
    with pytest.raises(SystemExit) as caught:
        module.main(["--no-such-option"])
    assert caught.value.code == 2
    assert f"python -m train.{name.removesuffix('.__main__')}: error:" in capsys.readouterr().err


def test_no_command_was_lost() -> None:
    wanted = [
        "fit",
        "evaluate",
        "library",
        "export",
        "ship",
        "cost",
        "corrupt",
        "sample",
        "contact_sheet",
        "film_strips",
        "study",
    ]
    assert set(wanted) <= set(COMMANDS)


def test_a_reader_that_is_gone_is_one_line() -> None:
    code = "import sys; from train import commands; sys.exit(commands.run('train.it', lambda: print('a table')))"
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-c", code], stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "train.it: stopped: nothing reads its output any more\n")
