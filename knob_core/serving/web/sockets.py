"""The WebSocket of a stream: frames in, answers out, in the order of the frames."""

from __future__ import annotations

import asyncio
import logging
from collections import deque

from starlette.responses import JSONResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

from knob_core.serving.decode import of_logits
from knob_core.serving.engine import Full, Refusal
from knob_core.serving.messages import (
    MAX_HEADER,
    PROTOCOL,
    TOO_BIG,
    BadFrame,
    Code,
    Refused,
    Reply,
    as_text,
    parsed,
    unpack,
)
from knob_core.serving.web.guard import denied, token_of
from knob_core.serving.web.service import Service

MOST_UNREAD = 256  # answers that a client may leave unread
MOST_BAD = 100  # messages in a row that are no frames
POLICY = 1008  # close code of this file's own; others come with the message `closing`
log = logging.getLogger(__name__)


class Connection:
    """Answers on their way to one socket; bounded, so that a client that does not read costs no memory."""

    def __init__(self, socket: WebSocket) -> None:
        self.socket = socket
        self.unread: deque[str] = deque()
        self.wake = asyncio.Event()
        self.close: tuple[int, str] | None = None  # what to end with, once all is sent

    def sink(self, reply: Reply) -> None:
        """Called in the event loop."""
        if self.close is not None:
            return
        if len(self.unread) >= MOST_UNREAD:
            self.unread.clear()
            self.end(POLICY, f"{MOST_UNREAD} answers were not read")
            return
        self.unread.append(as_text(reply))
        if reply["type"] == "closing":
            self.end(reply["code"], reply["cause"])
        self.wake.set()

    def end(self, code: int, reason: str) -> None:
        self.close = self.close or (code, reason[:120])
        self.wake.set()

    async def send_all(self) -> None:
        """Send until the socket is to be closed."""
        try:
            while self.close is None or self.unread:
                if not self.unread:
                    await self.wake.wait()
                    self.wake.clear()
                while self.unread:
                    await self.socket.send_text(self.unread.popleft())
            await self.socket.close(*self.close)
        except (WebSocketDisconnect, RuntimeError, OSError):
            self.unread.clear()
            self.close = self.close or (POLICY, "gone")


async def stream_socket(socket: WebSocket) -> None:
    """One socket, one stream, until it drops."""
    service: Service = socket.app.state.service
    problem = denied(service.access, socket, "camera", token_of(socket))
    if problem is not None:
        await socket.send_denial_response(JSONResponse({"error": problem[1]}, problem[0]))
        return
    query, id = socket.query_params, socket.path_params["id"]
    connection = Connection(socket)
    sink = connection.sink  # one object: it is compared by identity
    after = query.get("after", "")
    try:
        if service.draining or not service.ready:
            raise Full("the service is starting or stopping")
        if after and not (after.isascii() and after.isdigit() and len(after) < 16):
            raise ValueError(f"after is {after[:40]!r}, expected a whole number >= 0")
        policy = query.get("policy") or None
        await service.recall(id, socket=True)
        service.engine.join(id, query.get("group", ""), policy, sink, int(after) if after else None)  # type: ignore[arg-type]
    except ValueError as error:
        status = 503 if isinstance(error, Full) else 400
        await socket.send_denial_response(JSONResponse({"error": str(error)}, status))
        return
    log.info("stream joined", extra={"stream": id, "group": query.get("group", "")})
    try:
        await socket.accept(PROTOCOL if PROTOCOL in socket.scope.get("subprotocols", ()) else None)
        sender = asyncio.create_task(connection.send_all())
        receiver = asyncio.create_task(_receive(service, socket, id, connection))
        await asyncio.wait({sender, receiver}, return_when=asyncio.FIRST_COMPLETED)
        if receiver.done() and not sender.done() and connection.close is not None:
            await asyncio.wait({sender}, timeout=5.0)
        for task in (sender, receiver):
            task.cancel()
        await asyncio.gather(sender, receiver, return_exceptions=True)
        if receiver.done() and not receiver.cancelled() and (failure := receiver.exception()) is not None:
            log.error("a socket failed", exc_info=failure)
    finally:
        service.engine.part(id, sink)
        log.info("socket closed", extra={"stream": id, "cause": connection.close[1] if connection.close else "client"})


async def _receive(service: Service, socket: WebSocket, id: str, connection: Connection) -> None:
    bad = 0
    while connection.close is None:
        message = await socket.receive()
        if message["type"] != "websocket.receive":
            return
        number: int | None = None
        try:
            content = message.get("bytes")
            if content is None:
                text = message.get("text") or ""
                if len(text) > (most := service.text_limit()):
                    raise ValueError(f"message has {len(text)} characters, expected at most {most}")
                table = parsed(text)
                if table.get("type") == "leave":
                    await service.forget(id)
                    continue
                if table.get("type") != "logits":
                    raise ValueError(f"type is {str(table.get('type'))[:40]!r}, expected logits or leave")
                frame, picture = of_logits(table), None
            else:
                if len(content) > service.max_frame + MAX_HEADER:  # where the web server has not closed it already
                    connection.end(
                        TOO_BIG, f"a message has {len(content)} bytes, at most {service.max_frame} are taken"
                    )
                    return
                header, body = unpack(content)
                number = header.get("number")
                frame, picture = await service.frame(id, header, body, own=False)
            number = frame.number
            service.engine.submit(id, frame, picture=picture)
            bad = 0
        except ValueError as error:
            if isinstance(error, BadFrame):
                number = error.number
            if service.draining:  # not taken: the client is told to come back, and sends it again then
                continue
            connection.sink(_refused(id, number, error))
            bad += 1
            if bad >= MOST_BAD:
                connection.end(POLICY, f"{MOST_BAD} messages in a row were no frames")


def _refused(id: str, number: int | None, error: ValueError) -> Refused:
    code: Code = error.code if isinstance(error, Refusal) else "full" if isinstance(error, Full) else "bad_frame"
    return {"type": "refused", "stream": id, "frame": number, "cause": str(error), "code": code}
