"""A budget: every reader stops when time is up, too much was decoded, or nobody waits any more."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import pytest

from knob_core.uploads import (
    Budget,
    Stopped,
    logits,
    npy,
    parquet,
    pictures,
    read_logits,
    read_pictures,
    stills,
    tables,
    video,
)
from knob_core.uploads.budget import LARGE, UNFORESEEN, only_value_errors
from knob_core.uploads.limits import MAX_SECONDS, said
from knob_core.uploads.logits import KINDS
from tests.fuzz.samples import CLASSES, all_samples

SAMPLES = {kind: file for kind, file in all_samples().items() if "." in file[0]}


@pytest.fixture(autouse=True)
def in_this_process(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(pictures, "read_in_process", video.read)
    monkeypatch.setattr(logits, "read_in_process", parquet.read_table)


def read(kind: str, budget: Budget) -> Any:
    name, content = SAMPLES[kind]
    if name.endswith(KINDS):
        return read_logits(name, content, budget=budget)
    return read_pictures([(name, content)], CLASSES, budget)


@pytest.mark.parametrize("kind", SAMPLES)
def test_every_reader_can_be_cancelled_at_every_place_where_it_asks(kind: str):
    asked: list[int] = []

    def counted() -> bool:
        asked.append(1)
        return False

    read(kind, Budget(cancelled=counted))
    places = len(asked)
    assert places >= 2
    for place in {0, places // 2, places - 1}:
        answers: Iterator[bool] = iter([False] * place + [True])
        with pytest.raises(Stopped, match=r"reading was cancelled") as caught:
            read(kind, Budget(cancelled=answers.__next__))
        assert str(caught.value).startswith((SAMPLES[kind][0], "a/", "labels.csv"))


@pytest.mark.parametrize("kind", SAMPLES)
def test_every_reader_keeps_to_the_clock_and_to_the_bytes(kind: str):
    budget = Budget(seconds=1)
    budget.started -= 2
    with pytest.raises(Stopped, match=r"takes longer than 1 s to read, expected a shorter or smaller file"):
        read(kind, budget)
    spent = Budget()
    read(kind, spent)
    assert spent.spent > 0
    with pytest.raises(Stopped, match="more than 10 bytes in all"):
        read(kind, Budget(decoded=10))


def test_the_clock_starts_when_the_budget_is_made():
    budget = Budget()
    assert 0 < MAX_SECONDS - budget.seconds_left < 5
    budget.started = time.monotonic() - MAX_SECONDS
    assert budget.seconds_left <= 0


@pytest.fixture()
def everything_is_large(monkeypatch: pytest.MonkeyPatch):
    for module in (logits, npy, tables):
        monkeypatch.setattr(module, "LARGE_BYTES", 10)
    monkeypatch.setattr(stills, "LARGE_PIXELS", 10)


LARGE_KINDS = [kind for kind, (name, _) in SAMPLES.items() if not name.endswith(tuple(video.CONTAINERS))]


@pytest.mark.usefixtures("everything_is_large")
@pytest.mark.parametrize("kind", LARGE_KINDS)
def test_large_files_are_read_one_at_a_time(kind: str):
    read(kind, Budget())
    assert not LARGE.locked()
    asked: list[bool] = []

    def given_up() -> bool:
        """After three looks for a turn that another one has."""
        asked.append(LARGE.locked())
        return len(asked) > 8

    with LARGE, pytest.raises(Stopped, match="reading was cancelled"):
        read(kind, Budget(cancelled=given_up))
    with LARGE, pytest.raises(Stopped, match=r"other large files were read for 0.2 s, please try again later"):
        read(kind, waiting := Budget(seconds=0.2))
    assert not waiting.has_turn and not LARGE.locked()
    with pytest.raises(Stopped, match="more than 10 bytes in all"):
        read(kind, Budget(decoded=10))
    assert not LARGE.locked()


@pytest.mark.parametrize("kind", [kind for kind in LARGE_KINDS if "parquet" not in kind])
def test_small_files_wait_for_no_large_one(kind: str):
    with LARGE:
        read(kind, Budget(cancelled=lambda: False))


def test_the_clock_stands_still_while_another_one_has_the_turn():
    looks = iter(range(100))

    def never() -> bool:
        if next(looks) == 3:
            LARGE.release()
        return False

    LARGE.acquire()
    budget = Budget(cancelled=never)
    before = budget.seconds_left
    with budget.turns():
        budget.wait_for_turn("a")
        assert budget.has_turn and before - budget.seconds_left < 0.1
    assert not LARGE.locked()


def test_what_nobody_foresaw_is_refused_in_words():
    for error in (KeyError("x"), RuntimeError("/srv/app/secret.py"), UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad")):
        with pytest.raises(ValueError, match=UNFORESEEN) as caught, only_value_errors("a.npz"):
            raise error
        assert type(caught.value) is ValueError and "secret" not in str(caught.value)
    with pytest.raises(ValueError, match=r"a.npz needs more memory"), only_value_errors("a.npz"):
        raise MemoryError
    with pytest.raises(Stopped), only_value_errors("a.npz"):
        raise Stopped("late")


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError("cannot identify image file <_io.BytesIO object at 0x7f3a12345678>"), "cannot identify image file"),
        (OSError(2, "No such file", "/srv/app/x"), "No such file"),
        (ValueError("in /usr/lib/python3/zipfile.py: broken"), "in broken"),
        (KeyError(), "KeyError"),
    ],
)
def test_words_of_a_library_lose_what_is_this_machines(error: Exception, words: str):
    assert said(error) == words
