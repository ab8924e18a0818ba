"""Which services the console may connect to.

The address comes from a visitor, and this server would connect wherever it says. So only services on this machine may
be named, and those in the environment variable KNOB_SERVICES (addresses, separated by commas).
"""

from __future__ import annotations

import os
from urllib.parse import urlsplit

from knob_core.serving.access import is_local
from knob_core.serving.options import HOST, PORT

HOME = f"http://{HOST}:{PORT}"
ALLOWED = "KNOB_SERVICES"


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
    if text not in listed and not is_local(host):
        raise ValueError(
            f"this console connects to services on its own machine only, not to {host}"
            f"{f':{port}' if port else ''}; who runs it may allow more by the variable {ALLOWED}"
        )
    return text
