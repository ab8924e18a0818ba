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


class WatchedPage:
    """A page of 1280 x 800 that notes every error in it and on its console."""

    def __init__(self, chrome: Any) -> None:
        self.context = chrome.new_context(viewport={"width": 1280, "height": 800}, accept_downloads=True)
        self.context.set_default_timeout(real.PATIENCE)
        self.page = self.context.new_page()
        self.faults: list[str] = []
        self.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.page.on("console", lambda said: self.faults.append(said.text) if said.type == "error" else None)


@pytest.fixture
def page(chrome: Any) -> Iterator[Any]:
    """A page of 1280 x 800; an error in the page or on its console fails the test."""
    watched = WatchedPage(chrome)
    yield watched.page
    watched.context.close()
    assert not watched.faults


class KeptPage:
    """A console that stays open between tests; each begins with it as it was opened."""

    def __init__(self, chrome: Any, address: str) -> None:
        self.chrome, self.address = chrome, address
        self.watched: WatchedPage | None = None
        self.opened: Any = None

    def begin(self) -> Any:
        """The page with its knobs put back; opened anew where the last test left anything else behind."""
        if self.watched is not None and not self._put_back(self.watched.page):
            self.close()
        if self.watched is None:
            self.watched = WatchedPage(self.chrome)
            real.open_console(self.watched.page, self.address)
            self.opened = self._state(self.watched.page)
        return self.watched.page

    def faults(self) -> list[str]:
        """The errors since this was asked last."""
        assert self.watched is not None
        found, self.watched.faults[:] = list(self.watched.faults), []
        return found

    def close(self) -> None:
        if self.watched is not None:
            self.watched.context.close()
        self.watched = None

    def _put_back(self, page: Any) -> bool:
        page.mouse.move(2, 2)
        page.evaluate("(values) => knobPart('knobs').apply(values)", self.opened["values"])
        real.settle(page)
        page.evaluate("document.activeElement.blur()")
        return self._state(page) == self.opened

    @staticmethod
    def _state(page: Any) -> Any:
        """All that a test may have changed; the number of the script's runs tells of what went through Streamlit."""
        return page.evaluate(
            """() => {
              const { seq, turn, released, ...values } = knobPart("knobs").values;
              const { stream_id, view, panel, scope, runs } = knobPart("scope").message;
              const open = document.querySelectorAll("[role=dialog], [role=alert], [data-testid=stPopoverBody]").length;
              const { range } = knobPart("scope").zoom;
              return { values, stream_id, view, panel: panel.id, pin: scope.pin, script: runs[0], open, range };
            }"""
        )


@pytest.fixture(scope="session")
def kept_pages(chrome: Any) -> Iterator[dict[str, KeptPage]]:
    pages: dict[str, KeptPage] = {}
    yield pages
    for kept in pages.values():
        kept.close()


def _kept(kept_pages: dict[str, KeptPage], chrome: Any, address: str) -> Iterator[Any]:
    kept = kept_pages.setdefault(address, KeptPage(chrome, address))
    yield kept.begin()
    assert not kept.faults()


@pytest.fixture
def console(app: str, chrome: Any, kept_pages: dict[str, KeptPage]) -> Iterator[Any]:
    """The console on one fixed picture, a ship, drawn."""
    yield from _kept(kept_pages, chrome, f"{app}/?image=1")


@pytest.fixture
def scenes(app: str, chrome: Any, kept_pages: dict[str, KeptPage]) -> Iterator[Any]:
    """The console as it opens, on scenes that change every 20 frames, drawn."""
    yield from _kept(kept_pages, chrome, app)


@pytest.fixture
def csv_file(tmp_path: Path) -> Path:
    """A schedule of somebody's own."""
    path = tmp_path / "mine.csv"
    path.write_text("frame,severity\n" + "\n".join(f"{i},{1 + 3 * (i > 30)}" for i in range(60)))
    return path
