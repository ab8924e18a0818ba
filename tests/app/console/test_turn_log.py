"""The log of turns: off unless asked, one row a change, and a replay that gives the same figures, live or not."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import change_branches
import numpy as np
import pytest
from console_answers import frames

from app.console import link, stream_sources
from app.console.console_controller import ConsoleController
from app.console.console_state import ConsoleState
from app.console.replay_turns import main, replay
from app.console.shown_stream import ShownStream
from app.console.stream_choice import StreamChoice
from app.console.turn_log import MOST, TITLE, TurnLog, read
from app.your_stream import uploaded_stream
from knob_core.memories import Attentive
from knob_core.settings import Settings
from knob_core.uploads import read_logits


class Sender:
    """Turns the knobs of a console, one message each."""

    def __init__(self, stream: ShownStream, log: TurnLog | None) -> None:
        self.controller = ConsoleController(ConsoleState(log=log))
        self.controller.show(stream, 0)
        self.controls: dict[str, Any] = {"seq": 0, "zeta": 1.0, "omega_n": 0.4, "on": True, "released": True}

    def __call__(self, run: int = 0, **change: Any) -> None:
        self.controls |= {**change, "epoch": self.controller.state.epoch, "seq": self.controls["seq"] + 1}
        self.controller.update({"controls": {**self.controls, "commands": frames(run)}}, 1)


def drag(send: Sender) -> None:
    send()
    for zeta in (0.9, 0.7, 0.55):
        send(zeta=zeta, released=False)
    send(released=True)
    send(memory="plain")
    send(zeta=1.4, omega_n=0.12)
    send(on=False)
    send()  # nothing changed


@pytest.fixture
def named(scenes: ShownStream) -> ShownStream:
    return replace(scenes, source="corruption=fog")


def test_nothing_is_recorded_unless_asked(named: ShownStream) -> None:
    send = Sender(named, None)
    drag(send)
    assert send.controller.state.log is None


def test_one_row_a_change_with_time_knob_and_value(named: ShownStream) -> None:
    ticks = iter(np.arange(0, 100, 0.25))
    log = TurnLog(clock=lambda: float(next(ticks)))
    drag(Sender(named, log))
    assert [(t.knob, t.value, t.held) for t in log.turns] == [
        ("start", "", False), ("zeta", "0.9", True), ("zeta", "0.7", True), ("zeta", "0.55", True),
        ("released", "", False), ("memory", "plain", False), ("zeta+omega_n", "1.4+0.12", False),
        ("on", "False", False),
    ]  # fmt: skip
    times = [t.time for t in log.turns]
    assert times == sorted(times) and times[-1] > times[1] > 0
    log.on = False
    before = len(log.turns)
    log.note(ConsoleState(settings=Settings(zeta=3.0)), named, None)
    assert len(log.turns) == before


def test_a_file_is_read_as_it_was_written_and_gives_the_same_figures(named: ShownStream) -> None:
    log = TurnLog()
    send = Sender(named, log)
    drag(send)
    send.controller.state.set_from_python(Settings(zeta=0.8, weights=Attentive(a=0.3), temperature=1.7))
    send()
    text = log.csv_text()
    turns = read(text.encode())
    assert [replace(t, measures=None) for t in turns] == [replace(t, measures=None) for t in log.turns]
    done = list(replay(turns, lambda source: named))
    assert len(done) == len(turns) and not any(r.differing for r in done)
    assert all(r.measures is not None for r in done)


def test_a_live_run_is_replayed_turn_by_turn(named: ShownStream) -> None:
    log = TurnLog()
    send = Sender(named, log)
    send()
    send(live=True, playing=True)
    asked = 0
    for step, zeta in enumerate((1.0, 1.0, 0.3, 0.3, 2.0, 2.0, 2.0, 0.6)):
        run = 7 if step % 2 else 31  # in all more than a sweep of the screen
        asked += run
        send(run, zeta=zeta)
    send(live=False, playing=False)
    send(live=True, playing=True)
    send(20, zeta=1.1)
    turns = read(log.csv_text().encode())
    assert [t.knob for t in turns] == ["start", "live", "zeta", "zeta", "zeta", "live", "live", "zeta"]
    assert asked > named.frames and turns[4].live is not None and turns[4].live[1] == asked
    done = list(replay(turns, lambda source: named))
    assert not any(r.differing for r in done), [r.differing for r in done]
    assert done[4].measures is not None and not math.isnan(done[4].measures.excess_flips)


def test_a_changed_figure_is_named(named: ShownStream) -> None:
    log = TurnLog()
    drag(Sender(named, log))
    assert log.turns[2].measures is not None
    log.turns[2] = replace(log.turns[2], measures=replace(log.turns[2].measures, flips=99.0))
    found = [r.differing for r in replay(read(log.csv_text().encode()), lambda source: named)]
    assert [len(d) for d in found] == [0, 0, 1, 0, 0, 0, 0, 0] and "recorded 99" in found[2][0]


def test_the_log_ends_when_it_is_full(named: ShownStream) -> None:
    log = TurnLog()
    send = Sender(named, log)
    send()
    log.turns *= MOST
    send(zeta=0.2)
    assert len(log.turns) == MOST and log.full


@pytest.mark.parametrize("spoiled", [
    lambda text: text.replace(TITLE, "# something"), lambda text: text.replace("attentive", "eidetic"),
    lambda text: text.replace("time_s", "zeit"), lambda text: text.replace(",1.0,0.4,", ",1.0,-4,"),
    lambda text: text + "\n1,2,3\n", lambda text: text.encode() + b"\xff\xfe", lambda text: "", lambda text: '"' + text,
])  # fmt: skip
def test_a_spoiled_file_is_refused_with_its_cause(named: ShownStream, spoiled: Any) -> None:
    log = TurnLog()
    drag(Sender(named, log))
    made = spoiled(log.csv_text())
    with pytest.raises(ValueError, match=r"expected|cannot be used|not UTF-8|not CSV"):
        read(made if isinstance(made, bytes) else made.encode())


def test_a_stream_is_found_again_by_its_name() -> None:
    choice = StreamChoice(corruption="fog", frames=80, content="listed", scenes="cat 20, ship 30")
    choice = replace(choice, schedule="listed").with_parameters({"values": " ".join(["1.25"] * 900)})
    assert link.read_choice(link.write_choice(choice)) == choice
    for wrong in ("corruption=rain", "image=5000", "frames=80&frames=90", "nothing", "method=x&" * 200):
        with pytest.raises(ValueError):
            link.read_choice(wrong)


def test_the_command_replays_turns_on_a_file_and_on_a_stream_that_ships(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    branches = change_branches.made_up(2, 80, 5, seed=3)
    np.savez(tmp_path / "mine.npz", logits=branches.z_static, labels=branches.labels)
    files = [("mine.npz", (tmp_path / "mine.npz").read_bytes())]
    own, _ = uploaded_stream.of_logits(uploaded_stream.file_id(files), "mine.npz", read_logits(*files[0]))
    home = stream_sources.home()
    key = stream_sources.shipped_key(home)
    assert key is not None
    shipped = stream_sources.shipped_stream(key, home.image)
    log = TurnLog()
    drag(Sender(own, log))
    drag(Sender(shipped, log))
    (tmp_path / "turns.csv").write_text(log.csv_text())
    assert main([str(tmp_path / "turns.csv"), "--upload", str(tmp_path / "mine.npz")]) == 0
    assert f"{len(log.turns)} turns" in (said := capsys.readouterr().out) and "all figures are the same" in said
    assert main([str(tmp_path / "turns.csv")]) == 2
    assert "mine.npz" in capsys.readouterr().err
    (tmp_path / "turns.csv").write_text(log.csv_text().replace(",0.9,", ",0.91,"))
    assert main([str(tmp_path / "turns.csv"), "--upload", str(tmp_path / "mine.npz")]) == 1
