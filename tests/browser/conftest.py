"""A served app on made-up streams, a browser, and a page that tolerates no error."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import browser as real
import made_cells
import made_results
import made_streams
import pytest


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[real.Served]:
    """The app, served."""
    if real.chromium() is None:
        pytest.skip(real.HOW)
    folder = made_streams.assets(tmp_path_factory.mktemp("made") / "assets")
    made_streams.checkpoint(folder, "knob-ode")
    with real.served(real.ROOT / "app" / "main.py", KNOB_ASSETS=str(folder)) as running:
        yield running


@pytest.fixture(scope="session")
def app(server: real.Served) -> str:
    """The address of the app."""
    return server.url


@pytest.fixture(scope="session")
def full_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of the app with made-up predictions and result tables too: what the other pages read."""
    if real.chromium() is None:
        pytest.skip(real.HOW)
    folder = made_cells.assets(tmp_path_factory.mktemp("made") / "assets")
    made_results.write(folder / "results")
    with real.served(real.ROOT / "app" / "main.py", KNOB_ASSETS=str(folder)) as running:
        yield running.url


@pytest.fixture(scope="session")
def chrome() -> Iterator[Any]:
    if real.chromium() is None:
        pytest.skip(real.HOW)
    with real.browser() as chrome:
        yield chrome


@pytest.fixture
def page(chrome: Any) -> Iterator[Any]:
    """A page of 1280 x 800; an error in the page or on its console fails the test."""
    context = chrome.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
    context.set_default_timeout(real.PATIENCE)
    page = context.new_page()
    faults: list[str] = []
    page.on("pageerror", lambda error: faults.append(str(error)))
    page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
    yield page
    context.close()
    assert not faults


@pytest.fixture
def console(app: str, page: Any) -> Any:
    """The console on one fixed picture, a ship, drawn."""
    real.open_console(page, f"{app}/?image=1")
    return page


@pytest.fixture
def scenes(app: str, page: Any) -> Any:
    """The console as it opens, on scenes that change every 20 frames, drawn."""
    real.open_console(page, app)
    return page


@pytest.fixture
def csv_file(tmp_path: Path) -> Path:
    """A schedule of somebody's own."""
    path = tmp_path / "mine.csv"
    path.write_text("frame,severity\n" + "\n".join(f"{i},{1 + 3 * (i > 30)}" for i in range(60)))
    return path
