"""The routes of a service, and its life: the engine starts with it and ends after the last answer."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

from starlette.applications import Starlette
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute, Route, WebSocketRoute

from knob_core.serving.engine import Delivery, deliver_now
from knob_core.serving.web import frame_lists, http
from knob_core.serving.web.guard import guarded
from knob_core.serving.web.service import Service
from knob_core.serving.web.sockets import stream_socket

ROUTES: list[BaseRoute] = [
    WebSocketRoute("/v1/streams/{id}/socket", stream_socket),
    Route("/v1/streams/{id}/frames", guarded("camera", http.one_frame), methods=["POST"]),
    Route("/v1/frames", guarded("camera", frame_lists.many_frames), methods=["POST"]),
    Route("/v1/service", guarded("viewer", http.about), methods=["GET"]),
    Route("/v1/streams", guarded("viewer", http.streams), methods=["GET"]),
    Route("/v1/streams/{id}", guarded("viewer", http.stream), methods=["GET"]),
    Route("/v1/streams/{id}", guarded("operator", http.forget), methods=["DELETE"]),
    Route("/v1/streams/{id}/picture", guarded("viewer", http.picture), methods=["GET"]),
    Route("/v1/knobs", guarded("viewer", http.knobs), methods=["GET"]),
    Route("/v1/knobs", guarded("operator", http.turn), methods=["PATCH", "PUT"]),
    Route("/v1/knobs/log", guarded("viewer", http.knob_log), methods=["GET"]),
    Route("/v1/knobs/revert", guarded("operator", http.revert), methods=["POST"]),
    Route("/v1/knobs/groups/{group}", guarded("operator", http.turn), methods=["PATCH", "PUT"]),
    Route("/v1/knobs/groups/{group}", guarded("operator", http.release), methods=["DELETE"]),
    Route("/v1/knobs/streams/{stream}", guarded("operator", http.turn), methods=["PATCH", "PUT"]),
    Route("/v1/knobs/streams/{stream}", guarded("operator", http.release), methods=["DELETE"]),
    Route("/metrics", guarded("viewer", http.metrics), methods=["GET"]),
    Route("/openapi.json", guarded(None, http.description), methods=["GET"]),
    Route("/healthz", guarded(None, http.alive), methods=["GET"]),
    Route("/readyz", guarded(None, http.readiness), methods=["GET"]),
]


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
    app = Starlette(routes=ROUTES, lifespan=lifespan, exception_handlers=errors)
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
        method for route in ROUTES if isinstance(route, Route) and route.path_regex.match(request.url.path)
        for method in route.methods or ()
    }  # fmt: skip
    return JSONResponse({"error": cause}, status, {"Allow": ", ".join(sorted(allowed))} if status == 405 else None)
