"""State that survives: restarts, kill -9, a full disk, a snapshot that does not fit."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors import safe_open
from services import ROOT, Process, logits, running

from knob_core import settings, wrap
from knob_core.client import AsyncStream, Service, ServiceError, Stream
from knob_core.runtime import KnobStream
from knob_core.serving import snapshots
from knob_core.serving.engine import Engine
from knob_core.serving.maintenance import Maintenance
from knob_core.serving.messages import Frame, pack
from knob_core.serving.stream_files import StreamFiles
from knob_core.settings import Settings

KILLS = int(os.environ.get("KNOB_KILLS", "3"))


def saved_frames(folder: Path) -> dict[str, int]:
    """The number of each stream's last frame in the snapshot."""
    with safe_open(folder / snapshots.NAME, "np") as file:
        about = json.loads(file.metadata()[snapshots.ENTRY])
    return {entry["id"]: entry["frame"] for entry in about["streams"]}


class Reference:
    """A KnobStream that can go back to any frame, as a service does that was killed."""

    def __init__(self) -> None:
        self.stream = KnobStream(wrap.classifier())
        self.after: dict[int, dict[str, np.ndarray]] = {0: {}}

    def step(self, number: int, frame: np.ndarray, stands: int) -> Any:
        """Frame `number` of a stream that stands after frame `stands`."""
        self.stream.load_state_dict(self.after[stands])
        answer = self.stream.step(frame, elapsed=float(number - stands))
        self.after[number] = self.stream.state_dict()
        return answer


async def camera(url: str, k: int, done: threading.Event, replay: int) -> tuple[int, int, int]:
    """Steps until done and checks every answer; (frames, returns from a snapshot, largest step back)."""
    draw, reference = np.random.default_rng(k), Reference()
    stream = AsyncStream(url, f"cam-{k}", probabilities=True, replay=replay, give_up=120.0)
    number = stands = returns = back = 0
    hello: Any = None
    while not done.is_set():
        frame, number = logits(draw), number + 1
        try:
            answer: Any = await stream.step(frame)
        except ValueError as error:  # stepped and saved, but its answer was lost with the process
            assert "connection broke before the answer" in str(error)
            answer = None
        if stream.session.hello is not hello:
            first, hello = hello is None, stream.session.hello
            if not first:
                assert hello["resumed"] == "snapshot"
                returns, back = returns + 1, max(back, number - 1 - hello["frame"])
                if not replay:
                    stands = min(hello["frame"], number - 1)
        wanted = reference.step(number, frame, stands)
        stands = number
        if answer is not None:
            assert answer["frame"] == number
            assert answer["probabilities"] == wanted.probabilities.tolist(), (k, number)
        await asyncio.sleep(0.005)
    await stream.close()
    return number, returns, back


def until_all_are_back(url: str, streams: int, within: float = 60.0) -> None:
    """Every stream has its socket, and frames are answered again."""
    until = time.monotonic() + within
    while time.monotonic() < until:
        listed = Service(url).streams()
        if sum(info["connected"] and info["frames"] > 3 for info in listed) == streams:
            return
        time.sleep(0.1)
    raise AssertionError(f"{streams} streams were not back within {within:g} s")


@pytest.mark.slow
def test_kill_9_in_the_middle(tmp_path: Path) -> None:
    """No stream goes further back than its snapshot, none is mixed up, and clients go on by themselves."""
    service = Process("logits", "--state", str(tmp_path), "--snapshot-every", "0.4")
    done, found = threading.Event(), []

    async def cameras() -> None:
        found.extend(await asyncio.gather(*(camera(service.url, k, done, 10_000 * (k % 2)) for k in range(12))))

    thread = threading.Thread(target=lambda: asyncio.run(cameras()), daemon=True)
    thread.start()
    try:
        for _ in range(KILLS):
            until_all_are_back(service.url, 12)
            time.sleep(1.0)
            service.kill()
            frames = saved_frames(tmp_path)
            service.start()
            for info in Service(service.url).streams():
                assert info["frame"] >= frames[info["stream"]], "further back than its snapshot"
        until_all_are_back(service.url, 12)
        done.set()
        thread.join(60)
        assert len(found) == 12, "a client gave up, or an answer differed"
        print(f"\n{KILLS} kills; frames, returns, largest step back of each stream: {found}")
        assert all(returns == KILLS and frames > 10 * KILLS for frames, returns, _ in found)
    finally:
        done.set()
        service.kill()


