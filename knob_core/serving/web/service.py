"""What every request of a service may ask for: the engine, who may do what, and how much is taken."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from knob_core.serving.access import Access, Caller
from knob_core.serving.decode import frame_of
from knob_core.serving.engine import Engine
from knob_core.serving.keeper import Keeper
from knob_core.serving.messages import Frame, Header

if TYPE_CHECKING:
    from knob_core.serving.metrics import Metrics

INLINE = 16_384  # bytes of pixels or numbers that are not worth a thread


@dataclass
class Service:
    """One running service."""

    engine: Engine
    access: Access = field(default_factory=Access)
    max_frame: int = 2_000_000  # bytes of one frame
    max_text: int = 1_000_000  # bytes of any other message
    decoders: int = 2  # threads that decode pictures
    started: float = field(default_factory=time.time)
    problems: dict[str, str] = field(default_factory=dict)  # what is wrong now, by subject
    keeper: Keeper | None = None
    metrics: Metrics | None = None
    ready: bool = False
    draining: bool = False

    def start(self) -> None:
        """Load what was saved, and begin to answer."""
        if self.keeper is not None:
            self.keeper.start()
        self.engine.start()
        self.ready = True

    def drain(self) -> None:
        """Take no more frames, answer those that wait, save, and tell every client to come back."""
        if self.draining:
            return
        self.draining = True
        self.engine.stop()
        if self.keeper is not None:
            self.keeper.stop()
        self.engine.say_goodbye("the service stops; connect again")

    def __post_init__(self) -> None:
        self.pool = ThreadPoolExecutor(self.decoders, "knob decoder")

    async def frame(self, header: Header, content: bytes | memoryview) -> tuple[Frame, np.ndarray | None]:
        """A frame and its small picture, decoded beside the event loop where that takes long."""
        prepare = self.engine.stepper.backbone.prepare
        if header["kind"] != "picture" and len(content) <= INLINE:
            return frame_of(header, content, prepare)
        import asyncio

        return await asyncio.get_running_loop().run_in_executor(self.pool, frame_of, header, content, prepare)

    def about(self, caller: Caller) -> dict[str, Any]:
        """What `GET /v1/service` says."""
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
