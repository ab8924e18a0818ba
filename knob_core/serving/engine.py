"""The engine of a service, free of the network: frames of many streams in, answers out, one batch at a time.

A worker gathers what has arrived (bounded wait, bounded batch), runs the backbone once, and steps every stream by
`knob_core.runtime.advance`: answers are those of a `KnobStream` for each stream. Streams are served in turn, so none
starves; frames of one stream keep their order, and two of them may share a batch. What waits is bounded per stream.
"""

from __future__ import annotations

import logging
import math
import re
import threading
import time
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from knob_core import methods
from knob_core.memories.attentive import fused
from knob_core.memories.base import Inputs
from knob_core.runtime import clock, state
from knob_core.runtime.advance import advance
from knob_core.runtime.answer import Answer as Answers
from knob_core.runtime.slew import slewed
from knob_core.runtime.sources import Branch, Source
from knob_core.serving.backbone import Backbone
from knob_core.serving.knob_control import KnobControl, KnobTable, knobs_json
from knob_core.serving.messages import Answer, Frame, Hello, Reply, StreamDetail, StreamInfo
from knob_core.serving.state_rows import StateRows
from knob_core.serving.stream import POLICIES, Policy, Sink, Stream, Waiting
from knob_core.settings import Settings

ID = re.compile(r"[A-Za-z0-9._:-]{1,64}")
log = logging.getLogger(__name__)

Delivery = list[tuple[Sink, Reply]]


class Full(ValueError):
    """No room for another stream."""


class Refusal(ValueError):
    """A frame that is not taken; `code` as in `messages.Refused`."""

    def __init__(self, code: str, cause: str) -> None:
        super().__init__(cause)
        self.code = code


@dataclass(frozen=True)
class Limits:
    """What a service takes on."""

    capacity: int = 1000  # streams
    queue: int = 4  # frames of one stream that may wait
    rate: float = 240.0  # frames/s of one stream, in the long run
    max_batch: int = 64  # frames
    max_wait: float = 0.002  # s that the first frame of a batch waits for others
    grace: float = 60.0  # s that a stream's state is kept after its socket dropped
    idle: float = 600.0  # s without a frame after which a stream is forgotten

    def __post_init__(self) -> None:
        for name in ("capacity", "queue", "max_batch"):
            if not getattr(self, name) >= 1:
                raise ValueError(f"{name} is {getattr(self, name)!r}, expected a whole number >= 1")
        for name in ("rate", "grace", "idle"):
            if not getattr(self, name) > 0:
                raise ValueError(f"{name} is {getattr(self, name)!r}, expected a number > 0")
        if not self.max_wait >= 0:
            raise ValueError(f"max_wait is {self.max_wait!r}, expected a number of seconds >= 0")