@pytest.mark.slow
def test_a_rolling_restart_makes_no_flip_of_its_own(tmp_path: Path) -> None:
    """SIGTERM, and a new process: answers are those of a stream that nothing happened to."""
    rng, reference = np.random.default_rng(0), KnobStream(wrap.classifier())
    service = Process("logits", "--state", str(tmp_path))
    restarting: threading.Thread | None = None

    def restart() -> None:
        assert service.stop() == 0
        service.start()

    try:
        stream = Stream(service.url, "a", probabilities=True, give_up=60.0)
        frames = [logits(rng) for _ in range(300)]
        for k, reply in enumerate(stream.run(frames)):
            answer: Any = reply
            assert answer["type"] == "answer" and answer["frame"] == k + 1, answer
            assert answer["probabilities"] == reference.step(frames[k]).probabilities.tolist()
            if k == 100:
                restarting = threading.Thread(target=restart)
                restarting.start()
        assert k == 299 and stream.session.hello is not None
        assert restarting is not None
        restarting.join(30)
        stream.close()
        assert Service(service.url).stream("a")["frame"] == 300
        knobs = Service(service.url).turn(zeta=2.5)
        restart()
        assert Service(service.url).knobs() == knobs  # they survive too
        again = Stream(service.url, "a")
        answer = again.step(frames[0])
        assert again.session.hello is not None and again.session.hello["resumed"] == "snapshot"
        assert answer["frame"] == 301
    finally:
        service.kill()


def stepped(streams: int = 3, frames: int = 5) -> Engine:
    engine = Engine(wrap.classifier(), name="logits")
    rng = np.random.default_rng(0)
    for _ in range(frames):
        for k in range(streams):
            engine.submit(f"s{k}", Frame("logits", logits(rng)), lambda reply: None)
        while engine.step_waiting():
            pass
    return engine


