"""The command `knob`: which process each word becomes, and one line where it cannot run."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from knob_core import cli
from knob_core.assets import ROOT


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_names_a_module_that_exists(name: str) -> None:
    assert importlib.util.find_spec(cli.COMMANDS[name].module) is not None


def made_clone(folder: Path) -> Path:
    for mark in cli.MARKS:
        (folder / mark).parent.mkdir(parents=True, exist_ok=True)
        (folder / mark).touch()
    return folder


def test_the_clone_one_stands_in_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = made_clone(tmp_path / "mine")
    (mine / "docs").mkdir()
    assert cli.clone(mine / "docs") == mine
    assert cli.clone(tmp_path) == ROOT  # the one these tests are in
    monkeypatch.setattr(cli, "ROOT", tmp_path)
    assert cli.clone(tmp_path) is None


def test_a_command_becomes_the_clone_s_own_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    monkeypatch.setattr(os, "execve", lambda *arguments: seen.append(arguments) or sys.exit(0))
    monkeypatch.chdir(made_clone(tmp_path))
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    for given in (["train", "--all"], ["app", "--server.port", "1"]):
        with pytest.raises(SystemExit):
            cli.main(given)
    (_, train, environment), (_, app, _) = seen
    assert train == [sys.executable, "-m", "train.fit", "--all"]
    assert app == [sys.executable, "-m", "streamlit", "run", str(tmp_path / "app/main.py"), "--server.port", "1"]
    assert environment["PYTHONPATH"] == f"{tmp_path}{os.pathsep}/elsewhere"


def test_one_line_where_it_cannot_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["dance"]) == 2
    assert f"no command 'dance', expected one of {', '.join(cli.COMMANDS)}" in capsys.readouterr().err
    monkeypatch.setattr(cli, "ROOT", tmp_path)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["train"]) == 2
    assert "needs a clone of the repository" in capsys.readouterr().err
    monkeypatch.chdir(made_clone(tmp_path / "clone"))
    monkeypatch.setitem(cli.COMMANDS, "train", cli.COMMANDS["train"]._replace(package="no_such_package"))
    assert cli.main(["train"]) == 2
    assert capsys.readouterr().err.strip().endswith(f"needs no_such_package: pip install '{tmp_path / 'clone'}[train]'")


def test_help_and_version_need_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([]) == cli.main(["--help"]) == 0
    said = capsys.readouterr().out
    assert said.startswith("usage: knob COMMAND") and all(f"knob {name} " in said for name in cli.COMMANDS)
    assert cli.main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("knob ")


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_a_reader_that_is_gone_is_no_error(option: str) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "knob_core", option]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, "")