class Engine:
    """A model and the states of all streams."""

    def __init__(
        self,
        source: Source,
        settings: Settings | None = None,  # None: the model's own, as for `KnobStream`
        limits: Limits | None = None,
        *,
        name: str = "",  # of the model
        classes: Sequence[str] | None = None,
        policy: Policy = "newest",
        slew: float | None = None,
    ) -> None:
        if policy not in POLICIES:
            raise ValueError(f"policy is {policy!r}, expected one of {', '.join(POLICIES)}")
        if slew is not None and not 0.0 < slew < math.inf:
            raise ValueError(f"slew is {slew!r}, expected a number > 0 or None")
        if settings is None:
            settings = Settings(*source.knobs) if source.knobs is not None else Settings()
        self.source, self.limits, self.name, self.policy = source, limits or Limits(), name, policy
        self.classes = list(classes) if classes is not None else None
        self.backbone, self.knobs = Backbone(source), KnobControl(settings)
        self.deliver: Callable[[Delivery], None] = _deliver_now  # the network's own puts it into its loop
        self.observe: Callable[[Batch], None] = lambda batch: None  # metrics
        self._gate, self._slew = methods.get(source.method).gate, slew
        self._rows = StateRows(lambda n, k: state.at_rest(n, k, self._gate.rest, source.command is not None))
        self._streams: dict[str, Stream] = {}
        self._ready: deque[Stream] = deque()  # streams with waiting frames, in turn
        self._count = 0  # frames that wait
        self._leaving: list[int] = []  # rows to be given back
        self._lock = threading.Condition()  # streams and queues
        self._stepping = threading.Lock()  # states; taken before the other
        self._stopping = False
        self._thread: threading.Thread | None = None

    # Streams

    def join(
        self, id: str, group: str = "", policy: Policy | None = None, sink: Sink | None = None, after: int | None = None
    ) -> Hello:
        """A socket opens a stream, or comes back to it; answers above number `after` are sent to it again."""
        if policy is not None and policy not in POLICIES:
            raise ValueError(f"policy is {str(policy)[:40]!r}, expected one of {', '.join(POLICIES)}")
        again: Delivery = []
        with self._lock:
            stream = self._stream(id, group)
            old, stream.sink, stream.policy = stream.sink, sink, policy or stream.policy
            self._forget_waiting(stream)
            if old is not None and old is not sink:
                cause = "another socket was opened for this stream"
                again.append((old, {"type": "closing", "stream": id, "frame": stream.taken, "cause": cause}))
            stream.resumed, stream.origin = stream.origin, "memory"
            hello = self._hello(stream)
            if sink is not None:
                again.append((sink, hello))
                if after is not None:
                    again += [(sink, answer) for answer in stream.recent if answer["frame"] > after]
        self.deliver(again)
        return hello

    def part(self, id: str, sink: Sink) -> None:
        """A socket dropped; the state stays for the grace time. Nothing where another socket came already."""
        with self._lock:
            stream = self._streams.get(id)
            if stream is not None and stream.sink is sink:
                stream.sink, stream.seen = None, time.monotonic()
                self._forget_waiting(stream)

    def forget(self, id: str, cause: str = "the stream was ended") -> bool:
        """End a stream: its state is gone."""
        with self._lock:
            stream = self._streams.pop(id, None)
            if stream is None:
                return False
            out = self._remove(stream, cause)
        self.deliver(out)
        return True

    def expire(self, now: float | None = None) -> list[str]:
        """Forget streams whose grace or idle time is over; their ids."""
        now = time.monotonic() if now is None else now
        out: Delivery = []
        with self._lock:
            late = [
                s for s in self._streams.values()
                if now - s.seen > (self.limits.idle if s.sink is not None else min(self.limits.grace, self.limits.idle))
                and not s.waiting
            ]  # fmt: skip
            for stream in late:
                del self._streams[stream.id]
                out += self._remove(stream, f"no frame came for {self.limits.idle:g} s")
        self.deliver(out)
        return [stream.id for stream in late]

    def _stream(self, id: str, group: str = "") -> Stream:
        """The stream of this id, a new one where there is none."""
        stream = self._streams.get(id)
        if stream is not None:
            if group and group != stream.group:
                require_id("group", group)
                stream.group = group
            stream.seen = time.monotonic()
            return stream
        require_id("stream", id)
        if group:
            require_id("group", group)
        if self._stopping:
            raise Full("the service is stopping")
        if len(self._streams) >= self.limits.capacity:
            raise Full(f"{self.limits.capacity} streams are open already, which is this service's capacity")
        stream = self._streams[id] = Stream(id, group, self.policy, tokens=self.limits.rate)
        return stream

    def _hello(self, stream: Stream) -> Hello:
        return {
            "type": "hello", "stream": stream.id, "group": stream.group, "frame": stream.taken,
            "resumed": stream.resumed, "saved_at": stream.saved_at if stream.resumed == "snapshot" else None,
            "revision": self.knobs.table.revision,
            "queue": self.limits.queue, "policy": stream.policy, "model": self.name, "classes": self.classes,
        }  # fmt: skip

    def _remove(self, stream: Stream, cause: str) -> Delivery:
        self._forget_waiting(stream)
        if stream.row >= 0:
            self._leaving.append(stream.row)
            stream.row = -2  # whatever of it is in a batch now is not kept
        if stream.sink is None:
            return []
        return [(stream.sink, {"type": "closing", "stream": stream.id, "frame": stream.taken, "cause": cause})]

    def _forget_waiting(self, stream: Stream) -> None:
        """Frames of a socket that is gone; its client will send them again."""
        self._count -= len(stream.waiting)
        stream.waiting.clear()
        stream.accepted = stream.taken

    # Frames

    def submit(self, id: str, frame: Frame, sink: Sink | None = None, group: str = "") -> None:
        """A frame waits for its batch. Without a sink of its own it is answered on the stream's socket.

        Raises `Refusal` or `Full` where it is not taken.
        """
        out: Delivery = []
        with self._lock:
            stream = self._stream(id, group)
            try:
                number = self._admitted(stream, frame, own=sink is not None)
            except Refusal:
                stream.refused += 1
                raise
            if len(stream.waiting) >= self.limits.queue:  # newest wins
                oldest = stream.waiting.popleft()
                self._count -= 1
                stream.dropped += 1
                stream.lost += _frames(oldest.frame)
                cause = f"{self.limits.queue} frames were waiting already: the newest win"
                target = oldest.sink or stream.sink
                if target is not None:
                    out.append((target, {"type": "dropped", "stream": id, "frames": [oldest.number], "cause": cause}))
            stream.accepted, stream.origin = number, "memory"
            if not stream.queued:
                stream.queued = True
                self._ready.append(stream)
            stream.waiting.append(Waiting(stream, frame, number, sink, time.monotonic()))
            self._count += 1
            if self._count == 1 or self._count >= min(self.limits.max_batch, len(self._streams)):
                self._lock.notify()
        if out:
            self.deliver(out)

    def _admitted(self, stream: Stream, frame: Frame, own: bool) -> int:
        """The frame's number, where it may wait."""
        now, limits = time.monotonic(), self.limits
        if self._stopping:
            raise Refusal("full", "the service is stopping")
        if own and stream.sink is not None:
            raise Refusal("order", f"stream {stream.id} has an open socket: send its frames there")
        number = stream.accepted + 1 if frame.number is None else frame.number
        if number <= stream.accepted:
            raise Refusal("order", f"number is {number}, expected more than {stream.accepted}")
        self.check(frame)
        passed, stream.seen = now - stream.seen, now
        stream.tokens = min(limits.rate, stream.tokens + passed * limits.rate)
        if stream.tokens < 1.0:
            raise Refusal("rate", f"more than {limits.rate:g} frames/s came, which is the limit of one stream")
        if len(stream.waiting) >= limits.queue and (stream.policy == "refuse" or own):
            raise Refusal("full", f"{len(stream.waiting)} frames of this stream wait already")
        stream.tokens -= 1.0
        return number

    def check(self, frame: Frame) -> None:
        """Raises where no stream of this service could take such a frame."""
        try:
            self.backbone.require(frame)
            if frame.elapsed is not None and not clock.in_range(np.array([frame.elapsed]))[0]:
                raise ValueError(f"elapsed is {frame.elapsed:g}, expected {clock.ALLOWED}")
        except ValueError as error:
            raise Refusal("bad_frame", str(error)) from None

    # Batches

    def step_waiting(self, wait: bool = False) -> int:
        """One batch of what waits, answered; the number of its frames. With `wait`, of what comes within a second."""
        frames = self._gather(1.0 if wait else 0.0)
        if frames:
            self._step(frames)
        return len(frames)

    def _gather(self, wait: float) -> list[Waiting]:
        limits = self.limits
        with self._lock:
            if not self._count and wait:
                self._lock.wait(wait)
            if self._count and wait and limits.max_wait:
                until = time.monotonic() + limits.max_wait
                while self._count < min(limits.max_batch, len(self._streams)) and not self._stopping:
                    left = until - time.monotonic()
                    if left <= 0 or not self._lock.wait(left):
                        break
            batch: list[Waiting] = []
            while self._ready and len(batch) < limits.max_batch:
                stream = self._ready.popleft()
                stream.queued = False
                if not stream.waiting:  # its socket dropped
                    continue
                item = stream.waiting.popleft()
                stream.taken = item.number
                if stream.lost:
                    lost, stream.lost = stream.lost, 0
                    if item.frame.time is None:
                        item = item._replace(frame=item.frame._replace(elapsed=lost + _frames(item.frame)))
                batch.append(item)
                if stream.waiting:
                    stream.queued = True
                    self._ready.append(stream)
            self._count -= len(batch)
            return batch

    def _step(self, items: list[Waiting]) -> None:
        began = time.monotonic()
        branch, causes = self.backbone([item.frame for item in items])
        computed = time.monotonic()
        out: Delivery = []
        done: list[tuple[Waiting, Answer]] = []
        with self._stepping:
            self._give_back()
            if branch is not None and self._rows.state is None:
                self._rows.begin(branch.z_static.shape[1])
            table = self.knobs.table
            for places in rounds(items):
                good = [place for place in places if causes[place] is None and items[place].stream.row != -2]
                if branch is None:
                    for place in good:
                        causes[place] = "no frame came before, so nothing can be held"
                elif good:
                    done += self._round([items[place] for place in good], good, branch, table, causes)
        for item, cause in zip(items, causes, strict=True):
            if cause is not None:
                item.stream.refused += 1
                reply: Reply = {
                    "type": "refused", "stream": item.stream.id, "frame": item.number, "cause": cause, "code": "model",
                }  # fmt: skip
                out.append((item.sink or item.stream.sink or _nobody, reply))
        ended = time.monotonic()
        with self._lock:
            for item, answer in done:
                self._record(item, answer, ended)
                out.append((item.sink or item.stream.sink or _nobody, answer))
        self.deliver(out)
        waits = [ended - item.arrived for item, _ in done]
        self.observe(Batch(len(items), computed - began, ended - computed, waits, [a for _, a in done]))

    def _round(
        self, items: list[Waiting], places: list[int], branch: Branch, table: KnobTable, causes: list[str | None]
    ) -> Iterable[tuple[Waiting, Answer]]:
        """One frame each of different streams."""
        for item in items:
            if item.stream.row == -1:
                item.stream.row = self._rows.take()
        rows = np.array([item.stream.row for item in items])
        old = self._rows.read(rows)
        settings = [table.acting(item.stream.id, item.stream.group) for item in items]
        told = np.array([(_told(i.frame.elapsed), _told(i.frame.time), s.frame_rate)
                         for i, s in zip(items, settings, strict=True)])  # fmt: skip
        gap, after = clock.since_last(old, *told.T)
        wrong = ~clock.in_range(gap)
        for k in np.flatnonzero(wrong):
            causes[places[k]] = f"time makes {gap[k]:g} frames, expected {clock.ALLOWED}"
        gap = np.where(old.seen, gap, 1.0)
        groups: dict[Any, list[int]] = defaultdict(list)
        for k, chosen in enumerate(settings):
            if not wrong[k]:
                groups[chosen.on, chosen.memory, chosen.mode, chosen.weights].append(k)
        for members in groups.values():
            index = np.array(members)
            mine, chosen = [items[k] for k in members], [settings[k] for k in members]
            acting = [self._acting(item.stream, s) for item, s in zip(mine, chosen, strict=True)]
            zeta, omega_n = (np.array(column) for column in zip(*acting, strict=True))
            part = _branch_rows(branch, np.array(places)[index])
            old_part = state.rows(old, index)
            result, new = advance(old_part, part, gap[index], after[index], (zeta, omega_n), chosen[0], self.source)
            self._rows.write(rows[index], new)
            for item, knobs in zip(mine, acting, strict=True):
                item.stream.knobs = knobs
            bare = self._bare(new)
            yield from zip(mine, self._answers(mine, result, bare, table.revision), strict=True)

    def _acting(self, stream: Stream, settings: Settings) -> tuple[float, float]:
        wanted = settings.zeta, settings.omega_n
        return slewed(stream.knobs or wanted, wanted, self._slew)

    def _bare(self, new: state.State) -> np.ndarray:
        """(N,) what the last good frame alone says."""
        g = self._gate.without_inertia.reset(new.u_star, 1.0, 1.0)[1]
        alone = fused(Inputs(new.z_static, new.z_dyn, new.u_star, g, g))
        return np.where(new.seen, alone.argmax(axis=-1), -1)

    def _answers(self, items: list[Waiting], found: Answers, bare: np.ndarray, revision: int) -> Iterable[Answer]:
        names = ("label", "p_max", "g", "u", "u_star", "t_eff", "csr", "missing", "age", "zeta", "omega_n")
        columns = {name: getattr(found, name).tolist() for name in names}
        for name in ("t_eff", "csr", "u", "u_star", "p_max", "g"):
            columns[name] = [x if math.isfinite(x) else None for x in columns[name]]
        for k, (item, alone) in enumerate(zip(items, bare.tolist(), strict=True)):
            values: dict[str, Any] = {name: column[k] for name, column in columns.items()}
            answer: Any = {"type": "answer", "stream": item.stream.id, "frame": item.number, **values}
            answer["name"] = self.class_name(answer["label"])
            answer["revision"] = revision
            if item.frame.probabilities:
                answer["probabilities"] = found.probabilities[k].tolist()
            item.stream.ring.add(item.number, answer["g"] or 0.0, answer["p_max"] or 0.0, answer["label"], alone)
            yield answer

    def _record(self, item: Waiting, answer: Answer, now: float) -> None:
        stream = item.stream
        stream.answered += 1
        stream.last = answer
        stream.recent.append(answer)

    def _give_back(self) -> None:
        with self._lock:
            leaving, self._leaving = self._leaving, []
        for row in leaving:
            self._rows.give(row)

    # Watching

    def class_name(self, label: int) -> str | None:
        return self.classes[label] if self.classes is not None and 0 <= label < len(self.classes) else None

    def listing(self) -> list[StreamInfo]:
        """All streams, by id."""
        with self._lock:
            streams = sorted(self._streams.values(), key=lambda stream: stream.id)
            return [self._info(stream) for stream in streams]

    def detail(self, id: str, since: int = 0) -> StreamDetail | None:
        with self._lock:
            stream = self._streams.get(id)
            return None if stream is None else {**self._info(stream), "history": stream.ring.since(since)}

    def stream(self, id: str) -> Stream | None:
        return self._streams.get(id)

    def __len__(self) -> int:
        return len(self._streams)

    def _info(self, stream: Stream) -> StreamInfo:
        last = stream.last
        settings = self.knobs.table.acting(stream.id, stream.group)
        return {
            "stream": stream.id, "group": stream.group, "connected": stream.sink is not None,
            "resumed": stream.resumed, "frame": stream.taken, "frames": stream.answered, "dropped": stream.dropped,
            "refused": stream.refused, "waiting": len(stream.waiting),
            "idle": round(time.monotonic() - stream.seen, 3), "rate": round(stream.rate, 2),
            "label": -1 if last is None else last["label"], "name": None if last is None else last["name"],
            "p_max": None if last is None else last["p_max"], "g": None if last is None else last["g"],
            "flips": stream.ring.flips(), "flips_bare": stream.ring.flips("bare"), "knobs": knobs_json(settings),
            "revision": 0 if last is None else last["revision"], "picture": stream.picture is not None,
        }  # fmt: skip

    # The worker

    def start(self) -> None:
        """Step in a thread until `stop`."""
        self._thread = threading.Thread(target=self._work, name="knob engine", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Take no more frames, answer those that wait, and end the thread."""
        with self._lock:
            self._stopping = True
            self._lock.notify_all()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        while True:
            try:
                done = self.step_waiting(wait=True)
            except Exception:
                log.exception("a batch failed")
                done = 1
            if not done and self._stopping:
                return


@dataclass(frozen=True)
class Batch:
    """What one batch took."""

    frames: int
    model: float  # s
    steps: float  # s: memory, gate, answers
    waits: list[float]  # s from arrival to answer, of every answered frame
    answers: list[Answer]


def require_id(what: str, id: str) -> None:
    if not ID.fullmatch(id):
        raise ValueError(f"{what} is {id[:80]!r}, expected 1 to 64 of the letters A-Z a-z 0-9 . _ : -")


def rounds(items: Sequence[Waiting]) -> list[list[int]]:
    """Places in a batch: the first frames of all streams, then the second ones, and so on."""
    found: list[list[int]] = []
    counts: dict[int, int] = defaultdict(int)
    for place, item in enumerate(items):
        turn = counts[id(item.stream)]
        counts[id(item.stream)] += 1
        if turn == len(found):
            found.append([])
        found[turn].append(place)
    return found


def _branch_rows(branch: Branch, places: np.ndarray) -> Branch:
    u_star = None if branch.u_star is None else branch.u_star[places]
    return Branch(branch.z_static[places], branch.z_dyn[places], u_star)


def _frames(frame: Frame) -> float:
    return 1.0 if frame.elapsed is None else frame.elapsed


def _told(value: float | None) -> float:
    return math.nan if value is None else value


def _deliver_now(replies: Delivery) -> None:
    for sink, reply in replies:
        sink(reply)


def _nobody(reply: Reply) -> None:
    pass
