"""What every test may ask for."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # small arrays: threads only get in each other's way

settings.register_profile("knob", deadline=None)  # no test judges speed: a busy machine is not a defect
settings.register_profile("quick", deadline=None, max_examples=20)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "knob"))

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared() -> Path:
    """The developers' data folder: the whole of CIFAR-10, official CIFAR-10-C pixels, reference statistics."""
    folder = Path(os.environ.get("KNOB_SHARED", ROOT.parent / "shared"))
    if not (folder / "data" / "cifar10").is_dir():
        pytest.skip("needs the developers' reference data: put it beside the checkout as ../shared or set KNOB_SHARED")
    return folder


@pytest.fixture(scope="module")
def one_thread() -> Iterator[None]:
    """torch computes on one thread, whatever the machine has."""
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
