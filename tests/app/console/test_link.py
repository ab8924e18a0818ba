"""The link: a round trip is exact, and a hostile one is held, named and harmless."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.console import link
from app.console.console_state import View
from app.console.panels import PANELS
from app.console.pins import MOST, Pins
from app.console.stream_choice import CORRUPTION_NAMES, MAX_LINK_LIST, StreamChoice
from app.figures.bode_plot import UNITS
from app.widgets.knobs import OMEGA_N, ZETA
from knob_core.goals import Goals
from knob_core.methods import METHODS
from knob_core.schedules import SCHEDULES
from knob_core.settings import MODES, Settings

HOME = StreamChoice()
tidy = st.integers(50, 3000).map(lambda n: float(f"{n / 1000:.3g}"))
settings = st.builds(
    Settings,
    zeta=tidy,
    omega_n=tidy,
    on=st.booleans(),
    memory=st.booleans(),
    mode=st.sampled_from(MODES),
    frame_rate=st.sampled_from([0.5, 10.0, 29.97, 240.0]),
    temperature=st.sampled_from([1.0, 0.532, 2.5]),
    goals=st.builds(
        Goals, excess_flips=st.sampled_from([None, 1.0]), delay=st.sampled_from([None, 0.5, 3.0]),
        accuracy=st.sampled_from([None, 0.955]),
    ),
)  # fmt: skip
choices = st.builds(
    StreamChoice,
    method=st.sampled_from(list(METHODS)),
    model=st.integers(0, 2),
    image=st.integers(0, 999),
    corruption=st.sampled_from(CORRUPTION_NAMES),
    schedule=st.sampled_from(list(SCHEDULES)),
    frames=st.integers(40, 1000),
    realisations=st.integers(1, 32),
    seed=st.integers(0, 9999),
)
contents = st.sampled_from(["fixed", "slow", "mixed", "fast", "listed"])


@given(settings, st.sampled_from(list(PANELS)), st.sampled_from(UNITS), choices, contents, contents)
def test_round_trip(
    setting: Settings, panel: str, unit: str, choice: StreamChoice, content: str, home_content: str
) -> None:
    choice, home = choice.with_content(content, "cat 3, 17"), HOME.with_content(home_content, "ship")
    query = dict(parse_qsl(urlencode(link.write(setting, View(panel, unit), choice, home))))
    back = link.read(query, home)
    assert (back.settings, back.view, back.choice, back.problems) == (setting, View(panel, unit), choice, ())


def test_schedule_parameters_travel() -> None:
    choice = StreamChoice(schedule="step").with_parameters({"low": 0.5, "high": 4.0, "on": 0.25})
    assert choice.parameters == (("high", 4.0), ("low", 0.5))  # what is at its default is left out
    assert link.read(link.write(Settings(), View(), choice, HOME), HOME).choice == choice
    drawn = StreamChoice(schedule="listed").with_parameters({"values": "0 1 2.5 5"})
    assert link.read(link.write(Settings(), View(), drawn, HOME), HOME).choice == drawn


def drawn(severities: list[float]) -> StreamChoice:
    text = " ".join(f"{value:g}" for value in severities)
    return StreamChoice(schedule="listed", frames=max(40, len(severities))).with_parameters({"values": text})


@pytest.mark.parametrize("frames", [60, 480, 3000])
def test_a_long_drawing_travels_as_runs(frames: int) -> None:
    choice = drawn([0.88 + (i * 60 // frames) / 100 for i in range(frames)])
    query = link.write(Settings(), View(), choice, HOME)
    assert link.fits(choice) and len(query["s.values"]) <= MAX_LINK_LIST
    back = link.read(dict(parse_qsl(urlencode(query))), HOME)
    assert back.choice == choice and back.problems == ()


def test_a_list_that_is_too_long_even_so_is_left_out_as_a_whole_and_the_reader_is_told() -> None:
    choice = drawn([i / 80 for i in range(400)])
    query = link.write(Settings(), View(), choice, HOME)
    assert not link.fits(choice) and not {"schedule", "s.values"} & set(query)
    back = link.read(query, HOME)
    assert back.choice == StreamChoice(frames=400)
    assert back.problems == ("the list of severities was too long for the link; the schedule step is shown instead",)


@pytest.mark.parametrize("runs", ["1x3001", "1x2000 2x1001", "1x0", "1x-4", "1x", "x", "x8", "1x2x3", "1xx2", "nanx8"])
def test_runs_from_anybody_are_held(runs: str) -> None:
    back = link.read({"schedule": "listed", "s.values": runs}, HOME)
    assert back.choice == StreamChoice(schedule="listed") and len(back.problems) == 1


@pytest.mark.parametrize(
    ("query", "settings", "says"),
    [
        ({"z": "1e308"}, {"zeta": ZETA[1]}, "outside [0.05, 3]"),
        ({"z": "-inf"}, {"zeta": ZETA[0]}, "outside"),
        ({"z": "nan"}, {}, "not a number"),
        ({"w": "<script>alert(1)</script>"}, {}, "'<script>alert(1)</script…' in the link is not a number"),
        ({"w": "0"}, {"omega_n": OMEGA_N[0]}, "outside"),
        ({"mode": "../../etc/passwd"}, {}, "unknown; continuous is used"),
        ({"memory": "yes"}, {}, "memory = 'yes'"),
        ({"fps": "1e9"}, {"frame_rate": 1000.0}, "outside"),
        ({"panel": "x" * 10_000}, {}, "unknown; step is used"),
        ({"image": "100000"}, {}, "image = '100000'"),
        ({"image": "9" * 5000}, {}, "image = "),
        ({"frames": "2.5"}, {}, "frames = '2.5'"),
        ({"corruption": "shot_noise; rm"}, {}, "cannot be used; shot_noise is used"),
        ({"schedule": "__class__"}, {}, "cannot be used"),
        ({"s.low": "9"}, {}, "s.low = '9'"),
        ({"schedule": "listed", "s.values": "1 nan 3"}, {}, "s.values"),
        ({"schedule": "random_walk", "s.seed": "1e3"}, {}, "s.seed"),
    ],
)
def test_hostile_links_are_held_and_named(query: dict[str, str], settings: dict[str, float], says: str) -> None:
    back = link.read(query, HOME)
    assert len(back.problems) == 1 and says in back.problems[0]
    assert len(back.problems[0]) < 300
    assert back.settings == Settings(**settings)  # type: ignore[arg-type]


@given(
    st.dictionaries(
        st.sampled_from(["z", "w", "on", "mode", "image", "frames", "seed", "schedule", "s.low", "x"]),
        st.text(max_size=20),
    )
)
def test_any_link_gives_a_setting(query: dict[str, str]) -> None:
    back = link.read(query, HOME)
    assert ZETA[0] <= back.settings.zeta <= ZETA[1]
    SCHEDULES[back.choice.schedule](back.choice.frames, **dict(back.choice.parameters))


def test_the_menu_of_corruptions_is_knob_core_s() -> None:
    from knob_core.corruptions import NAMES

    assert set(CORRUPTION_NAMES) == set(NAMES) and len(CORRUPTION_NAMES) == 19


def test_a_link_of_the_time_before_scenes_changed_shows_its_picture() -> None:
    home = HOME.with_content("mixed")
    assert link.read({"image": "7"}, home).choice == StreamChoice(image=7)
    assert link.read({"image": "7", "content": "mixed"}, home).choice == home


@pytest.mark.parametrize(
    ("query", "says"),
    [({"content": "listed"}, "content"), ({"content": "x"}, "content"), ({"g.delay": "soon"}, "no goal is set"),
     ({"g.accuracy": "7"}, "outside [0, 1]"), ({"content": "listed", "scenes": "whale"}, "content")],
)  # fmt: skip
def test_a_hostile_content_or_goal_is_named(query: dict[str, str], says: str) -> None:
    found = link.read(query, HOME)
    assert says in " ".join(found.problems) and found.choice == HOME


def test_pins_travel_with_their_names_and_order() -> None:
    pins = Pins().press(Settings(zeta=2.0)).press(Settings(on=False)).press(Settings(mode="reset", temperature=1.5))
    pins = pins.rename("B", "night, =1: 2").draw("A")
    query = link.write(Settings(), View("compare", sort="-delay"), HOME, HOME, pins)
    found = link.read(dict(parse_qsl(urlencode(query))), HOME)
    assert found.pins == pins and found.view.sort == "-delay" and not found.problems


def test_a_hostile_link_pins_what_can_be_used_and_names_the_rest() -> None:
    query = {"pin.A": "z:nan,w:99", "pin.now": "z:1", "pin.": "z:1", "drawn": "Q", "sort": "__class__"}
    found = link.read(query, HOME)
    assert [(pin.name, pin.settings.zeta, pin.settings.omega_n) for pin in found.pins] == [("A", 1.0, OMEGA_N[1])]
    assert found.pins.drawn == "" and found.view.sort == "" and len(found.problems) == 6
    many = link.read({f"pin.p{n}": "z:1,w:1" for n in range(100)}, HOME)
    assert len(many.pins) == MOST
