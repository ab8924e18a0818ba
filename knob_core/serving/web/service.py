"""What every request of a service may ask for: the engine, who may do what, and how much is taken."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from knob_core.serving.access import Access, Caller
from knob_core.serving.decode import BadFrame, Listed, frame_of, opened
from knob_core.serving.engine import Engine, Full, Refusal
from knob_core.serving.knob_control import Change
from knob_core.serving.maintenance import Maintenance
from knob_core.serving.messages import Code, Frame, KnobChange, KnobState, Refused, Reply, StreamInfo

if TYPE_CHECKING:
    from knob_core.serving.metrics import Metrics

INLINE = 16_384  # bytes of pixels or numbers that are not worth a thread


@dataclass
class Service:
    """One running service."""

    engine: Engine
    access: Access = field(default_factory=Access)
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

    @property
    def max_frame(self) -> int:
        """Bytes of one frame."""
        return self.engine.limits.max_frame

    async def frame(self, message: bytes) -> tuple[Frame, np.ndarray | None]:
        """A frame and its small picture, decoded beside the event loop where that takes long."""
        header, content = opened(message)
        prepare = self.engine.stepper.backbone.prepare
        if header.kind != "picture" and len(content) <= INLINE:
            return frame_of(header, content, prepare)
        return await asyncio.to_thread(frame_of, header, content, prepare)

    async def listed_frame(self, listed: Listed) -> tuple[Frame, np.ndarray | None]:
        """The same of one frame of many."""
        prepare = self.engine.stepper.backbone.prepare
        return listed.decoded(prepare) if listed.picture is None else await asyncio.to_thread(listed.decoded, prepare)

    # What concerns more than this process where several services share the streams: `knob_core.serving.on_ray`

    async def recall(self, id: str, socket: bool = False) -> None:
        """Before a frame or a socket of a stream is taken: fetch its state, where it was elsewhere before."""

    async def forget(self, id: str) -> bool:
        """End a stream; whether there was one."""
        return self.engine.forget(id)

    async def listing(self) -> list[StreamInfo]:
        """For `GET /v1/streams`."""
        return await asyncio.to_thread(self.engine.listing)

    async def knob_state(self) -> KnobState:
        """For `GET /v1/knobs`."""
        return self.engine.knobs.table.to_json()

    async def knob_log(self) -> list[KnobChange]:
        """For `GET /v1/knobs/log`."""
        return list(self.engine.knobs.log)

    async def change_knobs(self, change: Change, by: str) -> KnobState:
        return change.made(self.engine.knobs, by).to_json()

    async def metrics_text(self) -> bytes:
        if self.metrics is None:
            raise LookupError("this service has no metrics")
        return await asyncio.to_thread(self.metrics.text)

    async def whole_about(self, caller: Caller) -> dict[str, Any]:
        return self.about(caller)

    async def step_elsewhere(self, frames: list[Listed]) -> list[Reply] | None:
        """Replies to frames of many streams; None: they are all answered here."""
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
                "frame_bytes": self.max_frame, "queue": limits.queue, "grace": limits.grace,
                "idle": limits.idle, "max_batch": limits.max_batch,
            },
        }  # fmt: skip


def refusal(id: str, error: ValueError, number: int | None = None) -> Refused:
    """A frame of a stream was not taken."""
    code: Code = error.code if isinstance(error, Refusal) else "full" if isinstance(error, Full) else "bad_frame"
    number = error.number if isinstance(error, BadFrame) else number
    return {"type": "refused", "stream": id, "frame": number, "cause": str(error), "code": code}
