"""Clients of a service (`knob serve`): frames out, answers back, knobs turned from afar.

    with Stream("http://127.0.0.1:8600", "camera-1") as stream:
        answer = stream.step(frame)                 # waits for the answer; connects again by itself
    Service("http://127.0.0.1:8600").turn(omega_n=0.2)

`AsyncStream` is the same for asyncio. Needs the package `websockets` (the extra `serve`); `Service` needs nothing.
"""

from knob_core.client.async_stream import AsyncStream, Lost
from knob_core.client.service import Service, ServiceError
from knob_core.client.stream import Stream

__all__ = ["AsyncStream", "Lost", "Service", "ServiceError", "Stream"]
