"""The code on a summary: a keyed hash of its record, HMAC-SHA256, sixteen letters and digits.

With a key that only the teacher's server has, nobody else can make the code, so an edited record is found. Without a
key it is a checksum: it finds accidents, and whoever reads this file can make one. The key comes from the environment,
KNOB_LESSONS_KEY, or on the page from Streamlit's secrets, lessons_key.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import os
from typing import Any

VARIABLE = "KNOB_LESSONS_KEY"
SECRET = "lessons_key"


def key_from_environment() -> str:
    """The class key; "" where none is set."""
    return os.environ.get(VARIABLE, "").strip()


def canonical(record: Any) -> str:
    """One text for one record."""
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)


def code(record: Any, key: str) -> str:
    """`ABCD-EFGH-IJKL-MNOP`."""
    digest = hmac.new(key.encode(), canonical(record).encode(), hashlib.sha256).digest()
    text = base64.b32encode(digest[:10]).decode()
    return "-".join(text[i : i + 4] for i in range(0, 16, 4))


def same(one: str, other: str) -> bool:
    """Compare codes in constant time; spaces and case do not count."""
    return hmac.compare_digest(one.strip().upper().encode(), other.strip().upper().encode())
