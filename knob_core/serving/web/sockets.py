"""The WebSocket of a stream: frames in, answers out, in the order of the frames."""

from __future__ import annotations

import asyncio
import contextlib
import logging

import msgspec
from starlette.websockets import WebSocket, WebSocketDisconnect

from knob_core.serving import decode
from knob_core.serving.engine import Full
from knob_core.serving.messages import PROTOCOL, Reply
from knob_core.serving.web.guard import refused, require
from knob_core.serving.web.service import Service, refusal

log = logging.getLogger(__name__)
Replies = asyncio.Queue[Reply]  # a client that reads none answers no ping either, and uvicorn closes its socket


async def stream_socket(socket: WebSocket) -> None:
    """One socket, one stream, until it drops."""
    service: Service = socket.app.state.service
    query, id = socket.query_params, socket.path_params["id"]
    group, policy, after = (query.get(name, "") for name in ("group", "policy", "after"))
    replies: Replies = asyncio.Queue()
    sink = replies.put_nowait  # one object: it is compared by identity
    try:
        require(service.access, socket, "camera")
        if service.draining or not service.ready:
            raise Full("the service is starting or stopping")
        if after and not (after.isascii() and after.isdigit() and len(after) < 16):
            raise ValueError(f"after is {after[:40]!r}, expected a whole number >= 0")
        await service.recall(id, socket=True)
        service.engine.join(id, group, policy or None, sink, int(after) if after else None)  # type: ignore[arg-type]
    except Exception as error:
        await socket.send_denial_response(refused(error, "a socket"))
        return
    log.info("stream joined", extra={"stream": id, "group": group})
    try:
        await socket.accept(PROTOCOL if PROTOCOL in socket.scope.get("subprotocols", ()) else None)
        sender = asyncio.create_task(_send(socket, replies))
        try:
            await _receive(service, socket, id, replies)
        finally:
            sender.cancel()
    finally:
        service.engine.part(id, sink)
        log.info("socket closed", extra={"stream": id})


async def _send(socket: WebSocket, replies: Replies) -> None:
    """All replies; after `closing` the socket is closed, which also ends `_receive`."""
    with contextlib.suppress(WebSocketDisconnect):
        while True:
            reply = await replies.get()
            await socket.send_text(msgspec.json.encode(reply).decode())
            if reply["type"] == "closing":
                await socket.close(reply["code"], reply["cause"][:120])
                return


async def _receive(service: Service, socket: WebSocket, id: str, replies: Replies) -> None:
    while (message := await socket.receive())["type"] == "websocket.receive":
        number: int | None = None
        try:
            if (content := message.get("bytes")) is not None:
                frame, picture = await service.frame(content)
            else:
                text_frame, picture = decode.of_text(message["text"]), None
                if text_frame is None:
                    await service.forget(id)
                    continue
                frame = text_frame
            number = frame.number
            service.engine.submit(id, frame, picture=picture)
        except ValueError as error:
            if not service.draining:  # else the client is told to come back, and sends the frame again then
                replies.put_nowait(refusal(id, error, number))
