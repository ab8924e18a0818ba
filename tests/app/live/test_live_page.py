"""The Live page on a service that is made up: which stream is shown, and whose knobs are turned."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from app.live import live_display
from app.live.live_controller import LiveController
from app.live.watched_service import MOST_STREAMS, Scope, WatchedService
from knob_core.client.service import ServiceError

PAGE = Path(__file__).resolve().parents[3] / "app" / "app_pages" / "live.py"


class MadeUpService:
    """Two cameras in two groups; it notes what was turned."""

    url = "http://made.up"

    def __init__(self) -> None:
        self.groups = {"cam1": "yard", "cam2": "hall"}
        self.turned: list[tuple[str | None, str | None]] = []
        self.down = False

    def about(self) -> dict[str, Any]:
        if self.down:
            raise ServiceError(0, "does not answer")
        return {"model": "m", "role": "operator", "classes": ["cat", "dog"]}

    def streams(self) -> list[dict[str, Any]]:
        return [{"stream": name, "group": group} for name, group in self.groups.items()]

    def knobs(self) -> dict[str, Any]:
        return {"revision": 1 + len(self.turned), "all": {"zeta": 1.0, "omega_n": 0.4}, "groups": {}, "streams": {}}

    def stream(self, name: str) -> dict[str, Any]:
        history = {"frame": [1, 2], "g": [0.5, 0.5], "p_max": [0.5, 0.5], "label": [0, 0], "bare": [0, 0]}
        return {"stream": name, "name": f"answer of {name}", "history": history}

    def turn(self, group: str | None = None, stream: str | None = None, **_: Any) -> dict[str, Any]:
        self.turned.append((group, stream))
        return self.knobs()


@pytest.fixture
def service() -> MadeUpService:
    return MadeUpService()


@pytest.fixture
def own(service: MadeUpService) -> LiveController:
    made = LiveController(WatchedService(service))  # type: ignore[arg-type]
    made.refresh()
    return made


def opened(own: LiveController, **query: str) -> AppTest:
    at = AppTest.from_file(str(PAGE), default_timeout=60)
    at.session_state["live_controller"] = own
    for name, value in query.items():
        at.query_params[name] = value
    return ran(at)


def ran(at: AppTest) -> AppTest:
    at.run()
    assert not at.exception, at.exception
    return at


def choose_stream(at: AppTest, name: str) -> None:
    at.selectbox(key="live_stream").select(name)
    ran(at)


def scope_menu(at: AppTest) -> Any:
    return next(menu for menu in at.selectbox if menu.label == "The knobs turn")


def turn(own: LiveController) -> None:
    controls = {"epoch": own.state.epoch, "seq": own.state.seq + 1, "zeta": 0.3, "omega_n": 1.0}
    own.update({"controls": controls}, 1)


def test_knobs_of_one_stream_stay_with_one_stream_when_another_is_chosen(
    own: LiveController, service: MadeUpService
) -> None:
    at = opened(own)
    scope_menu(at).select(Scope(stream="cam1"))
    ran(at)
    assert own.scope == Scope(stream="cam1")
    choose_stream(at, "cam2")
    assert own.scope == scope_menu(ran(at)).value == Scope(stream="cam2")
    turn(own)
    assert service.turned == [(None, "cam2")]


@pytest.mark.slow
def test_a_stream_that_vanishes_does_not_make_its_knobs_those_of_all(
    own: LiveController, service: MadeUpService
) -> None:
    own.turn_of(Scope(stream="cam1"))
    at = opened(own)
    del service.groups["cam1"]
    assert scope_menu(ran(at)).value == own.scope == Scope(stream="cam2")
    service.groups.clear()
    assert "no streams yet" in ran(at).info[0].value and own.scope == Scope(stream="cam2")


@pytest.mark.slow
def test_a_knob_that_is_held_while_its_stream_vanishes_turns_no_other(
    own: LiveController, service: MadeUpService
) -> None:
    own.turn_of(Scope(stream="cam1"))
    held = {"epoch": own.state.epoch, "seq": 1, "zeta": 0.3, "omega_n": 1.0, "released": False}
    del service.groups["cam1"]
    own.refresh()
    own.update({"controls": held}, 1)
    assert not service.turned


@pytest.mark.slow
def test_a_group_that_vanishes_stays_the_scope(own: LiveController, service: MadeUpService) -> None:
    own.turn_of(Scope(group="hall"))
    at = opened(own)
    del service.groups["cam2"]
    assert scope_menu(ran(at)).value == own.scope == Scope(group="hall")


@pytest.mark.slow
def test_the_chosen_streams_own_numbers_are_shown_at_once(own: LiveController) -> None:
    at = opened(own)
    choose_stream(at, "cam2")
    assert (own.watched.chosen, own.watched.detail["name"]) == ("cam2", "answer of cam2")
    assert at.selectbox(key="live_stream").value == "cam2"


@pytest.mark.slow
def test_the_menu_is_given_its_stream_only_when_that_is_another(own: LiveController, service: MadeUpService) -> None:
    """Given it every second, the browser would put back what a visitor is just choosing."""
    at = opened(own)
    assert not ran(at).selectbox(key="live_stream").proto.set_value
    del service.groups["cam1"]
    assert ran(at).selectbox(key="live_stream").proto.set_value


@pytest.mark.slow
def test_a_lost_service_shows_nothing_under_another_streams_name(own: LiveController, service: MadeUpService) -> None:
    at = opened(own)
    service.down = True
    choose_stream(at, "cam2")
    choose_stream(at, "cam2")
    assert own.watched.lost and own.watched.chosen == "cam2"
    assert not own.watched.detail and not live_display.figures(own.watched)
    numbers = {card["now"] for card in live_display.cards(own.watched.detail)}
    assert numbers == {"–"}


def test_a_service_that_is_lost_is_not_asked_to_turn(own: LiveController, service: MadeUpService) -> None:
    """Each turn waited for three seconds, although the page said that nobody answers."""
    service.down = True
    own.refresh()
    turn(own)
    assert own.problem == "Not turned: does not answer." and not service.turned
    service.down = False
    own.refresh()
    turn(own)
    assert not own.problem and service.turned == [(None, None)]


@pytest.mark.slow
def test_the_address_keeps_the_consoles_setting(own: LiveController) -> None:
    at = opened(own, z="0.5", w="1.5")
    assert at.session_state["console_state"].settings.zeta == 0.5
    assert at.query_params["z"] in ("0.5", ["0.5"])
    alone = AppTest.from_file(str(PAGE), default_timeout=60)  # without a service
    alone.query_params["z"] = "0.5"
    assert ran(alone).session_state["console_state"].settings.zeta == 0.5


@pytest.mark.slow
def test_what_a_link_cannot_mean_can_be_closed() -> None:
    at = AppTest.from_file(str(PAGE), default_timeout=60)
    at.query_params["z"] = "nonsense"
    ran(at)
    assert len(at.warning) == 1
    at.button(key="close_notes").click().run()
    assert not at.exception and not at.warning and not [b for b in at.button if b.key == "close_notes"]


def test_streams_that_there_is_no_room_for_are_counted(own: LiveController, service: MadeUpService) -> None:
    service.groups = {f"cam{k:05d}": "yard" for k in range(MOST_STREAMS + 1234)}
    at = opened(own)
    assert len(at.selectbox(key="live_stream").options) == MOST_STREAMS
    assert f"{MOST_STREAMS + 1234:,} streams" in at.markdown[0].value
    words = " ".join(str(element.proto) for element in at.get("html"))
    assert "There is room for 2,000: 1,234 other streams are not listed" in words
