"""A progress bar on a terminal, elsewhere one line an epoch."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence

from torch import nn
from tqdm import tqdm

from knob_core.cli import tell


class Progress:
    """Loss, accuracy, ζ, ω_n, mean gate, images/s and time left of one stage."""

    def __init__(self, title: str, epochs: int, steps: int, batch: int, quiet: bool = False) -> None:
        self.title, self.epochs, self.steps, self.batch = title, epochs, steps, batch
        self.quiet = quiet
        self.bar: tqdm | None = None
        self.epoch, self.first_step, self.started = 0, 0, time.monotonic()

    def start_epoch(self, epoch: int, step: int) -> None:
        self.epoch, self.first_step, self.started = epoch, step, time.monotonic()
        if sys.stderr.isatty() and not self.quiet:
            total = self.steps * self.batch
            label = f"{self.title} {epoch + 1}/{self.epochs}"
            self.bar = tqdm(total=total, initial=step * self.batch, desc=label, unit="img", leave=False)

    def advance(self, means: Callable[[], Sequence[float]], model: nn.Module) -> None:
        """Called after every step; computes numbers only where a bar shows them."""
        if self.bar is not None:
            self.bar.update(self.batch)
            if self.bar.n // self.batch % 10 == 0:
                loss, accuracy, gate = means()
                shown = {"loss": f"{loss:.3f}", "acc": f"{100 * accuracy:.1f}%", "gate": f"{gate:.2f}"}
                knobs = getattr(model, "knobs", None)
                if knobs is not None:
                    shown |= {"ζ": f"{knobs.zeta:.2f}", "ω_n": f"{knobs.omega_n:.2f}"}
                self.bar.set_postfix(shown)

    def end_epoch(self, row: dict[str, float]) -> None:
        if self.bar is not None:
            self.bar.close()
            self.bar = None
        if self.quiet:
            return
        rate = (self.steps - self.first_step) * self.batch / (time.monotonic() - self.started)
        left = (self.epochs - self.epoch - 1) * self.steps * self.batch / rate / 60
        numbers = "  ".join(f"{name} {value:.4g}" for name, value in row.items() if name != "epoch")
        tell(f"{self.title} {self.epoch + 1}/{self.epochs}  {numbers}  {rate:.0f} images/s  {left:.0f} min left")
