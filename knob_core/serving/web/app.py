"""The routes of a service, their OpenAPI description, and its life: the engine starts with it and ends after it."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from knob_core.memories import KINDS
from knob_core.serving import messages
from knob_core.serving.access import Caller
from knob_core.serving.decode import Frames, Group, Id, Logits, Revert, Whole
from knob_core.serving.engine import Delivery, deliver_now
from knob_core.serving.messages import Answer, KnobLog, KnobState, Problem, StreamInfo, Streams
from knob_core.serving.web import http
from knob_core.serving.web.guard import Endpoint, guarded
from knob_core.serving.web.service import Service
from knob_core.serving.web.sockets import stream_socket
from knob_core.settings import LIMITS, MODES

TOML = ("application/toml",)
KNOBS: dict[str, Any] = {  # a turn, which `Settings` checks
    **{name: {"type": "number", "minimum": low, "maximum": high} for name, (low, high) in LIMITS.items()},
    "on": {"type": "boolean"}, "memory": {"enum": list(KINDS)}, "mode": {"enum": list(MODES)},
}  # fmt: skip
TURN: dict[str, Any] = {
    "type": "object", "properties": {**KNOBS, "if_revision": {"type": "integer", "minimum": 1, "maximum": 2**53 - 1}},
    "additionalProperties": False, "anyOf": [{"required": [name]} for name in KNOBS],
}  # fmt: skip
CAUSES = {
    400: "what was sent is wrong", 401: "a token is needed", 403: "not allowed", 404: "not known", 409: "conflict",
    413: "too large", 415: "unknown kind of content", 500: "the model failed", 503: "full, starting or stopping",
}  # fmt: skip
FRAME_ERRORS = (400, 409, 413, 415, 500, 503)


@dataclass(frozen=True)
class Entry:
    """One request that is answered."""

    method: str
    path: str
    endpoint: Endpoint
    role: str | None  # that the caller needs; None: anybody
    says: str
    answer: Any = dict[str, Any]  # its type, or the media type of what is not JSON; None: nothing
    body: Any = None  # type, or schema, of JSON
    media: tuple[str, ...] = ()  # of other bodies
    errors: tuple[int, ...] = ()
    query: dict[str, Any] = field(default_factory=dict)  # types


async def description(request: Request, service: Service, caller: Caller) -> dict[str, Any]:
    return document()


def _turning(path: str, says: str, **more: Any) -> tuple[Entry, Entry]:
    more = {"answer": KnobState, "body": TURN, "media": TOML, "errors": (400, 409), **more}
    return (
        Entry("PATCH", path, http.turn, "operator", f"turn {says}", **more),
        Entry("PUT", path, http.turn, "operator", f"set all of {says}", **more),
    )


def _releasing(path: str, says: str) -> Entry:
    return Entry("DELETE", path, http.release, "operator", says, KnobState, errors=(400, 404))


ID, GROUP, STREAM = "/v1/streams/{id}", "/v1/knobs/groups/{group}", "/v1/knobs/streams/{stream}"
SINCE = {"since": Annotated[int, Meta(ge=0, le=10**15 - 1)]}
ENTRIES = (
    Entry("POST", f"{ID}/frames", http.one_frame, "camera", "one frame of a stream", Answer, Logits, http.PICTURES,
          FRAME_ERRORS, {"probabilities": bool, "group": Group}),
    Entry("POST", "/v1/frames", http.many_frames, "camera", "frames of many streams", dict[str, list[Any]], Frames,
          errors=(400, 503)),
    Entry("GET", "/v1/service", http.about, "viewer", "what this service is"),
    Entry("GET", "/v1/streams", http.streams, "viewer", "all streams", Streams),
    Entry("GET", ID, http.stream, "viewer", "one stream with its history", StreamInfo, errors=(400, 404), query=SINCE),
    Entry("DELETE", ID, http.forget, "operator", "forget a stream", None, errors=(404,)),
    Entry("GET", f"{ID}/picture", http.picture, "viewer", "the last picture, small", "image/webp", errors=(404,)),
    Entry("GET", "/v1/knobs", http.knobs, "viewer", "all knobs", KnobState),
    *_turning("/v1/knobs", "the knobs for all", query={"clear": bool}),
    *_turning(GROUP, "the knobs of a group"), _releasing(GROUP, "take a group's own knobs back"),
    *_turning(STREAM, "the knobs of a stream"), _releasing(STREAM, "take a stream's own knobs back"),
    Entry("GET", "/v1/knobs/log", http.knob_log, "viewer", "who turned what, and when", KnobLog),
    Entry("POST", "/v1/knobs/revert", http.revert, "operator", "all knobs as they were at a revision", KnobState,
          Revert, errors=(400, 404, 409)),
    Entry("GET", "/metrics", http.metrics, "viewer", "for Prometheus", "text/plain"),
    Entry("GET", "/openapi.json", description, None, "this description"),
    Entry("GET", "/healthz", http.alive, None, "alive", dict[str, bool]),
    Entry("GET", "/readyz", http.readiness, None, "ready for frames", dict[str, bool], errors=(503,)),
)  # fmt: skip


def build(service: Service) -> Starlette:
    """The ASGI application."""

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        loop = asyncio.get_running_loop()

        def deliver(replies: Delivery) -> None:
            if replies:
                loop.call_soon_threadsafe(deliver_now, replies)

        service.engine.deliver = deliver
        await asyncio.to_thread(service.start)
        try:
            yield
        finally:
            await asyncio.to_thread(service.drain)

    errors: Any = dict.fromkeys((404, 405), _problem)
    routes: list[BaseRoute] = [Route(e.path, guarded(e.role, e.endpoint), methods=[e.method]) for e in ENTRIES]
    routes.append(WebSocketRoute(f"{ID}/socket", stream_socket))
    app = Starlette(routes=routes, lifespan=lifespan, exception_handlers=errors)
    if service.access.origins:
        allowed = sorted(service.access.origins)
        methods = ["GET", "POST", "PUT", "PATCH", "DELETE"]
        headers = ["Authorization", "Content-Type"]
        app.add_middleware(CORSMiddleware, allow_origins=allowed, allow_methods=methods, allow_headers=headers)
    app.state.service = service
    return app


def _problem(request: Request, error: Exception) -> Response:
    status = getattr(error, "status_code", 404)
    cause = f"{request.method} {request.url.path[:200]} is not known here; /openapi.json lists what is"
    allowed = {  # of all routes with this path: Starlette would name the first one's methods only
        method for route in request.app.routes if isinstance(route, Route)
        if route.path_regex.match(request.url.path) for method in route.methods or ()
    }  # fmt: skip
    return JSONResponse({"error": cause}, status, {"Allow": ", ".join(sorted(allowed))} if status == 405 else None)


# The description


def document() -> dict[str, Any]:
    """All of it, from the table of requests and the messages' own types."""
    kinds = [kind for entry in ENTRIES for kind in (entry.answer, entry.body, *entry.query.values())]
    typed = [kind for kind in [*kinds, Id, Whole, Problem] if kind is not None and not isinstance(kind, (str, dict))]
    found, components = msgspec.json.schema_components(typed, ref_template="#/components/schemas/{name}")
    schemas = dict(zip(map(repr, typed), found, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for entry in ENTRIES:
        paths.setdefault(entry.path, {})[entry.method.lower()] = _operation(entry, schemas)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Knob service", "version": str(messages.VERSION), "description": "Frames in, answers out."},
        "paths": paths,
        "components": {
            "schemas": components, "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
    }  # fmt: skip


def _operation(entry: Entry, schemas: dict[str, Any]) -> dict[str, Any]:
    refused = sorted({*entry.errors, *((401, 403) if entry.role else ())})
    problem = {"application/json": {"schema": schemas[repr(Problem)]}}
    responses: dict[str, Any] = {str(status): {"description": CAUSES[status], "content": problem} for status in refused}
    if isinstance(entry.answer, str):
        responses["200"] = {"description": "done", "content": {entry.answer: {"schema": {"type": "string"}}}}
    elif entry.answer is None:
        responses["204"] = {"description": "done"}
    else:
        schema = schemas[repr(entry.answer)]
        responses["200"] = {"description": "done", "content": {"application/json": {"schema": schema}}}
    names = [part[1:-1] for part in entry.path.split("/") if part.startswith("{")]
    found: dict[str, Any] = {
        "summary": entry.says, "responses": responses,
        "parameters": [
            *({"name": n, "in": "path", "required": True, "schema": schemas[repr(Id)]} for n in names),
            *({"name": n, "in": "query", "schema": schemas[repr(kind)]} for n, kind in entry.query.items()),
        ],
    }  # fmt: skip
    if entry.role:
        found["security"], found["description"] = [{"token": []}, {}], f"Needs the role {entry.role}."
    if entry.body is not None:
        schema = entry.body if isinstance(entry.body, dict) else schemas[repr(entry.body)]
        other = {kind: {"schema": {"type": "string"}} for kind in entry.media}
        found["requestBody"] = {"required": True, "content": {"application/json": {"schema": schema}, **other}}
    return found
