"""The console as Streamlit runs it: every control acts, every fault is named on the page, and the rest goes on."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import made_streams
import pytest
from file_links import file_links
from streamlit.testing.v1 import AppTest

from app.console.replay_turns import replay
from app.console.turn_log import read
from app.server.background_jobs import Jobs
from knob_core import library
from knob_core.goals import Goals
from knob_core.library import film_strips

ROOT = Path(__file__).resolve().parents[3]
CONTROLS = {
    "epoch": 0, "seq": 1, "zeta": 0.3, "omega_n": 1.5,
    "on": True, "memory": True, "mode": "continuous", "released": True,
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return made_streams.assets(tmp_path_factory.mktemp("made") / "assets", frames=120)


@pytest.fixture
def assets(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The app looks at made-up streams; what was cached of others is forgotten."""
    import streamlit as st

    from app.console import compute_stream, shipped_models

    monkeypatch.setattr(compute_stream, "JOBS", Jobs(lambda job: compute_stream.compute(job)))
    for module, name in ((library, "streams"), (library, "load_stream"), (film_strips, "load")):
        function = getattr(module, name)
        monkeypatch.setattr(module, name, lambda *a, _f=function, **k: _f(*a, **{**k, "root": folder}))
    monkeypatch.setattr(shipped_models, "FOLDER", folder / "checkpoints")
    st.cache_resource.clear()
    yield folder
    st.cache_resource.clear()


def opened(**query: str) -> AppTest:
    at = AppTest.from_file(str(ROOT / "app" / "main.py"), default_timeout=60)
    for name, value in query.items():
        at.query_params[name] = value
    at.run()
    assert not at.exception, at.exception
    return at


def turn(at: AppTest, **what: Any) -> AppTest:
    """Turn a knob, as the browser would tell it."""
    at.session_state["console"] = {
        "controls": {**CONTROLS, "epoch": at.session_state["console_state"].epoch, **what},
        "view": None,
    }
    at.run()
    assert not at.exception
    return at


def console(at: AppTest) -> Any:
    return at.session_state["console_state"]


def warnings(at: AppTest) -> str:
    """As they are read: without the signs that keep Markdown from obeying them."""
    return re.sub(r"\\(.)", r"\1", markdown(at))


def markdown(at: AppTest) -> str:
    return " | ".join(w.value for w in at.warning)


def test_it_opens_with_the_preferred_stream(assets: Path) -> None:
    at = opened()
    choice = at.session_state["choice"]
    assert (choice.method, choice.corruption, choice.schedule) == ("knob-ode", "shot_noise", "step")
    assert choice.content == "mixed" and at.session_state["shown"].cuts == [20, 40, 60, 80, 100]
    assert not at.warning and not at.error
    assert len(at.get("bidi_component")) >= 3  # console, images, sketch
    assert len(opened(content="fixed").get("bidi_component")) >= 4  # and the gallery


@pytest.mark.slow
def test_turning_the_knobs(assets: Path) -> None:
    at = turn(opened())
    assert (console(at).settings.zeta, console(at).settings.omega_n) == (0.3, 1.5)
    assert at.query_params["z"] == "0.3" and at.query_params["w"] == "1.5"
    turn(at, seq=2, zeta=1e99, omega_n="x")
    assert console(at).settings.zeta == 3.0 and console(at).settings.omega_n == 1.5


@pytest.mark.slow
def test_turns_are_recorded_when_asked_and_replay(assets: Path) -> None:
    at = turn(opened())
    assert console(at).log is None and "Turns (CSV)" not in file_links(at)
    (switch,) = [toggle for toggle in at.toggle if toggle.label == "Record my turns"]
    assert not switch.value
    switch.set_value(True).run()
    turn(at, seq=2, zeta=0.8, released=False)
    turn(at, seq=3, zeta=0.9, released=True)
    assert "Turns (CSV)" in file_links(at)
    log = console(at).log
    assert [(t.knob, t.settings.zeta) for t in log.turns] == [("start", 0.3), ("zeta", 0.8), ("zeta", 0.9)]
    stream = at.session_state["shown"]
    assert stream.source and not any(r.differing for r in replay(read(log.csv_text().encode()), lambda source: stream))
    next(toggle for toggle in at.toggle if toggle.label == "Record my turns").set_value(False).run()
    turn(at, seq=4, zeta=2.0)
    assert len(log.turns) == 3


