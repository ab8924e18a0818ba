"""HTTP: one frame, frames of many streams, streams to watch, and the knobs."""

from __future__ import annotations

import asyncio
import base64
import binascii
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from knob_core import settings as settings_file
from knob_core.serving import decode
from knob_core.serving.access import Caller
from knob_core.serving.engine import Full, Refusal, require_id
from knob_core.serving.knob_control import Change, from_json
from knob_core.serving.messages import Frame, Header, Reply, checked_header, parsed, unpack, whole
from knob_core.serving.web import openapi
from knob_core.serving.web.guard import STATUS, body
from knob_core.serving.web.service import Service

ANSWER_WITHIN = 30.0  # s
MOST_FRAMES = 1000  # of one request
Listed = tuple[str, str, Frame | tuple[Header, bytes]]
PICTURES = ("image/jpeg", "image/png", "image/webp", "application/octet-stream")


async def one_frame(request: Request, service: Service, caller: Caller) -> Response:
    """A frame of the stream in the path."""
    id = request.path_params["id"]
    kind = request.headers.get("content-type", "").split(";")[0].strip().lower()
    content = await body(request, service.max_frame)
    if kind == "application/json":
        frame, picture = decode.of_logits(parsed(content)), None
    elif kind in PICTURES:
        frame, picture = await service.frame(*unpack(content))
    else:
        cause = f"Content-Type is {kind[:80]!r}, expected application/json, {', '.join(PICTURES)}"
        return JSONResponse({"error": cause}, 415)
    if _switch(request, "probabilities"):
        frame = frame._replace(probabilities=True)
    await service.recall(id)
    reply = await asyncio.wait_for(
        _submitted(service, id, frame, picture, request.query_params.get("group", "")), ANSWER_WITHIN
    )
    return JSONResponse(reply, _status(reply))


async def many_frames(request: Request, service: Service, caller: Caller) -> Response:
    """Frames of many streams, in the order in which each stream's are listed."""
    table = parsed(await body(request, service.max_frame * 8))
    entries = table.get("frames")
    if not isinstance(entries, list) or not 1 <= len(entries) <= MOST_FRAMES:
        raise ValueError(f"frames is expected to be a list of 1 to {MOST_FRAMES} objects")
    listed = [_listed(entry) for entry in entries]  # a request that is wrong anywhere does nothing
    elsewhere = await service.step_elsewhere(entries)
    return JSONResponse({"answers": await stepped(service, listed) if elsewhere is None else elsewhere})


async def step_here(service: Service, entries: list[Any]) -> list[Any]:
    """Replies to entries of a list of frames."""
    return await stepped(service, [_listed(entry) for entry in entries])


async def stepped(service: Service, listed: list[Listed]) -> list[Any]:
    """Replies to frames, in their order."""
    replies: list[asyncio.Future[Reply] | dict[str, Any]] = []
    for id, group, given in listed:
        try:
            frame, picture = (given, None) if isinstance(given, Frame) else await service.frame(*given)
            await service.recall(id)
            replies.append(_submitted(service, id, frame, picture, group))
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
    id, group = entry.get("stream"), entry.get("group", "")
    for what, name in (("stream", id), *((("group", group),) if "group" in entry else ())):
        require_id(what, name if isinstance(name, str) else "")
    rest = {name: value for name, value in entry.items() if name not in ("stream", "group", "picture")}
    if "logits" in entry:
        return str(id), group, decode.of_logits(rest)
    try:
        content = base64.b64decode(entry["picture"], validate=True)
    except (binascii.Error, TypeError, ValueError):
        raise ValueError("picture is expected to be a JPEG, PNG or WebP file in base64") from None
    return str(id), group, (checked_header({**rest, "kind": "picture"}), content)


def _submitted(service: Service, id: str, frame: Frame, picture: Any, group: str) -> asyncio.Future[Reply]:
    if service.draining or not service.ready:
        raise Full("the service is starting or stopping")
    answer: asyncio.Future[Reply] = asyncio.get_running_loop().create_future()
    sink = lambda reply: None if answer.done() else answer.set_result(reply)  # noqa: E731
    service.engine.submit(id, frame, sink, group, picture)
    return answer


def _status(reply: Reply) -> int:
    return STATUS[reply["code"]] if reply["type"] == "refused" else 200


# Watching


