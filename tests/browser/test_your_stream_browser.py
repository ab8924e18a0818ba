"""Your stream in a real browser: upload, turn, read back, and be told what is wrong with a bad file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import browser as real
import numpy as np
import pytest
from browser import knob
from console_answers import readouts
from pages import opened
from PIL import Image

from app.figures.packed import unpack
from knob_core import models, wrap
from knob_core.branches import Branches
from knob_core.data import load_sample
from knob_core.data.pixels import to_unit
from knob_core.measures.stability import flips
from knob_core.response import respond
from knob_core.settings import Settings

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
        page.wait_for_selector(".display[data-updates]")

        def shown() -> float:
            return float(readouts(real.message(page))["flips"]["now"])

        def computed() -> float:
            hand = page.evaluate("knobPart('knobs').values")
            setting = Settings(zeta=hand["zeta"], omega_n=hand["omega_n"])
            return flips(respond(wrap.branches_of(z), setting)[0].predicted)

        first = shown()
        assert first == pytest.approx(computed(), abs=0.051)
        knob(page, "ωₙ").focus()
        page.keyboard.press("End")
        real.settle(page)
        assert shown() == pytest.approx(computed(), abs=0.051) and shown() > first
        page.locator('input[type="file"]').set_input_files(tmp_path / "bad.csv")
        page.get_by_text("'b' is inf in row 1").wait_for()
        assert page.locator(".display[data-updates]").count() == 1  # the good stream is still there


def test_pictures_are_seen_by_the_shipped_model(app: str, chrome: Any, tmp_path: Path) -> None:
    """Forty frames of one picture, half of them noisy: what the strip says is what the model says."""
    import torch

    images, labels, _ = load_sample()
    noisy = np.clip(images[3] + np.random.default_rng(0).normal(0, 60, (20, 3, 32, 32)), 0, 255).astype(np.uint8)
    frames = np.concatenate([np.repeat(images[3][None], 20, 0), noisy])
    for index, frame in enumerate(frames):
        Image.fromarray(frame.transpose(1, 2, 0)).save(tmp_path / f"frame-{index:03d}.png")
    (tmp_path / "labels.csv").write_text(
        "file,label\n" + "\n".join(f"frame-{i:03d}.png,{labels[3]}" for i in range(40))
    )
    with opened(chrome, f"{app}/your_stream") as page:
        page.set_default_timeout(240_000)
        page.evaluate(real.PARTS)
        page.get_by_role("radio", name="Pictures", exact=True).click()
        page.wait_for_selector('input[type="file"][accept*="zip"]', state="attached")
        page.locator('input[type="file"]').set_input_files(sorted(tmp_path.iterdir()))
        page.wait_for_selector(".display[data-updates]")
        real.settle(page)
        said, hand = real.message(page), page.evaluate("knobPart('knobs').values")
        page.get_by_text("40 frames, each the middle square").wait_for()
    torch.manual_seed(0)  # the weights that made_streams.checkpoint gave the served app
    with torch.inference_mode():
        outputs = models.build("knob-ode", width=4).eval()(to_unit(frames))
    branches = Branches(*(x.numpy()[None] for x in outputs), labels[3:4], np.zeros(40, np.float32))
    predicted = respond(branches, Settings(zeta=hand["zeta"], omega_n=hand["omega_n"]))[0].predicted
    assert float(readouts(said)["flips"]["now"]) == pytest.approx(flips(predicted), abs=0.051)
    (now,) = [trace["z"] for trace in said["scope"]["data"] if trace["type"] == "ribbon"]
    assert list(unpack(now)) == list(predicted[0])