def test_a_full_disk_is_told_and_leaves_the_last_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    real = Path.write_bytes
    with running(state=tmp_path, every=1000.0) as service:
        client = Service(service.url)
        stream = Stream(service.url, "a")
        stream.step(logits(rng))
        service.maintenance.save()
        before = (tmp_path / snapshots.NAME).read_bytes()

        def half(path: Path, content: bytes) -> int:
            real(path, content[: len(content) // 2])
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(Path, "write_bytes", half)
        stream.step(logits(rng))
        service.maintenance.save()
        told = client.about()["problems"]["snapshot"]
        assert "the disk is full" in told and str(tmp_path) not in told
        assert stream.step(logits(rng))["frame"] == 3  # served on
        assert (tmp_path / snapshots.NAME).read_bytes() == before and len(list(tmp_path.iterdir())) == 1
        assert "knob_snapshots_failed_total 1.0" in client.request("GET", "/metrics", raw=True).decode()
        monkeypatch.undo()
        service.maintenance.save()
        assert not client.about()["problems"] and saved_frames(tmp_path) == {"a": 3}
        stream.close()


def test_a_snapshot_of_another_model_is_put_aside(tmp_path: Path) -> None:
    assert snapshots.write(stepped(), tmp_path) == 3
    other = Engine(wrap.classifier(), name="another")
    problem = snapshots.load(other, tmp_path)
    assert problem is not None and "model is 'logits', expected 'another'" in problem
    assert not other.streams and [path.name[:15] for path in tmp_path.iterdir()] == ["streams-refused"]


@pytest.mark.parametrize("damage", ["cut", "garbage", "empty", "shape", "twice"])
def test_a_damaged_snapshot_is_put_aside_whole(tmp_path: Path, damage: str) -> None:
    engine = stepped()
    arrays, about = snapshots.packed(engine)
    if damage == "shape":
        arrays["gate"] = arrays["gate"][:-1]
    if damage == "twice":
        about["streams"][1]["id"] = about["streams"][0]["id"]
    content = snapshots.save(arrays, {snapshots.ENTRY: json.dumps(about)})
    spoiled = {"cut": content[: len(content) // 2], "garbage": b"\xff" * 100, "empty": b""}.get(damage, content)
    (tmp_path / snapshots.NAME).write_bytes(spoiled)
    fresh = Engine(wrap.classifier(), name="logits")
    assert snapshots.load(fresh, tmp_path) is not None
    assert not fresh.streams and fresh.knobs.table.revision == 1


def served_on_without_the_first(folder: Path, named: str) -> None:
    """From a snapshot of three streams with knobs of revision 2; `named` is what the first is called."""
    fresh = Engine(wrap.classifier(), name="logits")
    problems: dict[str, str] = {}
    kept = Maintenance(fresh, problems, store=snapshots.Snapshot(fresh, folder))
    kept.start()
    try:
        assert sorted(fresh.streams) == ["s1", "s2"] and fresh.knobs.table.revision == 2
        told: list[Any] = []
        for id in ("s1", "s2"):
            fresh.submit(id, Frame("logits", np.arange(5.0)), told.append)
        fresh.step_waiting()
        assert [answer["frame"] for answer in told] == [6, 6]
        assert "1 streams" in problems["restore"] and f"{named}: " in problems["restore"]
        assert str(folder) not in problems["restore"] and len(problems["restore"]) < 1000
        assert sorted(path.name[:15] for path in folder.iterdir()) == ["streams-refused", "streams.safeten"]
    finally:
        kept.stop()


def three_streams() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    engine = stepped()
    engine.knobs.turn({"zeta": 0.3}, "tester")
    return snapshots.packed(engine)


STATES: dict[str, tuple[str, Any]] = {  # array and value of a stream's row that does not belong there
    "memory nan": ("memory", np.nan),
    "time huge": ("time", 1.5e308),
    "acting half nan": ("acting", (1.0, np.nan)),
    "acting at rest": ("acting", (1.0, 0.0)),
    "acting negative": ("acting", (-5.0, 0.4)),
    "acting huge": ("acting", (1.0, 1e300)),
}


@pytest.mark.parametrize("name", STATES)
def test_a_stream_whose_state_does_not_fit_takes_no_other_with_it(tmp_path: Path, name: str) -> None:
    arrays, about = three_streams()
    array, value = STATES[name]
    arrays[array][0] = value
    (tmp_path / snapshots.NAME).write_bytes(snapshots.content_of(arrays, about))
    served_on_without_the_first(tmp_path, "stream s0")


def test_no_frame_brings_a_stream_where_no_snapshot_can_go_on(tmp_path: Path) -> None:
    """Numbers end before JSON's readers lose them, and times where a state can be told from a damaged one."""
    rng = np.random.default_rng(0)
    with running(state=tmp_path, every=1000.0) as service:
        client = Service(service.url)
        client.turn(zeta=0.3)
        for id in ("a", "b"):
            answer = client.step(
                id, pack({"kind": "logits", "number": 2**53 - 1, "dtype": "float64"}, logits(rng).tobytes())
            )
            assert answer["type"] == "answer"
        with pytest.raises(ServiceError, match="number would be 9007199254740992"):
            client.step("a", pack({"kind": "logits", "dtype": "float64"}, logits(rng).tobytes()))
        for time_ in (1.5e308, -1.1e12):
            with pytest.raises(ServiceError, match=r"at `\$\.time`"):
                client.step("c", pack({"kind": "logits", "dtype": "float64", "time": time_}, logits(rng).tobytes()))
        service.maintenance.save()
    again = Engine(wrap.classifier(), name="logits")
    assert snapshots.load(again, tmp_path) is None
    assert sorted(again.streams) == ["a", "b"] and again.knobs.table.base.zeta == 0.3


def test_a_snapshot_that_was_put_aside_is_told_to_operators_without_its_folder(tmp_path: Path) -> None:
    snapshots.write(stepped(), tmp_path)
    with running(Engine(wrap.classifier(), name="another"), state=tmp_path) as service:
        told = Service(service.url).about()["problems"]["restore"]
        assert "model is 'logits', expected 'another'" in told and str(tmp_path) not in told
        assert "streams-refused-" in told


ENTRIES: dict[str, tuple[tuple[Any, ...], str]] = {  # path in the header and JSON of a value that does not belong there
    "frame inf": (("streams", 0, "frame"), "1e400"),
    "frame negative": (("streams", 0, "frame"), "-5"),
    "frame huge": (("streams", 0, "frame"), str(10**40)),
    "frame half": (("streams", 0, "frame"), "1.5"),
    "lost inf": (("streams", 0, "lost"), "1e400"),
    "lost negative": (("streams", 0, "lost"), "-1"),
    "id a list": (("streams", 0, "id"), "[]"),
    "id a path": (("streams", 0, "id"), '"../x"'),
    "group long": (("streams", 0, "group"), json.dumps("x" * 16_000)),
    "group a list": (("streams", 0, "group"), "[]"),
    "policy a list": (("streams", 0, "policy"), "[]"),
    "life long": (("streams", 0, "life"), json.dumps("x" * 16_000)),
    "entry a list": (("streams", 0), "[]"),
    "streams null": (("streams",), "null"),
    "time long": (("time",), "1" + "0" * 400 + ".5"),
    "time whole": (("time",), "1" + "0" * 400),
    "time null": (("time",), "null"),
    "knobs a list": (("knobs",), "[]"),
    "all a list": (("knobs", "all"), "[]"),
    "revision inf": (("knobs", "revision"), "1e400"),
    "revision zero": (("knobs", "revision"), "0"),
    "groups a list": (("knobs", "groups"), "[]"),
    "streams a list": (("knobs", "streams"), "[]"),
    "group a path": (("knobs", "groups"), '{"../x": {"zeta": 1.0}}'),
    "stream a path": (("knobs", "streams"), '{"../x": {"zeta": 1.0}}'),
    "scope a list": (("knobs", "groups"), '{"a": []}'),
}


def with_entry(about: Any, path: tuple[Any, ...], text: str) -> str:
    """The header's JSON with another value at a path, as text: `json` writes no 1e400."""
    about = json.loads(json.dumps(about))
    *way, last = path
    place = about
    for step in way:
        place = place[step]
    place[last] = "HERE"
    return json.dumps(about).replace('"HERE"', text)


OF_ONE_STREAM = [name for name, (path, _) in ENTRIES.items() if path[:2] == ("streams", 0)]


@pytest.mark.parametrize("name", sorted(set(ENTRIES) - set(OF_ONE_STREAM)))
def test_a_snapshot_with_a_wrong_entry_is_put_aside_whole(tmp_path: Path, name: str) -> None:
    arrays, about = snapshots.packed(stepped())
    content = snapshots.save(arrays, {snapshots.ENTRY: with_entry(about, *ENTRIES[name])})
    (tmp_path / snapshots.NAME).write_bytes(content)
    fresh = Engine(wrap.classifier(), name="logits")
    problem = snapshots.load(fresh, tmp_path)
    assert problem is not None and len(problem) < 1000
    assert not fresh.streams and fresh.knobs.table.revision == 1
    assert [path.name[:15] for path in tmp_path.iterdir()] == ["streams-refused"]


@pytest.mark.parametrize("name", OF_ONE_STREAM)
def test_a_stream_with_a_wrong_entry_takes_no_other_with_it(tmp_path: Path, name: str) -> None:
    arrays, about = three_streams()
    content = snapshots.save(arrays, {snapshots.ENTRY: with_entry(about, *ENTRIES[name])})
    (tmp_path / snapshots.NAME).write_bytes(content)
    named = "stream number 1" if name.startswith(("id", "entry")) else "stream s0"
    served_on_without_the_first(tmp_path, named)


@pytest.mark.parametrize("name", [name for name, (path, _) in ENTRIES.items() if path[0] != "knobs"])
def test_a_streams_file_with_a_wrong_entry_is_put_aside_and_memory_stays(tmp_path: Path, name: str) -> None:
    """Also where the stream is known: what is in memory is not given up for a file that does not fit."""
    engine = stepped(streams=1)
    kept = StreamFiles(engine, tmp_path)
    kept.save()
    path = tmp_path / "s0.safetensors"
    arrays, about = snapshots.read(path)
    path.write_bytes(snapshots.save(arrays, {snapshots.ENTRY: with_entry(about, *ENTRIES[name])}))
    kept.recall("s0", socket=True)
    assert engine.streams["s0"].stepped == 5 and not path.exists()
    assert len(list(tmp_path.glob("s0-refused-*"))) == 1
    fresh = Engine(wrap.classifier(), name="logits")
    path.write_bytes(snapshots.save(arrays, {snapshots.ENTRY: with_entry(about, *ENTRIES[name])}))
    StreamFiles(fresh, tmp_path).recall("s0")
    assert not fresh.streams and not path.exists()


def test_a_streams_file_whose_states_are_damaged_costs_no_memory_either(tmp_path: Path) -> None:
    engine = stepped(streams=1)
    kept = StreamFiles(engine, tmp_path)
    kept.save()
    arrays, about = snapshots.read(tmp_path / "s0.safetensors")
    about["streams"][0]["frame"] = 9  # ahead of the memory
    arrays["memory"][0] = np.nan
    (tmp_path / "s0.safetensors").write_bytes(snapshots.content_of(arrays, about))
    kept.recall("s0", socket=True)
    assert engine.streams["s0"].stepped == 5


def test_a_streams_file_with_an_endless_number_is_written_over(tmp_path: Path) -> None:
    engine = stepped(streams=1)
    kept = StreamFiles(engine, tmp_path)
    kept.save()
    path = tmp_path / "s0.safetensors"
    arrays, about = snapshots.read(path)
    path.write_bytes(snapshots.save(arrays, {snapshots.ENTRY: with_entry(about, ("streams", 0, "frame"), "1e400")}))
    engine.submit("s0", Frame("logits", np.zeros(5)), lambda reply: None)
    engine.step_waiting()
    kept.save()
    assert snapshots.read(path)[1]["streams"][0]["frame"] == 6


def test_a_snapshot_goes_on_bit_for_bit_with_knobs_of_its_own(tmp_path: Path) -> None:
    engine = stepped(streams=100)
    engine.knobs.turn({"zeta": 0.3}, "tester", stream="s7")
    snapshots.write(engine, tmp_path)
    again = Engine(wrap.classifier(), name="logits")
    assert snapshots.load(again, tmp_path) is None
    assert again.knobs.table == engine.knobs.table
    rng, told = np.random.default_rng(9), {}
    for k in range(100):
        frame = Frame("logits", logits(rng), probabilities=True)
        for which in (engine, again):
            which.submit(f"s{k}", frame, lambda reply, at=(which is again, k): told.__setitem__(at, reply))
    while engine.step_waiting() + again.step_waiting():
        pass
    for k in range(100):
        assert told[True, k] == told[False, k] and told[True, k]["frame"] == 6


@pytest.mark.parametrize(("edited", "wins"), [(60.0, 0.1), (-60.0, 0.7)])
def test_a_settings_file_that_was_edited_while_the_service_was_down_wins(
    tmp_path: Path, edited: float, wins: float
) -> None:
    """Saved knobs, turned to 0.7, come before a file that is older."""
    file, state = tmp_path / "knob.toml", tmp_path / "state"

    def started() -> tuple[Engine, Maintenance]:
        engine = Engine(wrap.classifier(), settings.load(file), name="logits")
        kept = Maintenance(engine, {}, store=snapshots.Snapshot(engine, state), settings=file)
        kept.start()
        return engine, kept

    settings.save(Settings(omega_n=0.4), file)
    engine, kept = started()
    engine.knobs.turn({"omega_n": 0.7}, "tester")
    kept.stop()
    settings.save(Settings(omega_n=0.1), file)
    at = (state / snapshots.NAME).stat().st_mtime + edited
    os.utime(file, (at, at))
    engine, kept = started()
    assert engine.knobs.table.base.omega_n == wins
    kept.stop()


def test_an_edit_of_the_settings_file_just_before_the_end_is_in_the_last_snapshot(tmp_path: Path) -> None:
    file = tmp_path / "knob.toml"
    settings.save(Settings(omega_n=0.4), file)
    engine = Engine(wrap.classifier(), settings.load(file), name="logits")
    kept = Maintenance(engine, {}, store=snapshots.Snapshot(engine, tmp_path), settings=file)
    file.write_text(settings.to_toml(Settings(omega_n=0.125)))
    kept.stop()
    assert snapshots.read(tmp_path / snapshots.NAME)[1]["knobs"]["all"]["omega_n"] == 0.125


def started(*arguments: str) -> tuple[int, str]:
    """(exit code, last line) of a service that is expected to end at once."""
    command = [sys.executable, "-m", "knob_core.serving", "logits:5", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120, check=False)
    return done.returncode, done.stderr.splitlines()[-1]


def test_two_services_do_not_share_a_folder_or_a_port(tmp_path: Path) -> None:
    state, other = tmp_path / "state", tmp_path / "other"
    process = Process("logits:5", "--state", str(state))
    try:
        assert started("--state", str(state), "--port", "0") == (
            2, f"knob serve: process {process.process.pid} serves from {state}; wait for it, or choose another --state",
        )  # fmt: skip
        assert started("--state", str(other), "--port", str(process.port)) == (
            2, f"knob serve: --port is {process.port}, expected one that is free on 127.0.0.1: Address already in use",
        )  # fmt: skip
        assert not other.exists()
        process.kill()  # which leaves no lock behind
        process.start()
    finally:
        process.stop()
