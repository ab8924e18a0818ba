"""Many open streams, few of them active, for some seconds; at length: `python -m tests.soak.many_streams`."""

from __future__ import annotations

import pytest

from tests.soak import many_streams
from tests.soak.many_streams import Found


@pytest.mark.slow
def test_memory_is_flat_and_no_stream_starves(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--streams", "100", "--active", "20", "--seconds", "5"]
    assert many_streams.main(few) == 0, capsys.readouterr().out


def test_growth_and_starvation_are_seen() -> None:
    fair = Found([100, 90, 110], [200.0] * 9)
    assert fair.growth == 0.0 and fair.slowest == 0.9
    unfair = Found([100, 10, 190], [200.0 + 10 * i for i in range(9)])
    assert unfair.growth > many_streams.ROOM and unfair.slowest < many_streams.SHARE
