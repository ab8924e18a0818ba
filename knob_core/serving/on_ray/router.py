"""Which replica a request goes to: the one that its stream's id falls to on a ring of hashes.

Ray's own router by consistent hashing, whose key is a header that browsers cannot set on a WebSocket; here the key is
the stream's id in the path. When a replica comes or goes, only the streams that were or will be its own move.
"""

from __future__ import annotations

import re
from typing import Any

from ray.serve.experimental.consistent_hash_router import ConsistentHashRouter

STREAM = re.compile(rb"/v1/(?:knobs/)?streams/([A-Za-z0-9._:-]{1,64})")


def stream_in(request: bytes) -> str | None:
    """The stream's id in a request as Ray's proxy packs it: the path is the first text in it that can have one."""
    found = STREAM.search(request)
    return found[1].decode() if found else None


class StreamRouter(ConsistentHashRouter):
    """Requests of one stream to one replica; those without a stream to any."""

    def _routing_key(self, pending_request: Any) -> str | None:
        if pending_request is not None and pending_request.metadata.is_http_request and pending_request.args:
            id = stream_in(pending_request.args[0])
            if id is not None:
                return id
        return super()._routing_key(pending_request)
