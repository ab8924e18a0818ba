"""The HTTP interface of a service, for programs that watch it or turn its knobs. Standard library only."""

from __future__ import annotations

import json
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from urllib.error import HTTPError
from urllib.parse import quote, urlencode, urlsplit
from urllib.request import HTTPRedirectHandler, ProxyHandler, Request, build_opener

from knob_core.serving.access import is_local

if TYPE_CHECKING:
    from knob_core.serving.messages import KnobChange, KnobState, Reply, StreamInfo


class ServiceError(Exception):
    """What a service answered instead; `status` is 0 where it could not be reached."""

    def __init__(self, status: int, cause: str) -> None:
        super().__init__(cause)
        self.status = status


class _NoRedirects(HTTPRedirectHandler):
    """A redirect would carry the token to another place: it is an error instead."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


class Service:
    """One service at an address."""

    def __init__(self, url: str, token: str | None = None, timeout: float = 10.0) -> None:
        """`timeout`: seconds without a byte of the answer."""
        if urlsplit(url).scheme not in ("http", "https") or not urlsplit(url).hostname:
            raise ValueError(f"url is {url!r}, expected http://... or https://...")
        self.url, self._token, self.timeout = url.rstrip("/"), token, timeout
        local = is_local(urlsplit(url).hostname or "")
        no_proxy = [ProxyHandler({})] if local else []  # a token for this machine travels nowhere else
        self._opener = build_opener(_NoRedirects, *no_proxy)

    def about(self) -> dict[str, Any]:
        """Model, classes, capacity, your role, and what is wrong if something is."""
        return self.request("GET", "/v1/service")

    def streams(self) -> list[StreamInfo]:
        return self.request("GET", "/v1/streams")["streams"]

    def stream(self, id: str, since: int = 0) -> StreamInfo:
        """One stream with its history after frame `since`."""
        return self.request("GET", f"/v1/streams/{_path(id)}?since={since}")

    def picture(self, id: str) -> bytes:
        """The last picture, small, as a WebP file."""
        return self.request("GET", f"/v1/streams/{_path(id)}/picture", raw=True)

    def forget(self, id: str) -> None:
        self.request("DELETE", f"/v1/streams/{_path(id)}", raw=True)

    def step(self, id: str, picture: bytes, probabilities: bool = False, group: str = "") -> Reply:
        """One frame without a WebSocket: a picture's bytes, or a message of `knob_core.serving.messages.pack`."""
        query = urlencode({"probabilities": str(probabilities).lower(), **({"group": group} if group else {})})
        path = f"/v1/streams/{_path(id)}/frames?{query}"
        return self.request("POST", path, picture, "application/octet-stream")

    def step_many(self, frames: list[dict[str, Any]]) -> list[Reply]:
        """Frames of many streams: each has a `stream` and a `picture` (base64) or `logits`."""
        return self.request("POST", "/v1/frames", {"frames": frames})["answers"]

    def knobs(self) -> KnobState:
        return self.request("GET", "/v1/knobs")

    def knob_log(self) -> list[KnobChange]:
        return self.request("GET", "/v1/knobs/log")["changes"]

    def turn(
        self, *, group: str | None = None, stream: str | None = None, clear: bool = False,
        if_revision: int | None = None, **knobs: Any,
    ) -> KnobState:  # fmt: skip
        """Set some knobs as one, for all, a group or a stream."""
        table = {**knobs, **({} if if_revision is None else {"if_revision": if_revision})}
        return self.request("PATCH", _scope(group, stream) + ("?clear=true" if clear else ""), table)

    def load(self, path: str | Path, *, group: str | None = None, stream: str | None = None) -> KnobState:
        """A settings file of the console, as it is."""
        return self.request("PUT", _scope(group, stream), Path(path).read_bytes(), "application/toml")

    def release(self, *, group: str | None = None, stream: str | None = None) -> KnobState:
        """Take a group's or a stream's own knobs back."""
        return self.request("DELETE", _scope(group, stream))

    def revert(self, revision: int, if_revision: int | None = None) -> KnobState:
        """All knobs as they were at a revision."""
        table = {"revision": revision, **({} if if_revision is None else {"if_revision": if_revision})}
        return self.request("POST", "/v1/knobs/revert", table)

    def request(
        self, method: str, path: str, body: Any = None, kind: str = "application/json", raw: bool = False
    ) -> Any:
        """Any request; raises `ServiceError` with the service's own words."""
        content = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Accept": "application/json", **({"Content-Type": kind} if content is not None else {})}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        request = Request(self.url + path, content, headers, method=method)
        try:
            with self._opener.open(request, timeout=self.timeout) as response:
                found = response.read()
        except HTTPError as error:
            raise ServiceError(error.code, _cause(error)) from None
        except (OSError, HTTPException, ValueError) as error:
            cause = getattr(error, "reason", error)
            raise ServiceError(0, f"no service answers at {self.url} ({cause})") from None
        return found if raw else self._table(found)

    def _table(self, found: bytes) -> dict[str, Any]:
        try:
            table = json.loads(found)
        except (ValueError, RecursionError):
            table = None
        if not isinstance(table, dict):
            raise ServiceError(0, f"{self.url} answers, but not as a Knob service")
        return table


def _cause(error: HTTPError) -> str:
    try:
        return str(json.loads(error.read())["error"])[:1000]
    except (ValueError, KeyError, TypeError, OSError, HTTPException, RecursionError):
        return f"the service answered {error.code}"


def _path(id: str) -> str:
    return quote(id, safe="")


def _scope(group: str | None, stream: str | None) -> str:
    if group is not None and stream is not None:
        raise ValueError("group and stream are both given, expected one of them")
    if stream is not None:
        return f"/v1/knobs/streams/{_path(stream)}"
    return "/v1/knobs" if group is None else f"/v1/knobs/groups/{_path(group)}"
