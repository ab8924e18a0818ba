"""What a request must show before anything is done for it: an allowed Host and Origin, a token with the role."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response

from knob_core.serving.access import Access, Caller
from knob_core.serving.engine import Full, Refusal
from knob_core.serving.knob_control import Conflict
from knob_core.serving.web.service import Service

STATUS = {"bad_frame": 400, "order": 409, "full": 503, "model": 500}
HEADERS = {401: {"WWW-Authenticate": "Bearer"}, 503: {"Retry-After": "1"}}
TOKEN_PROTOCOL = "token."  # a browser's WebSocket has no headers: the token is offered as a subprotocol
log = logging.getLogger(__name__)

Endpoint = Callable[[Request, Service, Caller], Awaitable[Any]]


class Denied(Exception):
    """A request that is not allowed, with a status of its own."""

    def __init__(self, status: int, cause: str) -> None:
        super().__init__(cause)
        self.status = status


def require(access: Access, connection: HTTPConnection, role: str) -> Caller:
    """Whoever sent a request; `Denied` where it is not allowed."""
    host, client = connection.headers.get("host"), connection.client
    for problem in (
        access.host_problem(host), access.origin_problem(connection.headers.get("origin"), host),
        access.client_problem(client.host if client else None),
    ):  # fmt: skip
        if problem is not None:
            raise Denied(403, problem)
    token = _token_of(connection)
    caller = access.caller(token)
    if caller is None:
        raise Denied(401, "the token is not known" if token else "a token is needed: Authorization: Bearer TOKEN")
    if not caller.may(role):
        raise Denied(403, f"{caller.name} is {caller.role}, and this needs {role}")
    return caller


def _token_of(connection: HTTPConnection) -> str | None:
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    offered = connection.scope.get("subprotocols", ())
    return next((name.removeprefix(TOKEN_PROTOCOL) for name in offered if name.startswith(TOKEN_PROTOCOL)), None)


def guarded(role: str | None, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for those who have the role (None: for anybody). What it returns is sent as JSON, errors too."""

    async def answer(request: Request) -> Response:
        service: Service = request.app.state.service
        try:
            caller = require(service.access, request, role) if role is not None else Caller("anybody", "viewer")
            found = await endpoint(request, service, caller)
        except Exception as error:
            return refused(error, f"{request.method} {request.url.path}")
        if isinstance(found, Response):
            return found
        return Response(msgspec.json.encode(found), media_type="application/json")

    return answer


def refused(error: Exception, where: str) -> JSONResponse:
    """Its status and cause; that of a mistake of ours stands in the log alone."""
    status = _status_of(error)
    cause = str(error.args[0]) if error.args else type(error).__name__
    if status == 500 and not isinstance(error, Refusal):
        log.error("%s failed", where, exc_info=error)
        cause = "the service failed at this; its log says more"
    return JSONResponse({"error": cause}, status, HEADERS.get(status))


def _status_of(error: Exception) -> int:
    if isinstance(error, Denied):
        return error.status
    if isinstance(error, Refusal):
        return STATUS[error.code]
    kinds = {Full: 503, TimeoutError: 503, Conflict: 409, LookupError: 404, ValueError: 400}
    return next((status for kind, status in kinds.items() if isinstance(error, kind)), 500)
