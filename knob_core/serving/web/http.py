"""HTTP: one frame, streams to watch, and the knobs."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from knob_core import settings as settings_file
from knob_core.serving import decode
from knob_core.serving.access import Caller
from knob_core.serving.knob_control import Change, from_json
from knob_core.serving.messages import Reply, as_text, parsed, require_id, unpack, whole
from knob_core.serving.web import openapi
from knob_core.serving.web.frame_lists import ANSWER_WITHIN, submitted
from knob_core.serving.web.guard import STATUS, body
from knob_core.serving.web.service import Service

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
        submitted(service, id, frame, picture, request.query_params.get("group", "")), ANSWER_WITHIN
    )
    return JSONResponse(reply, _status(reply))


def _status(reply: Reply) -> int:
    return STATUS[reply["code"]] if reply["type"] == "refused" else 200


# Watching


async def about(request: Request, service: Service, caller: Caller) -> Response:
    return JSONResponse(await service.whole_about(caller))


async def streams(request: Request, service: Service, caller: Caller) -> Response:
    return Response(as_text({"streams": await service.listing()}), media_type="application/json")


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
    clear = _switch(request, "clear")
    if clear and scope:
        raise ValueError("clear is true, expected false for one group or stream: DELETE takes its own knobs back")
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
    return Response(openapi.document(), media_type="application/json")


async def alive(request: Request, service: Service, caller: Caller) -> Response:
    return JSONResponse({"alive": True})


async def readiness(request: Request, service: Service, caller: Caller) -> Response:
    if service.ready and not service.draining:
        return JSONResponse({"ready": True, "problems": bool(service.problems)})  # anybody asks
    return JSONResponse({"error": "the service is stopping" if service.draining else "the service is starting"}, 503)
