"""HTTP: frames, streams to watch, and the knobs. Each function answers one route of `knob_core.serving.web.app`."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from knob_core import settings as settings_file
from knob_core.serving import decode
from knob_core.serving.access import Caller
from knob_core.serving.decode import Frames, Listed, Logits, Revert, Whole, typed
from knob_core.serving.engine import Full
from knob_core.serving.knob_control import Change, from_json
from knob_core.serving.messages import Frame, KnobLog, KnobState, Reply, StreamInfo, Streams, require_id
from knob_core.serving.web.guard import STATUS, Denied
from knob_core.serving.web.service import Service, refusal

ANSWER_WITHIN = 30.0  # s
PICTURES = ("image/jpeg", "image/png", "image/webp", "application/octet-stream")

# Frames


async def one_frame(request: Request, service: Service, caller: Caller) -> Any:
    """A frame of the stream in the path."""
    id, kind, content = request.path_params["id"], _kind(request), await request.body()
    if len(content) > service.max_frame:
        raise Denied(413, f"the body has {len(content):,} bytes, expected at most {service.max_frame:,}")
    if kind == "application/json":
        frame, picture = typed(Logits, content).decoded(), None
    elif kind in PICTURES:
        frame, picture = await service.frame(content)
    else:
        raise Denied(415, f"Content-Type is {kind[:80]!r}, expected application/json, {', '.join(PICTURES)}")
    if _switch(request, "probabilities"):
        frame = frame._replace(probabilities=True)
    await service.recall(id)
    reply = await asyncio.wait_for(
        _submitted(service, id, frame, picture, request.query_params.get("group", "")), ANSWER_WITHIN
    )
    if reply["type"] == "refused":  # the body of every HTTP error says `error`
        return JSONResponse({**reply, "error": reply["cause"]}, STATUS[reply["code"]])
    return reply


async def many_frames(request: Request, service: Service, caller: Caller) -> dict[str, list[Reply]]:
    """Frames of many streams, in the order in which each stream's are listed; one that is wrong refuses them all."""
    frames = (await asyncio.to_thread(typed, Frames, await request.body())).frames
    elsewhere = await service.step_elsewhere(frames)
    return {"answers": await stepped(service, frames) if elsewhere is None else elsewhere}


async def stepped(service: Service, frames: list[Listed]) -> list[Reply]:
    """Replies to frames, in their order."""
    replies: list[asyncio.Future[Reply]] = []
    for listed in frames:
        try:
            frame, picture = await service.listed_frame(listed)
            await service.recall(listed.stream)
            replies.append(_submitted(service, listed.stream, frame, picture, listed.group))
        except ValueError as error:
            replies.append(asyncio.get_running_loop().create_future())
            replies[-1].set_result(refusal(listed.stream, error))
    return await asyncio.wait_for(asyncio.gather(*replies), ANSWER_WITHIN)


def _submitted(service: Service, id: str, frame: Frame, picture: Any, group: str) -> asyncio.Future[Reply]:
    """The reply to come."""
    if service.draining or not service.ready:
        raise Full("the service is starting or stopping")
    answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
    sink = lambda reply: None if answer.done() else answer.set_result(reply)  # noqa: E731
    service.engine.submit(id, frame, sink, group, picture)
    return answer


# Watching


async def about(request: Request, service: Service, caller: Caller) -> dict[str, Any]:
    return await service.whole_about(caller)


async def streams(request: Request, service: Service, caller: Caller) -> Streams:
    return {"streams": await service.listing()}


async def stream(request: Request, service: Service, caller: Caller) -> StreamInfo:
    since = request.query_params.get("since", "0")
    if not (since.isascii() and since.isdigit() and len(since) < 16):
        raise ValueError(f"since is {since[:40]!r}, expected a whole number >= 0")
    found = service.engine.detail(request.path_params["id"], int(since))
    if found is None:
        raise _unknown(request)
    return found


async def picture(request: Request, service: Service, caller: Caller) -> Response:
    found = service.engine.streams.get(request.path_params["id"])
    if found is None:
        raise _unknown(request)
    if found.picture is None:
        raise LookupError("this stream sends no pictures")
    return Response(decode.webp(found.picture), media_type="image/webp", headers={"Cache-Control": "no-store"})


async def forget(request: Request, service: Service, caller: Caller) -> Response:
    if not await service.forget(request.path_params["id"]):
        raise _unknown(request)
    return Response(status_code=204)


def _unknown(request: Request) -> LookupError:
    return LookupError(f"no stream {request.path_params['id'][:64]!r} is open")


# Knobs


async def knobs(request: Request, service: Service, caller: Caller) -> KnobState:
    return await service.knob_state()


async def turn(request: Request, service: Service, caller: Caller) -> KnobState:
    """PATCH some, PUT all of the knobs of all, a group, or a stream."""
    content, scope, clear = await request.body(), _scope(request), _switch(request, "clear")
    revision = None
    if _kind(request) == "application/toml":
        changes = settings_file.as_dict(settings_file.from_toml(content))
    else:
        table = typed(dict[str, Any], content)
        if "if_revision" in table:
            revision = decode.converted(Whole, table.pop("if_revision"))
        changes = from_json(table)
        if request.method == "PUT":
            changes = settings_file.as_dict(settings_file.Settings(**changes))
    if clear and scope:
        raise ValueError("clear is true, expected false for one group or stream: DELETE takes its own knobs back")
    given = {"changes": changes, "whole": request.method == "PUT", "clear": clear, "if_revision": revision, **scope}
    return await service.change_knobs(Change("turn", given), caller.name)


async def release(request: Request, service: Service, caller: Caller) -> KnobState:
    return await service.change_knobs(Change("release", _scope(request)), caller.name)


async def revert(request: Request, service: Service, caller: Caller) -> KnobState:
    given = typed(Revert, await request.body())
    change = Change("revert", {"revision": given.revision, "if_revision": given.if_revision})
    return await service.change_knobs(change, caller.name)


async def knob_log(request: Request, service: Service, caller: Caller) -> KnobLog:
    return {"changes": await service.knob_log()}


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "").split(";")[0].strip().lower()


def _switch(request: Request, name: str) -> bool:
    """A query parameter that is true or false; false where it is not given."""
    value = request.query_params.get(name, "false")
    if value not in ("true", "false"):
        raise ValueError(f"{name} is {value[:80]!r}, expected true or false")
    return value == "true"


def _scope(request: Request) -> dict[str, str]:
    return {name: require_id(name, x) for name, x in request.path_params.items() if name in ("group", "stream")}


# Health


async def metrics(request: Request, service: Service, caller: Caller) -> Response:
    return Response(await service.metrics_text(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def alive(request: Request, service: Service, caller: Caller) -> dict[str, bool]:
    return {"alive": True}


async def readiness(request: Request, service: Service, caller: Caller) -> dict[str, bool]:
    if service.draining or not service.ready:
        raise Full("the service is stopping" if service.draining else "the service is starting")
    return {"ready": True, "problems": bool(service.problems)}  # anybody asks
