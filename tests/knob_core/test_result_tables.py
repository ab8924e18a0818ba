"""Result files: what is written is what is read, and what is missing is named with its command."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from knob_core.library import result_tables


def test_six_digits_by_default_and_all_of_them_when_asked(tmp_path: Path) -> None:
    rows = [{"name": "a", "x": 1 / 3}, {"name": "b", "y": 2.0}]
    frame = result_tables.write(rows, tmp_path / "new" / "t.csv")
    assert (tmp_path / "new" / "t.csv").read_bytes() == b"name,x,y\na,0.333333,\nb,,2\n"
    assert frame["x"][0] == 0.333333 and pd.isna(frame["y"][0])
    assert result_tables.write(rows, tmp_path / "t.csv", float_format=None)["x"][0] == 1 / 3


def test_missing_damaged_and_incomplete_tables_are_named_with_their_command(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"cost\.csv is missing; make it: python -m train\.cost"):
        result_tables.read_table("cost", tmp_path)
    (tmp_path / "cost.csv").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"cost\.csv cannot be read .*; make it: python -m train\.cost"):
        result_tables.read_table("cost", tmp_path)
    (tmp_path / "cost.csv").write_text("")
    with pytest.raises(ValueError, match="cannot be read"):
        result_tables.read_table("cost", tmp_path)
    (tmp_path / "cost.csv").write_text("width,method\n16,static\n")
    with pytest.raises(ValueError, match="lacks parameters, macs"):
        result_tables.read_table("cost", tmp_path)
    with pytest.raises(ValueError, match="no table is called 'price'; known: cells"):
        result_tables.read_table("price", tmp_path)


def test_the_note_is_an_object(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"python -m train\.evaluate"):
        result_tables.read_note(tmp_path)
    (tmp_path / "evaluation.json").write_text("[1]")
    with pytest.raises(ValueError, match="holds a list"):
        result_tables.read_note(tmp_path)
    (tmp_path / "evaluation.json").write_text('{"images": 5}')
    assert result_tables.read_note(tmp_path) == {"images": 5}


def test_everything_that_ships_has_a_maker_and_its_columns() -> None:
    shipped = {path.stem for path in result_tables.RESULTS.glob("*.csv")}
    assert shipped <= set(result_tables.MADE_BY)
    assert set(result_tables.NEEDED) <= set(result_tables.MADE_BY)
    for name in shipped:
        assert len(result_tables.read_table(name))
