"""Which services the console may connect to.

The address comes from a visitor, and this server would connect wherever it says: to machines that only it can reach.
So there is a list: the environment variable KNOB_SERVICES, addresses separated by commas, and no other may be named.
Without the list, services on this machine may be: any port of it, since whoever did not set the list has no guests.
"""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from knob_core.serving.access import is_local
from knob_core.serving.command import HOST, PORT

HOME = f"http://{HOST}:{PORT}"
ALLOWED = "KNOB_SERVICES"


def listed() -> list[str] | None:
    """The addresses that may be named; None where there is no list."""
    given = os.environ.get(ALLOWED)
    return None if given is None else [text for entry in given.split(",") if (text := entry.strip().rstrip("/"))]


def first() -> str:
    """The address that the page proposes."""
    return next(iter(listed() or []), HOME)


def checked(address: str) -> str:
    """The address without a slash at its end; refused where it is none, or may not be connected to."""
    text, allowed = address.strip().rstrip("/"), listed()
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError as error:
        raise ValueError(f"the address {address[:80]!r} cannot be read: {error}") from None
    plain = not ("@" in parts.netloc or parts.query or parts.fragment) and text.isascii() and text.isprintable()
    if parts.scheme not in ("http", "https") or not host or not plain or " " in text:
        raise ValueError(f"the address is {address[:80]!r}, expected one such as {first()}")
    if allowed is not None and text in allowed:
        return text
    if allowed is not None:
        raise ValueError(
            f"this console connects to listed services only, not to {text[:80]}; "
            f"who runs it may list more in the variable {ALLOWED}"
        )
    where = f"[{host}]" if ":" in host else host
    own = f"{parts.scheme}://{where}{f':{port}' if port is not None else ''}"
    if not is_local(host) or own != text.lower():
        raise ValueError(
            f"this console connects to services on its own machine only, without a path, not to {text[:80]}; "
            f"who runs it may allow more by the variable {ALLOWED}"
        )
    return own
