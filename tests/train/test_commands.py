"""A command that fails says why in one line, and its exit code says that it failed."""

from __future__ import annotations

import pytest

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


def test_an_interrupt_says_how_to_go_on(capsys: pytest.CaptureFixture[str]) -> None:
    assert commands.run("train.it", lambda: fail(KeyboardInterrupt())) == 130
    assert "the same command goes on" in capsys.readouterr().err


def test_a_defect_of_ours_keeps_its_trace() -> None:
    with pytest.raises(TypeError):
        commands.run("train.it", lambda: fail(TypeError("a bug")))
