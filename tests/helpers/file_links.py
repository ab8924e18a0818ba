"""The links to files on a page."""

from __future__ import annotations

import re
from typing import Any


def file_links(at: Any) -> list[str]:
    """Their labels, in order; each has a sentence of help."""
    pattern = re.compile(r'<a class="knob-file" .* title="[^"]+">(.*)</a>')
    return [link[1] for element in at.get("html") if (link := pattern.match(element.proto.body))]
