"""`POST /v1/frames`: frames of many streams in one request."""

from __future__ import annotations

import asyncio
import base64
import binascii
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from knob_core.serving import decode
from knob_core.serving.access import Caller
from knob_core.serving.engine import Full, Refusal
from knob_core.serving.messages import Frame, Header, Reply, as_text, checked_header, parsed, require_id
from knob_core.serving.web.service import Service

ANSWER_WITHIN = 30.0  # s
Listed = tuple[str, str, Frame | tuple[Header, bytes]]


async def many_frames(request: Request, service: Service, caller: Caller) -> Response:
    """Frames of many streams, in the order in which each stream's are listed."""
    entries, listed = await asyncio.to_thread(read, await request.body())
    elsewhere = await service.step_elsewhere(entries)
    answers = await stepped(service, listed) if elsewhere is None else elsewhere
    return Response(as_text({"answers": answers}), media_type="application/json")


def read(content: bytes) -> tuple[list[Any], list[Listed]]:
    """(entries, the same checked); a request that is wrong anywhere does nothing."""
    entries = parsed(content).get("frames")
    if not isinstance(entries, list) or not entries:
        raise ValueError("frames is expected to be a list of 1 object or more")
    return entries, [_listed(entry) for entry in entries]


async def step_here(service: Service, entries: list[Any]) -> list[Any]:
    """Replies to entries that another replica has read."""
    return await stepped(service, [_listed(entry) for entry in entries])


async def stepped(service: Service, listed: list[Listed]) -> list[Any]:
    """Replies to frames, in their order."""
    replies: list[asyncio.Future[Reply] | dict[str, Any]] = []
    for id, group, given in listed:
        try:
            frame, picture = (given, None) if isinstance(given, Frame) else await service.frame(*given)
            await service.recall(id)
            replies.append(submitted(service, id, frame, picture, group))
        except ValueError as error:
            code = error.code if isinstance(error, Refusal) else "full" if isinstance(error, Full) else "bad_frame"
            replies.append({"type": "refused", "stream": id, "frame": None, "cause": str(error), "code": code})
    waiting = [reply for reply in replies if not isinstance(reply, dict)]
    if waiting:
        await asyncio.wait_for(asyncio.gather(*waiting), ANSWER_WITHIN)
    return [reply if isinstance(reply, dict) else reply.result() for reply in replies]


def _listed(entry: Any) -> Listed:
    """(stream, group, logits or a picture that is still to be decoded) of an entry of the list."""
    if not isinstance(entry, dict) or ("picture" in entry) == ("logits" in entry):
        raise ValueError("an entry of frames is expected to be an object with a stream and a picture or logits")
    id = require_id("stream", entry.get("stream"))
    group = require_id("group", entry["group"]) if "group" in entry else ""
    rest = {name: value for name, value in entry.items() if name not in ("stream", "group", "picture")}
    if "logits" in entry:
        return id, group, decode.of_logits(rest)
    return id, group, (checked_header({**rest, "kind": "picture"}), _picture(entry["picture"]))


def _picture(text: Any) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise ValueError("picture is expected to be a JPEG, PNG or WebP file in base64") from None


def submitted(service: Service, id: str, frame: Frame, picture: Any, group: str) -> asyncio.Future[Reply]:
    """The reply to come."""
    if service.draining or not service.ready:
        raise Full("the service is starting or stopping")
    answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
    sink = lambda reply: None if answer.done() else answer.set_result(reply)  # noqa: E731
    service.engine.submit(id, frame, sink, group, picture)
    return answer
