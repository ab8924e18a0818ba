"""Two hundred turns leave nothing behind, neither in the server nor in the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from browser import Served, open_console, settle

pytestmark = pytest.mark.browser

GROWTH = 12e6  # bytes that caches may still fill after the warm-up; 200 leaked messages alone would be more


def turn(page: Any, count: int) -> None:
    """Turn the knobs `count` times, each turn answered and drawn before the next."""
    page.evaluate(
        """async (count) => {
          const controls = knobPart('knobs'), display = knobPart('scope');
          const presets = controls.constants.presets.filter((p) => p.on);
          for (let i = 0; i < count; i++) {
            controls.apply({ ...presets[i % presets.length], zeta: 0.1 + (i % 97) / 50 });
            const answered = () => !controls.sender.changed && display.message.seq >= controls.values.seq;
            while (!answered() || display.redraw.pending) await new Promise((r) => setTimeout(r, 5));
          }
        }""",
        count,
    )


def server_bytes(pid: int) -> int:
    fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return int(fields["VmRSS"].split()[0]) * 1024


def page_bytes(client: Any) -> float:
    client.send("HeapProfiler.collectGarbage")
    return float(client.send("Runtime.getHeapUsage")["usedSize"])


def test_two_hundred_turns_leave_nothing_behind(server: Served, page: Any) -> None:
    if not Path("/proc/self/status").exists():
        pytest.skip("reads the server's memory from /proc, which this system does not have")
    open_console(page, server.url)
    client = page.context.new_cdp_session(page)
    turn(page, 60)
    settle(page)
    server_before, page_before = server_bytes(server.pid), page_bytes(client)
    turn(page, 200)
    settle(page)
    assert server_bytes(server.pid) - server_before < GROWTH
    assert page_bytes(client) - page_before < GROWTH
