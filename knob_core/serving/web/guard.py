"""What a request must show before anything is done for it: an allowed Host and Origin, a token with the role."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response

from knob_core.serving.access import Access, Caller
from knob_core.serving.engine import Full, Refusal
from knob_core.serving.knob_control import Conflict
from knob_core.serving.web.service import Service

STATUS = {"bad_frame": 400, "order": 409, "full": 503, "model": 500}
HEADERS = {503: {"Retry-After": "1"}}
TOKEN_PROTOCOL = "token."  # a browser's WebSocket has no headers: the token is offered as a subprotocol
log = logging.getLogger(__name__)

Endpoint = Callable[[Request, Service, Caller], Awaitable[Response]]


class TooLarge(ValueError):
    """A body above its limit."""


def token_of(connection: HTTPConnection) -> str | None:
    scheme, _, token = connection.headers.get("authorization", "").partition(" ")
    if scheme.lower() == "bearer":
        return token.strip()
    offered = connection.scope.get("subprotocols", ())
    return next((name.removeprefix(TOKEN_PROTOCOL) for name in offered if name.startswith(TOKEN_PROTOCOL)), None)


def denied(access: Access, connection: HTTPConnection, role: str, token: str | None) -> tuple[int, str] | None:
    """(status, cause) where a request is not allowed."""
    host = connection.headers.get("host")
    problem = access.host_problem(host)
    if problem is None:
        problem = access.origin_problem(connection.headers.get("origin"), host)
    if problem is None:
        problem = access.client_problem(connection.client.host if connection.client else None)
    if problem is not None:
        return 403, problem
    caller = access.caller(token)
    if caller is None:
        return 401, "a token is needed: Authorization: Bearer TOKEN" if not token else "the token is not known"
    if not caller.may(role):
        return 403, f"{caller.name} is {caller.role}, and this needs {role}"
    return None


def guarded(role: str | None, endpoint: Endpoint) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for those who have the role (None: for anybody), whose errors become a status and a cause."""

    async def answer(request: Request) -> Response:
        service: Service = request.app.state.service
        token = token_of(request)
        try:
            if role is None:
                return await endpoint(request, service, Caller("anybody", "viewer"))
            problem = denied(service.access, request, role, token)
            if problem is not None:
                headers = {"WWW-Authenticate": "Bearer"} if problem[0] == 401 else None
                return JSONResponse({"error": problem[1]}, problem[0], headers)
            caller = service.access.caller(token)
            assert caller is not None
            return await endpoint(request, service, caller)
        except Exception as error:
            status = status_of(error)
            if status == 500 and not isinstance(error, Refusal):
                log.exception("%s %s failed", request.method, request.url.path)
                return JSONResponse({"error": "the service failed at this; its log says more"}, 500)
            cause = str(error.args[0]) if error.args else type(error).__name__
            return JSONResponse({"error": cause}, status, HEADERS.get(status))

    return answer


def status_of(error: Exception) -> int:
    if isinstance(error, Refusal):
        return STATUS[error.code]
    if isinstance(error, (asyncio.TimeoutError, Full)):
        return 503
    kinds = {TooLarge: 413, Conflict: 409, LookupError: 404, ValueError: 400}
    return next((status for kind, status in kinds.items() if isinstance(error, kind)), 500)


async def body(request: Request, most: int) -> bytes:
    """The whole body, refused where it is too large."""
    whole = await request.body()
    if len(whole) > most:
        raise TooLarge(f"the body has {len(whole):,} bytes, expected at most {most:,}")
    return whole