async def about(request: Request, service: Service, caller: Caller) -> Response:
    return JSONResponse(await service.whole_about(caller))


async def streams(request: Request, service: Service, caller: Caller) -> Response:
    return JSONResponse({"streams": await service.listing()})


async def stream(request: Request, service: Service, caller: Caller) -> Response:
    since = _whole(request.query_params.get("since", "0"), "since")
    found = service.engine.detail(request.path_params["id"], since)
    if found is None:
        raise LookupError(_unknown(request))
    return JSONResponse(found)


async def picture(request: Request, service: Service, caller: Caller) -> Response:
    found = service.engine.streams.get(request.path_params["id"])
    if found is None or found.picture is None:
        raise LookupError(_unknown(request) if found is None else "this stream sends no pictures")
    return Response(decode.webp(found.picture), media_type="image/webp", headers={"Cache-Control": "no-store"})


async def forget(request: Request, service: Service, caller: Caller) -> Response:
    if not await service.forget(request.path_params["id"]):
        raise LookupError(_unknown(request))
    return Response(status_code=204)


def _unknown(request: Request) -> str:
    return f"no stream {request.path_params['id'][:64]!r} is open"


def _whole(text: str, name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 16):
        raise ValueError(f"{name} is {text[:40]!r}, expected a whole number >= 0")
    return int(text)


# Knobs


async def knobs(request: Request, service: Service, caller: Caller) -> Response:
    return JSONResponse(await service.knob_state())


async def turn(request: Request, service: Service, caller: Caller) -> Response:
    """PATCH some, PUT all of the knobs of all, a group, or a stream."""
    content = await body(request, settings_file.MAX_BYTES)
    if request.headers.get("content-type", "").split(";")[0].strip().lower() == "application/toml":
        changes, revision = settings_file.as_dict(settings_file.from_toml(content)), None
    else:
        table = parsed(content)
        revision = _if_revision(table)
        changes = from_json(table)
        if request.method == "PUT":
            changes = settings_file.as_dict(settings_file.Settings(**changes))
    scope = _scope(request)
    clear = _switch(request, "clear") and not scope
    given = {"changes": changes, "whole": request.method == "PUT", "clear": clear, "if_revision": revision, **scope}
    return JSONResponse(await service.change_knobs(Change("turn", given), caller.name))


async def release(request: Request, service: Service, caller: Caller) -> Response:
    return JSONResponse(await service.change_knobs(Change("release", _scope(request)), caller.name))


async def revert(request: Request, service: Service, caller: Caller) -> Response:
    table = parsed(await body(request, settings_file.MAX_BYTES))
    unchanged = _if_revision(table)
    if set(table) != {"revision"}:
        raise ValueError("expected an object with a revision, and if_revision or nothing else")
    given = {"revision": whole("revision", table["revision"]), "if_revision": unchanged}
    return JSONResponse(await service.change_knobs(Change("revert", given), caller.name))


async def knob_log(request: Request, service: Service, caller: Caller) -> Response:
    return JSONResponse({"changes": await service.knob_log()})


def _switch(request: Request, name: str) -> bool:
    """A query parameter that is true or false; false where it is not given."""
    value = request.query_params.get(name, "false")
    if value not in ("true", "false"):
        raise ValueError(f"{name} is {value[:80]!r}, expected true or false")
    return value == "true"


def _if_revision(table: dict[str, Any]) -> int | None:
    return whole("if_revision", table.pop("if_revision")) if "if_revision" in table else None


def _scope(request: Request) -> dict[str, Any]:
    found: dict[str, Any] = {name: x for name, x in request.path_params.items() if name in ("group", "stream")}
    for name, value in found.items():
        require_id(name, value)
    return found


# Health


async def metrics(request: Request, service: Service, caller: Caller) -> Response:
    return Response(await service.metrics_text(), media_type="text/plain; version=0.0.4; charset=utf-8")


async def description(request: Request, service: Service, caller: Caller) -> Response:
    return JSONResponse(openapi.description())


async def alive(request: Request, service: Service, caller: Caller) -> Response:
    return JSONResponse({"alive": True})


async def readiness(request: Request, service: Service, caller: Caller) -> Response:
    if service.ready and not service.draining:
        return JSONResponse({"ready": True, "problems": service.problems})
    return JSONResponse({"error": "the service is stopping" if service.draining else "the service is starting"}, 503)
