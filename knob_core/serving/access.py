"""Who may do what: tokens with roles, and which hosts and origins are answered.

A viewer reads, a camera also sends frames, an operator also turns knobs. Without tokens everybody is operator, which is
allowed on this machine's own address only.
"""

from __future__ import annotations

import hmac
import ipaddress
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

ROLES = ("viewer", "camera", "operator")  # each may do what those before it may
VARIABLE = "KNOB_SERVE_TOKENS"
SHORTEST = 16  # characters of a token
LOCAL = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Caller:
    """Whoever sent a request."""

    name: str
    role: str

    def may(self, role: str) -> bool:
        return ROLES.index(self.role) >= ROLES.index(role)


@dataclass(frozen=True)
class Access:
    """The rules of one service."""

    tokens: Mapping[str, Caller] = field(default_factory=dict, repr=False)  # by token
    hosts: frozenset[str] = frozenset(LOCAL)
    origins: frozenset[str] = frozenset()  # beside the service's own
    from_here_only: bool = False  # whoever connects from another machine is refused

    def caller(self, token: str | None) -> Caller | None:
        """Whose token it is; compared in constant time with every token."""
        if not self.tokens:
            return Caller("local", "operator")
        found = None
        given = (token or "").encode("utf-8", "replace")
        for known, caller in self.tokens.items():
            if hmac.compare_digest(known.encode(), given):
                found = caller
        return found

    def host_problem(self, host: str | None) -> str | None:
        """A page of another site could otherwise reach this machine by a name that it made point here."""
        name = host_of(host)
        if "*" in self.hosts or name in self.hosts:
            return None
        return f"Host is {str(host)[:80]!r}, expected one of {', '.join(sorted(self.hosts))} (knob serve --allow-host)"

    def client_problem(self, address: str | None) -> str | None:
        """Where the service does not choose the address that it listens on, it looks at who comes."""
        if not self.from_here_only or address is None or is_local(address):
            return None
        return f"{address[:80]} is another machine, and without tokens only this one is answered (knob serve --tokens)"

    def origin_problem(self, origin: str | None, host: str | None) -> str | None:
        """Only browsers send an Origin: their pages must come from this service, or be named."""
        if origin is None or origin.lower() in self.origins or "*" in self.origins:
            return None
        if host and _place_of(origin.lower()) == host.lower():
            return None
        return f"Origin is {origin[:80]!r}, which is not allowed here (knob serve --allow-origin)"


def _place_of(origin: str) -> str | None:
    """The host and port of an Origin; None where it is no address, as `http://[`."""
    try:
        return urlsplit(origin).netloc or None
    except ValueError:
        return None


def host_of(host: str | None) -> str:
    """The name or address without its port."""
    try:
        return (urlsplit(f"//{host or ''}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def allowed_host(name: str) -> str:
    """A name of `--allow-host` as `host_of` gives a request's."""
    found = name.lower().removeprefix("[").removesuffix("]").rstrip(".")
    if not found or host_of(f"[{found}]" if ":" in found else found) != found:
        raise ValueError(
            f"--allow-host is {name[:80]!r}, expected a name or an address without https://, port and path"
        )
    return found


def allowed_origin(text: str) -> str:
    """An origin of `--allow-origin` as browsers send it: in lower case, without the slash of an address bar."""
    found = text.lower().removesuffix("/")
    scheme, place = found.partition("://")[0], _place_of(found)
    if found not in ("*", "null") and (place is None or found != f"{scheme}://{place}"):
        raise ValueError(f"--allow-origin is {text[:80]!r}, expected https://NAME or https://NAME:PORT, without a path")
    return found


def is_local(address: str) -> bool:
    """Whether only this machine can connect to it."""
    if address == "localhost":
        return True
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False


def tokens_from(lines: Iterable[str], place: str) -> dict[str, Caller]:
    """Lines `role name token`; empty ones and comments (#) are skipped."""
    found: dict[str, Caller] = {}
    for number, line in enumerate(lines, 1):
        words = line.split()
        if not words or words[0].startswith("#"):
            continue
        if len(words) != 3 or words[0] not in ROLES:
            raise ValueError(f"{place}, line {number}: expected `role name token`, role one of {', '.join(ROLES)}")
        role, name, token = words
        if len(token) < SHORTEST or not token.isascii():
            raise ValueError(
                f"{place}, line {number}: the token has {len(token)} characters, expected {SHORTEST} or more of ASCII"
            )
        if token in found:
            raise ValueError(f"{place}, line {number}: the token of {name} is {found[token].name}'s already")
        found[token] = Caller(name, role)
    return found


def load_tokens(path: Path | None) -> dict[str, Caller]:
    """From a file, else from the environment variable KNOB_SERVE_TOKENS (lines, or separated by `;`); {} without."""
    place = VARIABLE if path is None else str(path)
    text = os.environ.get(VARIABLE, "").replace(";", "\n") if path is None else path.read_text(encoding="utf-8")
    found = tokens_from(text.splitlines(), place)
    if not found and (path is not None or text.strip()):  # without tokens everybody would be operator
        raise ValueError(f"{place} has no token, expected lines `role name token`")
    return found