def test_switches_pin_and_live(assets: Path) -> None:
    at = turn(opened(), memory="plain")
    assert console(at).settings.memory == "plain" and at.query_params["memory"] == "plain"
    turn(at, seq=2, mode="reset")
    assert console(at).settings.mode == "reset"
    turn(at, seq=3, on=False)
    assert not console(at).settings.on and at.query_params["on"] == "0"
    turn(at, seq=4, commands=[{"act": "pin"}])
    assert len(console(at).pins) == 1
    turn(at, seq=5, live=True, playing=True)
    turn(at, seq=6, live=True, playing=True, commands=[{"act": "frames", "count": 25}], speed=40)
    assert console(at).live.t == 25 and console(at).speed == 40
    turn(at, seq=7, live=True, playing=True, commands=[{"act": "frames", "count": 15}], zeta=2.0)
    assert console(at).live.t == 40 and console(at).live.spans(120) == [(25, 25)]
    turn(at, seq=8, live=False)
    assert console(at).live is None


@pytest.mark.slow
@pytest.mark.parametrize("panel", ["step", "bode", "poles", "spring"])
def test_every_panel_opens(assets: Path, panel: str) -> None:
    at = opened()
    at.session_state["console"] = {
        "controls": None,
        "view": {"panel": panel, "unit": "Hz", "frame_rate": 25, "epoch": 0},
    }
    at.run()
    assert not at.exception
    assert console(at).view.panel == panel and console(at).settings.frame_rate == 25
    turn(at)
    assert at.query_params["unit"] == "Hz"


@pytest.mark.slow
def test_corruption_schedule_and_model(assets: Path) -> None:
    at = opened(content="fixed")
    at.selectbox(key="menu_corruption_0").select("fog").run()
    at.selectbox(key="menu_schedule_0").select("sine").run()
    at.selectbox(key="menu_model_0").select(("ode-lite", 0)).run()
    choice = at.session_state["choice"]
    assert (choice.corruption, choice.schedule, choice.method) == ("fog", "sine", "ode-lite")
    assert not at.exception and not at.warning
    assert at.session_state["shown_choice"] == choice


@pytest.mark.slow
def test_a_menu_shows_what_was_chosen_elsewhere(assets: Path) -> None:
    at = opened(schedule="sine", content="fixed")
    assert at.selectbox(key="menu_schedule_0").value == "sine"
    at.session_state["sketch"] = {"drawn": [2.0] * 60}
    at.run()
    for _ in range(50):
        at.run()
        if at.warning:  # it cannot be computed here, so the choice goes back
            break
    (menu,) = [box for box in at.selectbox if box.label == "Schedule"]
    assert menu.value == at.session_state["choice"].schedule == "sine"


@pytest.mark.slow
def test_content_fixed_is_one_click_away_and_in_the_link(assets: Path) -> None:
    at = opened()
    probe = at.session_state["shown"].probe
    assert probe is not None and probe[0].u_star.shape == (6, 120)  # a fixed picture, for Step and Bode
    at.selectbox(key="menu_content_0").select("fixed").run()
    assert not at.exception and not at.warning
    assert at.session_state["shown"].cuts == [] and at.session_state["shown"].probe is None
    turn(at)
    assert at.query_params["content"] == "fixed"
    again = opened(**dict(at.query_params.items()))
    assert again.session_state["choice"] == at.session_state["choice"]
    at.selectbox(key="menu_content_0").select("mixed").run()
    assert at.session_state["choice"] == opened().session_state["choice"]


@pytest.mark.slow
def test_an_own_list_of_scenes_is_asked_for(assets: Path) -> None:
    at = opened()
    (text,) = [box for box in at.text_area if box.label == "Pictures and frames"]
    text.set_value("whale 3")
    (show,) = [b for b in at.button if b.label == "Show these"]
    show.click().run()
    assert "whale" in warnings(at) and at.session_state["choice"].content == "mixed"
    (text,) = [box for box in at.text_area if box.label == "Pictures and frames"]
    text.set_value("cat 30, ship 30")
    (show,) = [b for b in at.button if b.label == "Show these"]
    show.click().run()
    for _ in range(50):
        at.run()
        if at.warning:
            break
    assert "there is no checkpoint" in warnings(at)  # it was asked for, and cannot be had here


