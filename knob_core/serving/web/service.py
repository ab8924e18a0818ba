"""What every request of a service may ask for: the engine, who may do what, and how much is taken."""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from knob_core.serving.access import Access, Caller
from knob_core.serving.decode import MAX_NUMBERS, frame_of
from knob_core.serving.engine import Engine
from knob_core.serving.knob_control import Change
from knob_core.serving.maintenance import Maintenance
from knob_core.serving.messages import Frame, Header, KnobState, StreamInfo, as_text
from knob_core.serving.web.decoders import Decoders
from knob_core.serving.web.one_at_a_time import OneAtATime
from knob_core.serving.web.one_for_all import OneForAll

if TYPE_CHECKING:
    from knob_core.serving.metrics import Metrics

INLINE = 16_384  # bytes of pixels, numbers or JSON that are not worth a thread
BESIDE_NUMBERS = 4096  # characters of a frame in JSON
PER_NUMBER = 40  # characters of one in JSON: 24 at most, a comma, and room for those who indent


@dataclass
class Service:
    """One running service."""

    engine: Engine
    access: Access = field(default_factory=Access)
    max_text: int = 1_000_000  # characters of a frame in JSON, however many classes there are
    decoders: int = 2  # threads that decode pictures, and as many for large ones
    started: float = field(default_factory=time.time)
    problems: dict[str, str] = field(default_factory=dict)  # what is wrong now, by subject
    maintenance: Maintenance | None = None
    metrics: Metrics | None = None
    ready: bool = False
    draining: bool = False

    def start(self) -> None:
        """Load what was saved, and begin to answer."""
        if self.maintenance is not None:
            self.maintenance.start()
        self.engine.start()
        self.ready = True

    def drain(self) -> None:
        """Take no more frames, answer those that wait, save, and tell every client to come back."""
        if self.draining:
            return
        self.draining = True
        self.engine.stop()
        if self.maintenance is not None:
            self.maintenance.stop()
        self.engine.say_goodbye("the service stops; connect again")

    def __post_init__(self) -> None:
        self.pictures = Decoders(self.decoders)
        self.lists = OneAtATime()
        self.unanswered = 0  # bytes of lists of frames in work, also of clients that have gone
        self.watching = OneAtATime()
        self._listing = OneForAll(lambda: listed(self.engine.listing()), self.watching)
        self._knobs = OneForAll(lambda: as_text(self.engine.knobs.table.to_json()).encode(), self.watching)
        self._log = OneForAll(lambda: as_text({"changes": list(self.engine.knobs.log)}).encode(), self.watching)
        self._measured = OneForAll(self._measure, self.watching)

    @property
    def max_frame(self) -> int:
        """Bytes of one frame."""
        return self.engine.limits.max_frame

    def text_limit(self) -> int:
        """Characters of a frame in JSON: those of the model's logits. JSON is parsed while everybody else waits."""
        backbone = self.engine.stepper.backbone
        most = MAX_NUMBERS if backbone.num_classes is None else backbone.num_classes
        return min(self.max_text, BESIDE_NUMBERS + PER_NUMBER * (most if backbone.single_branch else 0))

    async def frame(
        self, id: str, header: Header, content: bytes | memoryview, own: bool = True
    ) -> tuple[Frame, np.ndarray | None]:
        """A frame of a stream and its small picture, decoded beside the event loop where that takes long.

        `own`: it came without the stream's socket. Refused where it could not be taken anyway.
        """
        prepare = self.engine.stepper.backbone.prepare
        if header["kind"] != "picture" and len(content) <= INLINE:
            return frame_of(header, content, prepare)
        kind = header["kind"] if header["kind"] in ("picture", "raw") else "missing"  # what numbers hold is seen later
        unread = Frame(kind, None, header.get("number"), header.get("elapsed"), header.get("time"))
        admit = functools.partial(self.engine.require_admitted, id, unread, own)
        return await self.pictures.run(id, admit, header, content, prepare)

    # What concerns more than this process where several services share the streams: `knob_core.serving.on_ray`

    async def recall(self, id: str, socket: bool = False) -> None:
        """Before a frame or a socket of a stream is taken: fetch its state, where it was elsewhere before."""

    async def forget(self, id: str) -> bool:
        """End a stream; whether there was one."""
        return self.engine.forget(id)

    async def listing_text(self) -> bytes:
        """The answer to `GET /v1/streams`."""
        return await self._listing.get()

    async def knob_text(self) -> bytes:
        """The answer to `GET /v1/knobs`."""
        return await self._knobs.get()

    async def log_text(self) -> bytes:
        """The answer to `GET /v1/knobs/log`."""
        return await self._log.get()

    async def change_knobs(self, change: Change, by: str) -> KnobState:
        return change.made(self.engine.knobs, by).to_json()

    async def metrics_text(self) -> bytes:
        return await self._measured.get()

    def _measure(self) -> bytes:
        if self.metrics is None:
            raise LookupError("this service has no metrics")
        return self.metrics.text()

    async def whole_about(self, caller: Caller) -> dict[str, Any]:
        return self.about(caller)

    async def step_elsewhere(self, entries: list[Any]) -> list[Any] | None:
        """Replies to frames of many streams (entries of `POST /v1/frames`); None: they are all answered here."""
        return None

    def about(self, caller: Caller) -> dict[str, Any]:
        """What `GET /v1/service` says of this process."""
        limits = self.engine.limits
        return {
            "model": self.engine.name, "method": self.engine.source.method, "classes": self.engine.classes,
            "num_classes": self.engine.stepper.backbone.num_classes,
            "streams": len(self.engine.streams), "capacity": limits.capacity,
            "policy": self.engine.policy, "revision": self.engine.knobs.table.revision, "ready": self.ready,
            "started": self.started, "problems": self.problems, "role": caller.role, "name": caller.name,
            "limits": {
                "frame_bytes": self.max_frame, "queue": limits.queue, "rate": limits.rate, "grace": limits.grace,
                "idle": limits.idle, "max_batch": limits.max_batch,
            },
        }  # fmt: skip


def listed(streams: list[StreamInfo]) -> bytes:
    """As JSON, row by row: the encoder lets no other thread work before it is done."""
    return f'{{"streams":[{",".join(map(as_text, streams))}]}}'.encode()
