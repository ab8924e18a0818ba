"""The page declares the same messages as Python: every type of the protocol, with every field (messages.d.ts)."""

from __future__ import annotations

import re
from pathlib import Path
from typing import is_typeddict

import pytest

from app.console import protocol

FILE = Path(__file__).resolve().parents[3] / "app" / "static" / "messages.d.ts"
TYPES = {
    name: value
    for name, value in vars(protocol).items()
    if is_typeddict(value) and value.__module__ == protocol.__name__
}


def declared(name: str) -> dict[str, bool]:
    """{field: whether it may be absent} of an interface in messages.d.ts."""
    found = re.search(rf"export interface {name} {{\n(.*?)\n}}", FILE.read_text(), re.S)
    assert found, f"{FILE.name} has no interface {name}"
    return {field: bool(mark) for field, mark in re.findall(r"^  (\w+)(\??):", found[1], re.M)}


def test_there_are_messages_to_compare() -> None:
    assert {"Controls", "Update", "StreamBackground"} <= TYPES.keys()


@pytest.mark.parametrize("name", TYPES)
def test_every_message_has_the_same_fields_in_the_page(name: str) -> None:
    assert declared(name).keys() == set(TYPES[name].__annotations__)


@pytest.mark.parametrize("name", ["Update", "Constants", "PanelUpdate"])
def test_what_only_some_pages_have_may_be_absent_on_both_sides(name: str) -> None:
    optional = {field for field, kind in TYPES[name].__annotations__.items() if "NotRequired" in str(kind)}
    assert optional and {field for field, absent in declared(name).items() if absent} == optional
