"""Values and texts from outside: whatever comes, a number inside, a count, or text that Markdown does not obey."""

from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.widgets.untrusted import WORD_JOINER, clamp, escape_markdown, fault_words, whole
from knob_core.assets import ROOT

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)


@given(anything, st.floats(0, 1), st.floats(2, 3))
def test_clamp_always_gives_a_number_inside(value: Any, low: float, high: float) -> None:
    assert low <= clamp(value, (low, high), low) <= high


@pytest.mark.parametrize(
    ("value", "count"), [(3, 3), (0, 0), (-1, 9), (True, 9), (2.0, 9), ("3", 9), (2**31, 9), (None, 9)], ids=str
)
def test_a_count_is_a_whole_number_and_nothing_else(value: object, count: int) -> None:
    assert whole(value, 9) == count


def test_markdown_is_escaped() -> None:
    assert escape_markdown("![a](b) *c* {d} <e> $f$\n#g") == r"\!\[a\](b) \*c\* \{d\} \<e\> \$f\$ \#g"


@pytest.mark.parametrize("text", ["see https://evil.example/x", "WWW.evil.example", "me@evil.example", "ftp://a.b"])
def test_no_address_is_left_that_becomes_a_link(text: str) -> None:
    """As the browser's Markdown finds them, after escapes were taken away."""
    shown = re.sub(r"\\(.)", r"\1", escape_markdown(text))
    links = r"(https?://|ftp://|www(?=\.))[-.\w]+|[-.\w+]+@[-\w]+(\.[-\w]+)+"
    assert not re.search(links, shown, re.I | re.A) and shown.replace(WORD_JOINER, "") == text


@pytest.mark.parametrize(
    ("fault", "shown"),
    [
        (f"{ROOT}/assets/a.npz is missing", "assets/a.npz is missing"),
        (f"nothing in {ROOT}/assets/checkpoints, so", "nothing in assets/checkpoints, so"),
        (
            f"cannot identify image file '{ROOT}/assets/films/a.webp'",
            "cannot identify image file 'assets/films/a.webp'",
        ),
        (OSError(13, "Permission denied", "/home/ann/models/a.npz"), "\\[Errno 13\\] Permission denied\\: 'a.npz'"),
        (OSError(2, "Not there", "/home/ann lee/my models/a b.npz"), "\\[Errno 2\\] Not there\\: 'a b.npz'"),
        (OSError(2, "Not there", "/home/ann's files/a.npz"), '\\[Errno 2\\] Not there\\: "a.npz"'),
        (OSError(2, "Not there", r"C:\Users\ann lee\a.npz"), "\\[Errno 2\\] Not there\\: 'a.npz'"),
        ("neither '/' nor 'a / b', 'c'", "neither '/' nor 'a / b', 'c'"),
        (r"C:\Users\ann\a.npz is damaged", "a.npz is damaged"),
        ("either/or, 3 / 4 of /: 1/2", "either/or, 3 / 4 of /\\: 1/2"),
    ],
    ids=str,
)
def test_a_fault_names_no_folder_of_the_server(fault: object, shown: str) -> None:
    assert fault_words(fault) == shown


def test_an_address_stays_whole_in_a_fault() -> None:
    fault = "http://127.0.0.1:8600/v1/knobs does not answer"
    assert fault_words(fault) == escape_markdown(fault)
