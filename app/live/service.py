"""A running service (`knob serve`) as the console sees it: requests over HTTP, and in words what is wrong.

The address comes from a visitor, and this server would connect wherever it says. So only services on this machine may
be named, and those in the environment variable KNOB_SERVICES (addresses, separated by commas). Redirects are not
followed.
"""

from __future__ import annotations

import ipaddress
import json
import os
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException, HTTPMessage
from typing import IO, Any
from urllib.parse import quote, urlencode, urlsplit

HOME = "http://127.0.0.1:8600"
ALLOWED = "KNOB_SERVICES"
TIMEOUT = 3.0  # s
MOST = 8_000_000  # bytes of a reply


class Gone(Exception):
    """The service does not answer, or not as a service would."""


class Refused(Exception):
    """The service says no; the text is its cause."""


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(
        self, req: urllib.request.Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


_opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _NoRedirects)


def checked(address: str) -> str:
    """The address without a slash at its end; refused where it is none, or may not be connected to."""
    text = address.strip().rstrip("/")
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise ValueError(f"the address {address[:80]!r} cannot be read: {error}") from None
    if parts.scheme not in ("http", "https") or not host or parts.username or parts.query or parts.fragment:
        raise ValueError(f"the address is {address[:80]!r}, expected one such as {HOME}")
    listed = [entry.strip().rstrip("/") for entry in os.environ.get(ALLOWED, "").split(",")]
    if text not in listed and not _on_this_machine(host):
        raise ValueError(
            f"this console connects to services on its own machine only, not to {host}"
            f"{f':{port}' if port else ''}; who runs it may allow more by the variable {ALLOWED}"
        )
    return text


def _on_this_machine(host: str) -> bool:
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


@dataclass(frozen=True)
class Service:
    """One service, opened with one token ("" where it needs none)."""

    address: str
    token: str = ""

    def get(self, *path: str, **query: Any) -> dict[str, Any]:
        """A JSON reply, such as that of get("streams", "cam-1", since=200)."""
        return self._json("GET", path, query)

    def picture(self, stream: str) -> bytes | None:
        """A stream's last picture, WebP; None where there is none."""
        try:
            return self._open("GET", ("streams", stream, "picture"), {}, None)
        except Refused:
            return None

    def send(self, method: str, *path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        """Change something; the JSON reply."""
        return self._json(method, path, {}, body)

    def _json(
        self, method: str, path: tuple[str, ...], query: Mapping[str, Any], body: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        raw = self._open(method, path, query, body)
        try:
            reply = json.loads(raw)
        except (ValueError, RecursionError):
            raise Gone(f"{self.address} answers, but not as a Knob service") from None
        if not isinstance(reply, dict):
            raise Gone(f"{self.address} answers, but not as a Knob service")
        return reply

    def _open(
        self, method: str, path: tuple[str, ...], query: Mapping[str, Any], body: Mapping[str, Any] | None
    ) -> bytes:
        url = "/".join([self.address, "v1", *(quote(part, safe="") for part in path)])
        if query:
            url += "?" + urlencode(query)
        headers = {"Accept": "application/json, image/webp"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        data = None if body is None else json.dumps(body).encode()
        if data is not None:
            headers["Content-Type"] = "application/json"
        request = urllib.request.Request(url, data, headers, method=method)
        try:
            with _opener.open(request, timeout=TIMEOUT) as reply:
                content = reply.read(MOST + 1)
        except urllib.error.HTTPError as error:
            raise Refused(_cause(error)) from None
        except (OSError, HTTPException, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise Gone(f"no service answers at {self.address} ({reason})") from None
        if len(content) > MOST:
            raise Gone(f"{self.address} sent more than {MOST:,} bytes")
        return content


def _cause(error: urllib.error.HTTPError) -> str:
    """The service's own words, or the status where it has none."""
    try:
        words = json.loads(error.read(10_000))["error"]
        return str(words)[:300]
    except (OSError, HTTPException, ValueError, KeyError, TypeError, RecursionError):
        return f"the service answers {error.code}"
