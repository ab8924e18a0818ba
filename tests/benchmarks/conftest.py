"""Speed on one thread: what a second core adds is the machine's, not the code's."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def always_one_thread(one_thread: None) -> None:
    pass
