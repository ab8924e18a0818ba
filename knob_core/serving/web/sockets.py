"""The WebSocket of a stream: frames in, answers out, in the order of the frames."""

from __future__ import annotations

import asyncio
import contextlib
import logging

from starlette.responses import JSONResponse
from starlette.websockets import WebSocket, WebSocketDisconnect

from knob_core.serving.decode import of_logits
from knob_core.serving.engine import Full, Refusal
from knob_core.serving.messages import PROTOCOL, BadFrame, Code, Refused, Reply, as_text, parsed, unpack
from knob_core.serving.web.guard import denied, token_of
from knob_core.serving.web.service import Service

log = logging.getLogger(__name__)
Replies = asyncio.Queue[Reply]  # a client that reads none answers no ping either, and uvicorn closes its socket


async def stream_socket(socket: WebSocket) -> None:
    """One socket, one stream, until it drops."""
    service: Service = socket.app.state.service
    problem = denied(service.access, socket, "camera", token_of(socket))
    if problem is not None:
        await socket.send_denial_response(JSONResponse({"error": problem[1]}, problem[0]))
        return
    query, id = socket.query_params, socket.path_params["id"]
    replies: Replies = asyncio.Queue()
    sink = replies.put_nowait  # one object: it is compared by identity
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
            await socket.send_text(as_text(reply))
            if reply["type"] == "closing":
                await socket.close(reply["code"], reply["cause"][:120])
                return


async def _receive(service: Service, socket: WebSocket, id: str, replies: Replies) -> None:
    while (message := await socket.receive())["type"] == "websocket.receive":
        number: int | None = None
        try:
            content = message.get("bytes")
            if content is None:
                table = parsed(message.get("text") or "")
                if table.get("type") == "leave":
                    await service.forget(id)
                    continue
                if table.get("type") != "logits":
                    raise ValueError(f"type is {str(table.get('type'))[:40]!r}, expected logits or leave")
                frame, picture = of_logits(table), None
            else:
                header, body = unpack(content)
                number = header.get("number")
                frame, picture = await service.frame(header, body)
            number = frame.number
            service.engine.submit(id, frame, picture=picture)
        except ValueError as error:
            if isinstance(error, BadFrame):
                number = error.number
            if not service.draining:  # else the client is told to come back, and sends the frame again then
                replies.put_nowait(_refused(id, number, error))


def _refused(id: str, number: int | None, error: ValueError) -> Refused:
    code: Code = error.code if isinstance(error, Refusal) else "full" if isinstance(error, Full) else "bad_frame"
    return {"type": "refused", "stream": id, "frame": number, "cause": str(error), "code": code}
