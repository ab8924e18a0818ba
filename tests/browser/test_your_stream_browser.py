"""Your stream in a real browser: upload, turn, read back, and be told what is wrong with a bad file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import browser as real
import numpy as np
import pytest
from pages import opened

from knob_core import wrap
from knob_core.response import respond
from knob_core.settings import Settings
from knob_core.stream_measures import flips

pytestmark = pytest.mark.browser


def test_upload_turn_and_read_back(app: str, chrome: Any, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    labels = np.arange(6) % 4
    z = rng.normal(0, 2, (6, 200, 4)) + 3 * np.eye(4)[labels][:, None]
    np.savez(tmp_path / "mine.npz", logits=z, labels=labels)
    (tmp_path / "bad.csv").write_text("a,b\n1,inf\n")
    with opened(chrome, f"{app}/your_stream") as page:
        page.set_default_timeout(240_000)
        page.evaluate(real.PARTS)
        page.locator('input[type="file"]').set_input_files(tmp_path / "mine.npz")
        page.wait_for_selector(".board[data-updates]")

        def shown() -> float:
            return float(next(r for r in real.message(page)["readouts"] if r["id"] == "flips")["now"])

        def computed() -> float:
            hand = page.evaluate("knobPart('knobs').hand")
            setting = Settings(zeta=hand["zeta"], omega_n=hand["omega_n"])
            return flips(respond(wrap.branches_of(z), setting)[0].predicted)

        first = shown()
        assert first == pytest.approx(computed(), abs=0.051)
        page.get_by_role("slider", name="ωₙ").first.focus()
        page.keyboard.press("End")
        real.settle(page)
        assert shown() == pytest.approx(computed(), abs=0.051) and shown() > first
        page.locator('input[type="file"]').set_input_files(tmp_path / "bad.csv")
        page.get_by_text("'b' is inf in row 1").wait_for()
        assert page.locator(".board[data-updates]").count() == 1  # the good stream is still there
