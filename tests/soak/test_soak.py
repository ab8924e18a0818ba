"""The soak, as short as can be: it finds nothing."""

from __future__ import annotations

import pytest

from tests.soak import server

pytestmark = pytest.mark.slow


def test_visits_uploads_computations_and_a_restart_leave_no_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert server.main(["--seconds", "2", "--lives", "2", "--pause", "0"]) == 0, capsys.readouterr().out


def test_growth_is_seen() -> None:
    flat, rising = [500.0, 700.0] + [710.0] * 20, [500.0 + 20 * i for i in range(20)]
    assert server.growth(flat) == 0.0
    assert server.growth(rising) > server.ROOM