@pytest.mark.slow
def test_goals_travel_in_the_link_and_the_settings_file(assets: Path) -> None:
    from knob_core import settings as settings_file

    at = opened()
    view = {
        "panel": "step",
        "unit": "Hz",
        "frame_rate": 10,
        "epoch": 0,
        "seq": 1,
        "goals": {"delay": 3, "accuracy": 95},
    }
    at.session_state["console"] = {"controls": None, "view": view}
    at.run()
    assert not at.exception and console(at).settings.goals == Goals(delay=3.0, accuracy=0.95)
    again = opened(**dict(at.query_params.items()))
    assert console(again).settings.goals == console(at).settings.goals and not again.warning
    text = settings_file.to_toml(console(at).settings)
    upload(again, "settings_file", text.replace("delay = 3.0", "delay = 5.0").encode(), "knob.toml")
    assert console(again).settings.goals == Goals(delay=5.0, accuracy=0.95)


@pytest.mark.slow
def test_image(assets: Path) -> None:
    from knob_core import library

    at = opened(content="fixed")
    first = at.session_state["choice"].image
    other = next(image for image in library.streams()[0].images if image != first)
    at.session_state["gallery"] = {"picked": other}
    at.run()
    assert at.session_state["choice"].image == other != first
    assert at.session_state["shown"].image == library.streams()[0].images.index(other)
    assert "picked" not in at.session_state  # that is the calibration page's


@pytest.mark.slow
def test_a_stream_that_cannot_be_computed_is_named(assets: Path) -> None:
    """No checkpoint beside the made-up streams: the page says so and stays on what it showed."""
    at = opened()
    shown = at.session_state["shown_choice"]
    at.selectbox(key="menu_schedule_0").select("ramp").run()
    for _ in range(50):
        at.run()
        if at.warning:
            break
    assert "there is no checkpoint knob-ode-s0.safetensors" in warnings(at)
    assert at.session_state["choice"] == shown
    assert not at.exception
    turn(at)
    assert console(at).settings.zeta == 0.3


def assert_asked_for(at: AppTest) -> None:
    """A stream was asked for, and cannot be had here: there is no checkpoint."""
    for _ in range(50):
        at.run()
        if at.warning:
            break
    assert "checkpoint" in warnings(at)
    assert not at.exception


@pytest.mark.slow
def test_shape_form(assets: Path) -> None:
    at = opened()
    at.number_input(key="shape_step_high").set_value(3.0)
    (submit,) = [b for b in at.button if b.label == "Make this stream"]
    submit.click().run()
    assert_asked_for(at)


@pytest.mark.slow
def test_drawn_by_hand(assets: Path) -> None:
    at = opened()
    at.session_state["sketch"] = {"drawn": [2.0] * 30 + [4.0] * 30}
    at.run()
    for _ in range(50):
        at.run()
        if at.warning:
            break
    assert "checkpoint" in warnings(at) and not at.exception
    assert at.session_state["drawn"] == [2.0] * 30 + [4.0] * 30


def test_hostile_link(assets: Path) -> None:
    at = opened(z="1e999", w="nan", corruption="<b>", image="-1", panel="x", frames="0")
    said = warnings(at)
    for name in ("z = ", "w = ", "corruption = ", "image = ", "panel = ", "frames = "):
        assert name in said
    assert console(at).settings.zeta == 3.0 and console(at).settings.omega_n == 0.4
    assert at.session_state["choice"].corruption == "shot_noise"


def test_settings_travel_in_the_link(assets: Path) -> None:
    at = turn(opened(), zeta=1.25, omega_n=0.05, memory=False)
    again = opened(**dict(at.query_params.items()))
    assert console(again).settings == console(at).settings
    assert not again.warning


