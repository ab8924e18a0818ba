"""Give freed memory back to the system.

The C library keeps what is freed for the next time, in a heap for every few threads. With large uploads it learns to
keep more: up to 64 MB in each of up to eight heaps a core, for good. So the size from which an array is given back as
soon as it is freed is fixed here, and what lies free between other things is given back when a session is over.
glibc only; other C libraries do as they do.
"""

from __future__ import annotations

import ctypes
import sys
from typing import Any

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD = -1, -3  # of glibc's <malloc.h>
LARGE = 4 * 1024 * 1024  # bytes


def _c_library() -> Any:
    """glibc; None where there is another one."""
    library = ctypes.CDLL(None) if sys.platform == "linux" else None
    return library if hasattr(library, "malloc_trim") and hasattr(library, "mallopt") else None


def keep_little() -> None:
    """Give arrays of LARGE bytes back when they are freed, and let no heap keep more than that at its end."""
    if (library := _c_library()) is not None:
        library.mallopt(M_MMAP_THRESHOLD, LARGE)
        library.mallopt(M_TRIM_THRESHOLD, LARGE)


def give_back() -> None:
    """Give back every page that is free."""
    if (library := _c_library()) is not None:
        library.malloc_trim(0)
