"""The settings file: what is written is read back, and nothing else gets in."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from knob_core import settings
from knob_core.goals import Goals
from knob_core.settings import Settings

knobs = st.builds(
    Settings,
    zeta=st.floats(0, 100),
    omega_n=st.floats(1e-6, 100),
    on=st.booleans(),
    memory=st.booleans(),
    mode=st.sampled_from(settings.MODES),
    frame_rate=st.floats(0.1, 1000),
    temperature=st.floats(0.05, 20),
    goals=st.builds(Goals, delay=st.none() | st.floats(0, 1000), accuracy=st.none() | st.floats(0, 1)),
)


@given(knobs)
def test_round_trip_is_exact(setting: Settings) -> None:
    assert settings.from_toml(settings.to_toml(setting)) == setting


def test_the_file_is_whole_or_absent(tmp_path: Path) -> None:
    path = tmp_path / "knob.toml"
    settings.save(Settings(zeta=1.25), path)
    assert settings.load(path) == Settings(zeta=1.25)
    assert [p.name for p in tmp_path.iterdir()] == ["knob.toml"]
    assert path.read_text().splitlines()[1:3] == ["version = 1", "zeta = 1.25"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("version = 1\nzeta = nan", "zeta is nan"),
        ("version = 1\nzeta = -0.1", "zeta is -0.1, expected a number in [0.0, 100.0]"),
        ("version = 1\nomega_n = 0", "omega_n is 0"),
        ("version = 1\nzeta = true", "zeta is True"),
        ('version = 1\nmode = "both"', "mode is 'both', expected one of continuous, reset"),
        ("version = 1\nmemory = 1", "memory is 1"),
        ("version = 1\nzetta = 1", "unknown names: zetta"),
        ("version = 1\n[goals]\nflips = 1", "goals has unknown names flips, expected excess_flips, delay"),
        ("version = 1\n[goals]\ndelay = -1", "goal delay is -1, expected a number in [0, 1000]"),
        ("version = 1\ngoals = 3", "goals is 3, expected a table"),
        ("zeta = 1", "This is not a Knob settings file: it lacks `version = 1`"),
        ("version = 2", "has version = 2, and only 1 can be read"),
        ("\x00\x01", "not TOML"),
        ("#" + "x" * settings.MAX_BYTES, "bytes, expected at most"),
    ],
)
def test_bad_files_are_refused_by_name(text: str, names: str) -> None:
    with pytest.raises(ValueError, match=re.escape(names)):
        settings.from_toml(text)


def test_binary_is_refused() -> None:
    with pytest.raises(ValueError, match="not TOML"):
        settings.from_toml(b"\xff\xfe\x00PK\x03")


@pytest.mark.parametrize("text", ["x = " + "[" * 4900, "version = 1\nzeta = " + "9" * 400, "version = 1\nzeta = nan"])
def test_any_hostile_file_is_a_value_error(text: str) -> None:
    with pytest.raises(ValueError, match=r"zeta is|not TOML"):
        settings.from_toml(text)


def test_the_mark_that_some_editors_put_first_is_read_over() -> None:
    assert settings.from_toml(b"\xef\xbb\xbf" + settings.to_toml(Settings(zeta=0.3)).encode()).zeta == 0.3


@pytest.mark.parametrize("value", ["0x" + "f" * 2000, "1" * 5000, '"' + "a" * 9000 + '"', "[" + "1," * 2000 + "]"])
@pytest.mark.parametrize(
    "place", ["zeta = ", "mode = ", "goals = ", "[goals]\ndelay = ", "[attentive]\na = ", "[goals]\n"]
)
def test_a_refusal_is_short_however_long_the_value(place: str, value: str) -> None:
    """It repeated up to 9,000 characters of a stranger's file on the page."""
    line = place + value if place.endswith("= ") else f"{place}{'a' * 9000} = 1"
    with pytest.raises(ValueError) as refused:
        settings.from_toml(f"version = 1\n{line}\n")
    assert len(str(refused.value)) <= settings.LONGEST


def test_a_pipe_a_folder_and_a_giant_are_not_read(tmp_path: Path) -> None:
    """A service looks at its file again and again: a pipe stopped that for ever, a giant file was read whole."""
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe"):
        with pytest.raises(ValueError, match="is not a file"):
            settings.load(path)
    with (tmp_path / "giant").open("wb") as file:
        file.truncate(2**40)  # takes no room
    with pytest.raises(ValueError, match="more than 10000 bytes"):
        settings.load(tmp_path / "giant")
    with pytest.raises(FileNotFoundError):
        settings.load(tmp_path / "none")


@pytest.mark.parametrize(
    "entry",
    [
        "zeta = {}", "version = {}", "[goals]\ndelay = {}", "[attentive]\na = {}", "on = {}", "memory = {}",
        "mode = {}", "attentive = {}",
    ],
)  # fmt: skip
def test_a_giant_number_is_refused_by_its_name(entry: str) -> None:
    """Python does not write a number of so many digits, and its own words would be shown instead."""
    head = "" if entry.startswith("version") else "version = 1\n"
    with pytest.raises(
        ValueError,
        match=r"(zeta|version|delay|a|on|memory|mode|attentive memory) (is|=|has) a number of more than 4,300 digits",
    ):
        settings.from_toml(head + entry.format("0x" + "f" * 9000))