@pytest.mark.slow
def test_nothing_ships(assets: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:

    def missing(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError(f"{tmp_path}/manifest.json is missing; make it anew: python -m train.library")

    monkeypatch.setattr(library, "streams", missing)
    at = opened()
    assert "manifest.json is missing" in at.error[0].value
    assert at.selectbox(key="menu_corruption_0")  # the row is still there


@pytest.mark.slow
def test_a_damaged_stream_is_named(assets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from knob_core import library

    load = library.load_stream

    def damaged(key: Any, *a: Any, **k: Any) -> Any:
        if key.corruption == "fog":
            raise ValueError("streams/fog-step.npz is damaged")
        return load(key, *a, **k)

    monkeypatch.setattr(library, "load_stream", damaged)
    at = opened(content="fixed")
    at.selectbox(key="menu_corruption_0").select("fog").run()
    assert "fog-step.npz is damaged" in warnings(at)
    assert at.session_state["choice"].corruption == "shot_noise"
    turn(at)
    assert console(at).settings.zeta == 0.3


@pytest.mark.slow
def test_another_stream_opens_where_the_first_cannot_be_read(assets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from knob_core import library

    load = library.load_stream

    def missing(key: Any, *a: Any, **k: Any) -> Any:
        if (key.corruption, key.schedule) == ("shot_noise", "step"):
            raise FileNotFoundError("streams/shot_noise-step.npz is missing")
        return load(key, *a, **k)

    monkeypatch.setattr(library, "load_stream", missing)
    at = opened()
    assert "shot_noise-step.npz is missing" in warnings(at) and not at.error
    choice = at.session_state["choice"]
    assert (choice.corruption, choice.schedule) != ("shot_noise", "step")
    assert at.session_state["shown_choice"] == choice
    turn(at)
    assert console(at).settings.zeta == 0.3


@pytest.mark.slow
def test_no_stream_can_be_read(assets: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    def missing(*_: Any, **__: Any) -> Any:
        raise FileNotFoundError("it is missing")

    monkeypatch.setattr(library, "load_stream", missing)
    at = opened()
    assert "none of them can be read" in at.error[0].value and "it is missing" in warnings(at)
    assert at.selectbox(key="menu_corruption_0")


@pytest.mark.slow
def test_a_damaged_film_strip_costs_the_strip_only(assets: Path, monkeypatch: pytest.MonkeyPatch) -> None:

    def damaged(*_: Any, **__: Any) -> Any:
        raise ValueError("films/shot_noise-step.webp is damaged")

    monkeypatch.setattr(film_strips, "load", damaged)
    at = opened()
    assert "films/shot_noise-step.webp is damaged" in warnings(at) and not at.error
    assert at.session_state["shown"].background()["film"] is None
    turn(at)
    assert console(at).settings.zeta == 0.3


@pytest.mark.slow
def test_a_missing_sample_costs_the_gallery_only(assets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.console import stream_sources

    def missing() -> Any:
        raise FileNotFoundError("sample.json is missing")

    monkeypatch.setattr(stream_sources, "load_sample", missing)
    at = opened(content="fixed")
    assert "the sample cannot be read: sample.json is missing" in warnings(at)
    (button,) = [b for b in at.button if b.label == "Image"]
    assert button.disabled
    turn(at)
    assert console(at).settings.zeta == 0.3
    at.selectbox(key="menu_corruption_0").select("fog").run()
    assert at.session_state["shown_choice"].corruption == "fog"


def upload(at: AppTest, key: str, content: bytes, name: str) -> AppTest:
    at.file_uploader(key=key).set_value((name, content, "text/plain")).run()
    assert not at.exception
    return at


@pytest.mark.slow
@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"1\nnan\n3\n", "line 2: 'nan' is not a severity"),
        (b"", "empty"),
        (b"\x00\x01\xff" * 9, "not UTF-8"),
        (b"1\n" * 3001, "at most 3000 frames"),
        (b"1\n" * 200_000, "more than"),
        (b"1\n9\n", "line 2"),
        (b"a,b\n1,2\n", "none is headed 'severity'"),
    ],
    ids=["nan", "empty", "binary", "long", "huge", "range", "columns"],
)
def test_bad_severities_are_named(assets: Path, content: bytes, says: str) -> None:
    at = opened()
    before = at.session_state["choice"]
    upload(at, "severities", content, "mine.csv")
    assert says in warnings(at)
    assert at.session_state["choice"] == at.session_state["shown_choice"] == before


@pytest.mark.slow
def test_uploaded_severities_are_asked_for(assets: Path) -> None:
    at = upload(opened(), "severities", b"severity\n1\n4.5\n", "mine.csv")
    assert_asked_for(at)


@pytest.mark.slow
def test_the_settings_file_goes_out_and_comes_back(assets: Path) -> None:
    from app.widgets.knobs import OMEGA_N, ZETA
    from knob_core import settings as settings_file
    from knob_core.settings import Settings

    at = opened()
    labels = file_links(at)
    assert labels == ["Settings file", "Data (CSV)", "Compared settings (CSV)", "Figures (HTML)"]
    wanted = Settings(zeta=2.0, omega_n=0.05, memory=False)
    upload(at, "settings_file", settings_file.to_toml(wanted).encode(), "knob.toml")
    assert console(at).settings == wanted and console(at).epoch == 1 and not at.warning
    upload(at, "settings_file", b"zeta = 'much'", "knob.toml")
    said = warnings(at)
    assert "knob.toml cannot be used" in said and "it lacks" in said and "version" in said  # the file, and what to do
    assert console(at).settings == wanted
    upload(at, "settings_file", settings_file.to_toml(Settings(zeta=0.0, omega_n=100.0)).encode(), "wide.toml")
    assert (console(at).settings.zeta, console(at).settings.omega_n) == (ZETA[0], OMEGA_N[1])
    assert "zeta = 0 is outside this console's" in warnings(at) and "omega_n = 100 is outside" in warnings(at)


@pytest.mark.slow
def test_a_link_cannot_put_a_picture_on_the_page(assets: Path) -> None:
    at = opened(z="![a](http://b.cd/e)", mode="<b>$x$")
    shown = markdown(at).replace("\u2060", "")  # joins words without a sign, so that no address becomes a link
    assert r"\!\[a\](http\://b.cd/e)" in shown and r"\<b\>\$x\$" in shown


@pytest.mark.slow
def test_cancel(assets: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stream on its way has a bar and a way out, and the display stays on what it showed."""
    import threading

    from app.console import compute_stream
    from app.server.background_jobs import Cancelled, Job

    def slow(job: Job) -> compute_stream.ComputedStream:
        job.progress = 0.25
        assert job.stop.wait(60), "nobody cancelled"
        gone.set()
        raise Cancelled

    gone = threading.Event()
    monkeypatch.setattr(compute_stream, "compute", slow)
    at = opened()
    shown = at.session_state["shown_choice"]
    at.selectbox(key="menu_schedule_0").select("ramp").run()
    assert at.session_state["choice"].schedule == "ramp" and at.session_state["shown_choice"] == shown
    at.button(key="cancel").click().run()
    assert gone.wait(60)
    for _ in range(50):
        at.run()
        if at.session_state["choice"] == shown:
            break
    assert at.session_state["choice"] == at.session_state["shown_choice"] == shown
    assert not [b for b in at.button if b.label == "Cancel"]


@pytest.mark.slow
def test_every_control_has_a_sentence_of_help(assets: Path) -> None:
    at = opened()
    for element in [
        *at.selectbox, *at.number_input, *at.text_area, *at.button, *at.file_uploader,
    ]:  # fmt: skip
        assert element.help, element.label
    from app.console.panels import PANELS
    from app.widgets.knobs import HELP, KNOBS, presets

    assert all(HELP.values()) and all(knob["help"] for knob in KNOBS) and all(p["help"] for p in presets((1, 1)))
    assert all(help for _, help in PANELS.values())


VISIT = (
    "from streamlit.testing.v1 import AppTest; at = AppTest.from_file('app/main.py', default_timeout=60).run();"
    "assert not at.exception, at.exception; assert len(at.get('bidi_component')) >= 3;"
)
SERVER = "sys.path.insert(0, 'app'); import main; assert main.app;"


@pytest.mark.slow
@pytest.mark.parametrize("what", [VISIT, SERVER], ids=["visit", "server"])
def test_torch_is_not_imported(folder: Path, what: str) -> None:
    """The whole page, and the server's half of the front door, each in a process of its own: torch stays away."""
    code = f"import sys; {what} sys.exit('torch' in sys.modules)"
    environment = {**os.environ, "KNOB_ASSETS": str(folder)}
    assert subprocess.run([sys.executable, "-c", code], cwd=ROOT, env=environment, check=False).returncode == 0
