"""Calibration over 95,000 predictions: what a turn costs against the plain way, and how it follows a real drag.

The rate is asked of an idle machine with two cores; a busy loop tells whether it is one.
"""

from __future__ import annotations

import math
import os
import time
from pathlib import Path
from typing import Any

import browser as real
import made_cells
import numpy as np
import pytest
from browser import knob
from pages import drawn, opened

from app.calibration import comparison, predictions
from app.calibration.calibration_controller import CalibrationController
from app.calibration.cell_selection import Selection
from app.console.console_state import ConsoleState
from knob_core import fusion, gate, metrics
from knob_core.settings import Settings

WANTED = 8.0  # visible updates a second
IDLE = 0.85  # of a core that a busy loop gets where nothing else runs
QUICKER = 2.0  # times the plain way, at least


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_cells.assets(tmp_path_factory.mktemp("made") / "assets")


def cost(run: Any, rounds: int = 8) -> float:
    """Processor seconds of one call, the median."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return float(np.median(times))


def test_a_turn_against_the_plain_way(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictions, "ROOT", folder)
    chosen = Selection()
    shown = predictions.load(chosen)
    controller = CalibrationController(ConsoleState(settings=Settings(omega_n=1.0)))
    controller.show(chosen, shown, comparison.alternatives(chosen, shown), "", 0)
    found = predictions.cells_of("knob-ode", 0)
    z_static, z_dyn = (z.reshape(-1, 10) for z in (found.z_static, found.z_dyn))
    labels = np.tile(found.labels, len(found.cells))

    def ours() -> None:
        controller.update({}, 1)

    def plain() -> None:
        """The same numbers, without pictures, by the functions that take one question each."""
        g = gate.sigmoid(found.u_star.ravel() * gate.reset_gain(0.7, 1.0))
        fused = fusion.diagnose(z_static, z_dyn, g)
        p = metrics.softmax(fused.z_fuse)
        metrics.accuracy(p, labels), metrics.nll(p, labels), metrics.brier(p, labels)
        agree = fusion.agreement(z_static, z_dyn)
        for mask in (slice(None), agree, ~agree):
            metrics.reliability_table(p[mask], labels[mask]).ece_debiased()
        for cell in range(len(found.cells)):
            part = slice(1000 * cell, 1000 * (cell + 1))
            metrics.ece_debiased(p[part], labels[part])
        severity = np.repeat([v for _, v in found.cells], 1000)
        for level in np.unique(severity):
            np.percentile(fused.t_eff[severity == level], [25, 50, 75])

    ours()
    mine, theirs = cost(ours), cost(plain)
    print(f"\na turn over {len(labels):,} predictions, all panels: {1e3 * mine:.0f} ms of one core")
    print(f"the plain way, without pictures: {1e3 * theirs:.0f} ms, {theirs / mine:.1f} times as much")
    assert theirs >= QUICKER * mine


def idle() -> float:
    """The share of a core that a busy loop gets: 1 on an idle machine."""
    wall, processor = time.perf_counter(), time.process_time()
    while time.perf_counter() - wall < 1.5:
        sum(range(20_000))
    return (time.process_time() - processor) / (time.perf_counter() - wall)


def processor_seconds(root: int) -> dict[str, float]:
    """Processor time of a process and all its descendants so far, by the programs' names."""
    ticks, parents, names = {}, {}, {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            head, tail = path.read_text().rsplit(")", 1)
        except OSError:  # it has just ended
            continue
        fields, pid = tail.split(), int(path.parent.name)
        parents[pid], names[pid] = int(fields[1]), head.split("(", 1)[1]
        ticks[pid] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    found: dict[str, float] = {}
    for pid, seconds in ticks.items():
        above = pid
        while above in parents and above != root:
            above = parents[above]
        if above == root:
            found[names[pid]] = found.get(names[pid], 0.0) + seconds
    return found


def test_a_drag_in_a_real_browser(folder: Path) -> None:
    if real.chromium() is None:
        pytest.skip(real.HOW)
    if not Path("/proc/self/stat").exists():
        pytest.skip("needs /proc to tell what a drag costs")
    with (
        real.served(real.ROOT / "app" / "main.py", KNOB_ASSETS=str(folder)) as server,
        real.browser() as chrome,
        opened(chrome, f"{server.url}/calibration") as page,
    ):
        drawn(page)
        box = knob(page, "ωₙ").bounding_box()
        x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
        page.wait_for_timeout(3000)
        share = idle()
        page.mouse.move(x, y)
        page.mouse.down()
        first, start, i = drawn(page), time.perf_counter(), 0
        before, before_page = sum(processor_seconds(server.pid).values()), processor_seconds(os.getpid())
        while (seconds := time.perf_counter() - start) < 6:
            i += 1
            page.mouse.move(x, y + 60 * math.sin(i / 12))
            page.wait_for_timeout(15)
        updates = drawn(page) - first
        after, after_page = sum(processor_seconds(server.pid).values()), processor_seconds(os.getpid())
        page.mouse.up()
        share = min(share, idle())
    serving = (after - before) / updates
    drawing = sum(after_page[name] - before_page.get(name, 0.0) for name in after_page if "chrom" in name) / updates
    rate = updates / seconds
    print(
        f"\none visible update of seven panels costs {1e3 * serving:.0f} ms in the server, {1e3 * drawing:.0f} in "
        f"Chromium"
    )
    print(f"{rate:.1f} updates/s were seen; a busy loop got {share:.0%} of a core")
    if share < IDLE:
        pytest.skip(
            f"wants an idle machine: a busy loop got {share:.0%} of a core, so {rate:.1f} updates/s say nothing"
        )
    assert rate >= WANTED
