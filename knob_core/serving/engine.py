"""The engine of a service, free of the network: frames of many streams in, answers out, one batch at a time.

A worker gathers what has arrived (bounded wait, bounded batch) and steps it (`knob_core.serving.stepper`). Streams are
served in turn, so none starves; frames of one stream keep their order, and two of them may share a batch. What waits is
bounded per stream: where a queue is full, the newest frames win or the new one is refused, and the client is told.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

import numpy as np

from knob_core._arrays.checks import whole_number
from knob_core.runtime.sources import Source
from knob_core.serving.knob_control import KnobControl, knobs_json
from knob_core.serving.messages import (
    LAST_NUMBER,
    REPLACED,
    RESTART,
    Closing,
    Code,
    Frame,
    Hello,
    Reply,
    StreamInfo,
    require_id,
)
from knob_core.serving.served_stream import POLICIES, Policy, ServedStream, Sink, Waiting
from knob_core.serving.stepper import Batch, FrameFault, Stepper, frames_of
from knob_core.settings import Settings

log = logging.getLogger(__name__)

Delivery = list[tuple[Sink, Reply]]


class Full(ValueError):
    """No room for another stream."""


class Refusal(ValueError):
    """A frame that is not taken; `code` as in `messages.Refused`."""

    def __init__(self, code: Code, cause: str) -> None:
        super().__init__(cause)
        self.code = code


@dataclass(frozen=True)
class Limits:
    """What a service takes on."""

    capacity: int = 1000  # streams
    queue: int = 4  # frames of one stream that may wait
    max_frame: int = 2_000_000  # bytes of one frame, as it is sent
    max_batch: int = 64  # frames
    max_wait: float = 0.002  # s that the first frame of a batch waits for others
    grace: float = 60.0  # s that a stream's state is kept after its socket dropped
    idle: float = 600.0  # s without a frame after which a stream is forgotten

    def __post_init__(self) -> None:
        for name in ("capacity", "queue", "max_frame", "max_batch"):
            whole_number(name, getattr(self, name), 1)
        for name in ("grace", "idle"):
            if not 0 < getattr(self, name) < math.inf:
                raise ValueError(f"{name} is {getattr(self, name)!r}, expected a finite number > 0")
        if not 0 <= self.max_wait <= 1:
            raise ValueError(f"max_wait is {self.max_wait!r}, expected a number of seconds in [0, 1]")


class Engine:
    """A model, the states of all streams, and the knobs."""

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
        if settings is None:
            settings = Settings(*source.knobs) if source.knobs is not None else Settings()
        self.source, self.limits, self.name, self.policy = source, limits or Limits(), name, checked_policy(policy)
        self.classes = list(classes) if classes is not None else None
        self.stepper, self.knobs = Stepper(source, slew, self.classes), KnobControl(settings)
        self.deliver: Callable[[Delivery], None] = deliver_now  # the network's own puts it into its loop
        self.observe: Callable[[Batch], None] = lambda batch: None  # metrics
        self.streams: dict[str, ServedStream] = {}
        self._ready: deque[ServedStream] = deque()  # streams with waiting frames, in turn
        self._count = 0  # frames that wait
        self.dropped = self.refused = 0  # frames, of all streams ever
        self._leaving: list[ServedStream] = []  # whose rows are to be given back
        self.lock = threading.Condition()  # of streams and queues; taken after the stepper's
        self.stopping = False
        self._thread: threading.Thread | None = None

    # Streams

    def join(
        self, id: str, group: str = "", policy: Policy | None = None, sink: Sink | None = None, after: int | None = None
    ) -> Hello:
        """A socket opens a stream, or comes back to it; replies above number `after` are sent to it again."""
        if policy is not None:
            checked_policy(policy)
        out: Delivery = []
        with self.lock:
            stream = self._stream(id, group)
            self._open(stream, group)
            old, stream.sink, stream.policy = stream.sink, sink, policy or stream.policy
            stream.seen = time.monotonic()
            cause = "another socket was opened for this stream"
            out += self._forget_waiting(stream, cause)
            if old is not None:
                out.append((old, closing(id, stream.taken, cause, REPLACED)))
            stream.resumed, stream.origin = stream.origin, "memory"
            missed = [item for item in stream.recent if after is not None and item[0] > after]
            hello = self._hello(stream, [number for number, _ in missed])
            if sink is not None:
                out += [(sink, hello), *((sink, reply) for _, reply in missed)]
            self.deliver(out)  # within the lock: an answer from a batch that ends now comes after the hello
        return hello

    def part(self, id: str, sink: Sink) -> None:
        """A socket dropped; the state stays for the grace time. Nothing where another socket came already."""
        out: Delivery = []
        with self.lock:
            stream = self.streams.get(id)
            if stream is not None and stream.sink is sink:
                stream.sink, stream.seen = None, time.monotonic()
                out = self._forget_waiting(stream, "the stream's socket was closed")
        self.deliver(out)

    def forget(self, id: str, cause: str = "the stream was ended") -> bool:
        """End a stream: its state is gone."""
        with self.lock:
            stream = self.streams.pop(id, None)
            if stream is None:
                return False
            out = self._remove(stream, cause)
        self.deliver(out)
        return True

    def expire(self, now: float | None = None) -> list[str]:
        """Forget streams whose grace or idle time is over; their ids."""
        now = time.monotonic() if now is None else now
        out: Delivery = []
        with self.lock:
            late = [s for s in self.streams.values() if now - s.seen > self._patience(s) and not s.waiting]
            for stream in late:
                del self.streams[stream.id]
                out += self._remove(stream, f"no frame came for {self.limits.idle:g} s")
        self.deliver(out)
        return [stream.id for stream in late]

    def _patience(self, stream: ServedStream) -> float:
        return self.limits.idle if stream.sink is not None else min(self.limits.grace, self.limits.idle)

    def _stream(self, id: str, group: str) -> ServedStream:
        """The stream of this id, or a new one, which is not open yet."""
        if group:
            require_id("group", group)
        if (stream := self.streams.get(id)) is not None:
            return stream
        require_id("stream", id)
        if self.stopping:
            raise Full("the service is stopping")
        if len(self.streams) >= self.limits.capacity:
            raise Full(f"{self.limits.capacity} streams are open already, which is this service's capacity")
        return ServedStream(id, group, self.policy)

    def _open(self, stream: ServedStream, group: str) -> None:
        stream.group = group or stream.group
        self.streams[stream.id] = stream

    def _hello(self, stream: ServedStream, again: list[int]) -> Hello:
        return {
            "type": "hello", "stream": stream.id, "group": stream.group, "frame": stream.taken,
            "answered": stream.settled, "again": again,
            "resumed": stream.resumed, "saved_at": stream.saved_at if stream.resumed == "snapshot" else None,
            "revision": self.knobs.table.revision,
            "queue": self.limits.queue, "frame_bytes": self.limits.max_frame, "policy": stream.policy,
            "model": self.name, "classes": self.classes,
        }  # fmt: skip

    def _remove(self, stream: ServedStream, cause: str) -> Delivery:
        out = self._forget_waiting(stream, cause)
        self._leaving.append(stream)
        if stream.sink is not None:
            out.append((stream.sink, closing(stream.id, stream.taken, cause)))
        return out

    def _forget_waiting(self, stream: ServedStream, cause: str) -> Delivery:
        """Frames of a socket that is gone; its client will send them again, or count them as elapsed itself.

        What came by HTTP is answered: nobody sends it again.
        """
        self._count -= len(stream.waiting)
        alone = [item for item in stream.waiting if item.sink is not None]
        stream.waiting.clear()
        stream.accepted, stream.lost = stream.taken, 0.0
        out = [self._refused(item, cause, "order") for item in alone]
        stream.keep_replies_up_to(stream.taken)  # the numbers above come again, and have other replies then
        return out

    # Frames

    def submit(
        self, id: str, frame: Frame, sink: Sink | None = None, group: str = "", picture: np.ndarray | None = None
    ) -> None:
        """A frame waits for its batch. Without a sink of its own it is answered on the stream's socket.

        Raises `Refusal` or `Full` where it is not taken.
        """
        out: Delivery = []
        with self.lock:
            stream = self._stream(id, group)
            try:
                number = self._judged(stream, frame, alone=sink is not None)
            except Refusal:
                self.refused += 1
                stream.refused += 1
                raise
            self._open(stream, group)  # a refused frame opens no stream, and moves none
            if len(stream.waiting) >= self.limits.queue:
                out.append(self._dropped(stream))
            stream.accepted, stream.origin = number, "memory"
            stream.picture = stream.picture if picture is None else picture
            if not stream.queued:
                stream.queued = True
                self._ready.append(stream)
            stream.waiting.append(Waiting(stream, frame, number, sink, time.monotonic()))
            self._count += 1
            if self._count == 1 or self._count >= min(self.limits.max_batch, len(self.streams)):
                self.lock.notify()
        if out:
            self.deliver(out)

    def _judged(self, stream: ServedStream, frame: Frame, alone: bool) -> int:
        """The frame's number, where it may wait; `alone`: it came without the stream's socket."""
        stream.seen = time.monotonic()
        if self.stopping:
            raise Refusal("full", "the service is stopping")
        if alone and stream.sink is not None:
            raise Refusal("order", f"stream {stream.id} has an open socket: send its frames there")
        number = stream.accepted + 1 if frame.number is None else frame.number
        if number <= stream.accepted:
            raise Refusal("order", f"number is {number}, expected more than {stream.accepted}")
        if number > LAST_NUMBER:
            raise Refusal(
                "order", f"number would be {number}, expected at most {LAST_NUMBER}: begin a stream of another id"
            )
        try:
            self.stepper.backbone.require(frame)
            sent = frame.content if frame.kind == "logits" else None
            if sent is not None and (cause := stream.probabilities.problem("logits", sent[None])) is not None:
                raise ValueError(cause)
        except ValueError as error:
            raise Refusal("bad_frame", str(error)) from None
        if len(stream.waiting) >= self.limits.queue and (stream.policy == "refuse" or alone):
            raise Refusal("full", f"{len(stream.waiting)} frames of this stream wait already")
        return number

    def _dropped(self, stream: ServedStream) -> tuple[Sink, Reply]:
        """The oldest waiting frame gives way to a newer one; the next counts it as elapsed."""
        oldest = stream.waiting.popleft()
        self._count -= 1
        self.dropped += 1
        stream.dropped += 1
        stream.lost += frames_of(oldest.frame)
        cause = f"{self.limits.queue} frames were waiting already: the newest win"
        reply: Reply = {"type": "dropped", "stream": stream.id, "frames": [oldest.number], "cause": cause}
        stream.recent.append((oldest.number, reply))
        return oldest.sink or stream.sink or nobody, reply

    # Batches

    def step_waiting(self, wait: float = 0.0) -> int:
        """One batch of what waits, answered; the number of its frames. With `wait`, of what comes within that time."""
        items = self._gather(wait)
        with self.lock:
            leaving, self._leaving = self._leaving, []
        self.stepper.release(leaving)
        if not items:
            return 0
        batch = self._stepped(items)
        now = time.monotonic()
        with self.lock:
            numbered = [(item.number, self._refused(item, cause, _code(cause))) for item, cause in batch.causes]
            for item, _ in (*batch.causes, *batch.answers):
                item.stream.settled = max(item.stream.settled, item.number)
            for item, answer in batch.answers:
                stream = item.stream
                stream.note(now)
                stream.last = answer
                stream.recent.append((item.number, answer))
                numbered.append((item.number, (item.sink or stream.sink or nobody, answer)))
        in_order = sorted(numbered, key=itemgetter(0))  # replies to a stream come in the order of its frames
        self.deliver([reply for _, reply in in_order])
        self.observe(batch)
        return len(items)

    def _stepped(self, items: list[Waiting]) -> Batch:
        """What the batch gave. Where it failed as a whole every frame has the cause: no client waits for ever."""
        try:
            return self.stepper.step(items, self.knobs.table)
        except Exception as error:
            log.exception("a batch of %d frames failed", len(items))
            cause = f"the batch failed: {type(error).__name__}; the service's log says more"
            return Batch([], [(item, cause) for item in items], 0.0, 0.0, 0.0)

    def _gather(self, wait: float) -> list[Waiting]:
        limits = self.limits
        with self.lock:
            if not self._count and wait and not self.stopping:
                self.lock.wait(wait)
            if self._count and wait and limits.max_wait:
                until = time.monotonic() + limits.max_wait
                while self._count < min(limits.max_batch, len(self.streams)) and not self.stopping:
                    left = until - time.monotonic()
                    if left <= 0 or not self.lock.wait(left):
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
                    lost, stream.lost = stream.lost, 0.0
                    if item.frame.time is None:
                        item = item._replace(frame=item.frame._replace(elapsed=lost + frames_of(item.frame)))
                batch.append(item)
                if stream.waiting:
                    stream.queued = True
                    self._ready.append(stream)
            self._count -= len(batch)
            return batch

    def _refused(self, item: Waiting, cause: str, code: Code = "model") -> tuple[Sink, Reply]:
        self.refused += 1
        item.stream.refused += 1
        reply: Reply = {
            "type": "refused", "stream": item.stream.id, "frame": item.number, "cause": cause, "code": code,
        }  # fmt: skip
        item.stream.recent.append((item.number, reply))
        return item.sink or item.stream.sink or nobody, reply

    # Watching

    def listing(self) -> list[StreamInfo]:
        """All streams, by id."""
        with self.lock:
            return [self._info(self.streams[id]) for id in sorted(self.streams)]

    def detail(self, id: str, since: int = 0) -> StreamInfo | None:
        with self.lock:
            stream = self.streams.get(id)
            return None if stream is None else {**self._info(stream), "history": stream.ring.since(since)}

    def _info(self, stream: ServedStream) -> StreamInfo:
        last: Any = stream.last or {}
        return {
            "stream": stream.id, "group": stream.group, "connected": stream.sink is not None,
            "resumed": stream.resumed, "frame": stream.taken, "frames": stream.answered, "dropped": stream.dropped,
            "refused": stream.refused, "waiting": len(stream.waiting),
            "idle": round(time.monotonic() - stream.seen, 3), "rate": round(stream.rate, 2),
            "label": last.get("label", -1), "name": last.get("name"), "p_max": last.get("p_max"), "g": last.get("g"),
            "flips": stream.ring.flips("label"), "flips_bare": stream.ring.flips("bare"),
            "knobs": knobs_json(self.knobs.table.acting(stream.id, stream.group)),
            "revision": last.get("revision", 0), "picture": stream.picture is not None,
        }  # fmt: skip

    # The worker

    def start(self) -> None:
        """Step in a thread until `stop`."""
        self._thread = threading.Thread(target=self._work, name="knob engine", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Take no more frames, answer those that wait, and end the thread."""
        with self.lock:
            self.stopping = True
            self.lock.notify_all()
        if self._thread is not None:
            self._thread.join()
            self._thread = None

    def say_goodbye(self, cause: str) -> None:
        """Close every socket; the states stay."""
        with self.lock:
            streams = self.streams.values()
            out: Delivery = [(s.sink, closing(s.id, s.stepped, cause)) for s in streams if s.sink is not None]
        self.deliver(out)

    def has_sockets(self) -> bool:
        """Whether some stream's socket is open."""
        with self.lock:
            return any(stream.sink is not None for stream in self.streams.values())

    def _work(self) -> None:
        while True:
            try:
                done = self.step_waiting(wait=1.0)
            except Exception:
                log.exception("a batch failed")
                done = 1
            if not done and self.stopping:
                return


def closing(id: str, frame: int, cause: str, code: int = RESTART) -> Closing:
    return {"type": "closing", "stream": id, "frame": frame, "cause": cause, "code": code}


def checked_policy(policy: str) -> Policy:
    if policy not in POLICIES:
        raise ValueError(f"policy is {policy[:40]!r}, expected one of {', '.join(POLICIES)}")
    return policy  # type: ignore[return-value]


def deliver_now(replies: Delivery) -> None:
    """Each to its sink; one that fails keeps no other from its reply."""
    for sink, reply in replies:
        try:
            sink(reply)
        except Exception:
            log.exception("a reply was not delivered", extra={"stream": reply["stream"]})


def _code(cause: str) -> Code:
    return "bad_frame" if isinstance(cause, FrameFault) else "model"


def nobody(reply: Reply) -> None:
    """The sink of a stream without a socket."""
