"""Calibration: what the page says equals knob_core on the shipped predictions; filters, picks and faults are told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import made_cells
import made_results
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest

from app.calibration import cell_measures, comparison, example_pictures, predictions
from app.calibration.calibration_controller import CalibrationController
from app.calibration.cell_measures import BeforeAndNow
from app.calibration.cell_selection import SEVERITIES, Selection, from_link, of_model, to_link
from app.calibration.predictions import ShownPredictions
from app.console.console_state import ConsoleState
from app.console.stream_choice import CORRUPTION_NAMES, StreamChoice
from app.figures.calibration_figures import TINT, ceiling, ladder
from app.figures.packed import unpack
from app.results import result_files
from knob_core import fusion, gate, library, metrics
from knob_core.assets import ASSETS
from knob_core.methods import METHODS
from knob_core.palette import PALETTES
from knob_core.settings import Settings

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = made_cells.assets(tmp_path_factory.mktemp("made") / "assets", samples=100)
    made_results.write(root / "results")
    return root


@pytest.fixture(autouse=True)
def made(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictions, "ROOT", folder)
    monkeypatch.setattr(result_files, "FOLDER", folder / "results")


def truth(folder: Path, chosen: Selection, s: Settings) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities (M, K) and labels (M,) the slow way, in double precision."""
    found = library.load_cells(chosen.method, chosen.seed, folder)
    keep = [i for i, (c, v) in enumerate(found.cells) if c in chosen.corruptions and v in chosen.severities]
    gain = float(gate.reset_gain(s.zeta, s.omega_n)) / (found.reset_reference or 1.0) if s.on else 1.0
    g = gate.sigmoid(found.u_star[keep].astype(np.float64) * gain)
    z = fusion.fuse(found.z_static[keep].astype(np.float64), found.z_dyn[keep].astype(np.float64), g)
    return metrics.softmax(z.reshape(-1, z.shape[-1]) / s.temperature), np.tile(found.labels, len(keep))


def message(chosen: Selection, s: Settings, numbers: BeforeAndNow | None = None, turn: int = 0) -> dict[str, Any]:
    shown = predictions.load(chosen)
    controller = CalibrationController(ConsoleState(settings=s, turn=turn), numbers or BeforeAndNow())
    controller.show(chosen, shown, comparison.alternatives(chosen, shown), "", 0)
    return controller.update({}, 1)["sheet"]


def card(said: dict[str, Any], id: str) -> str:
    return next(card["now"] for card in said["cards"] if card["id"] == id)


def figure(said: dict[str, Any], id: str) -> dict[str, Any]:
    return next(figure for figure in said["figures"] if figure["id"] == id)


@pytest.mark.parametrize(
    "chosen", [Selection(), Selection(corruptions=("fog", "snow"), severities=(2, 5))], ids=["all", "some"]
)
@pytest.mark.parametrize(
    "s",
    [Settings(), Settings(zeta=0.2, omega_n=2.5), Settings(on=False), Settings(temperature=1.7)],
    ids=["home", "alert", "off", "temperature"],
)
def test_the_numbers_are_knob_cores(folder: Path, chosen: Selection, s: Settings) -> None:
    said = message(chosen, s)
    p, y = truth(folder, chosen, s)
    assert card(said, "ece_deb") == f"{metrics.ece_debiased(p, y):.3f}"
    assert card(said, "accuracy") == f"{100 * metrics.accuracy(p, y):.1f} %"
    assert card(said, "nll") == f"{metrics.nll(p, y):.3f} nats"
    assert card(said, "brier") == f"{metrics.brier(p, y):.3f}"
    table = metrics.reliability_table(p, y)
    drawn = next(t for t in figure(said, "reliability")["figure"]["data"] if t.get("name") == "all")
    np.testing.assert_allclose(unpack(drawn["x"]), table.confidence, atol=2e-4)
    np.testing.assert_allclose(unpack(drawn["y"]), table.accuracy, atol=2e-2)
    words = f"says {100 * p.max(-1).mean():.1f} %, and is right in {100 * metrics.accuracy(p, y):.1f} %"
    assert words in figure(said, "histogram")["note"]
    counted = [unpack(t["y"]).sum() for t in figure(said, "histogram")["figure"]["data"] if t["type"] == "bar"]
    assert counted[0] == len(y) and counted[1] == round(metrics.accuracy(p, y) * len(y))


def test_the_page_says_that_the_consoles_temperature_acts() -> None:
    controller = CalibrationController(ConsoleState(settings=Settings(temperature=1.7)))
    assert "the console's temperature, 1.7" in controller.words()
    assert "temperature" not in CalibrationController(ConsoleState()).words()


def test_a_model_is_called_by_its_name() -> None:
    first_order = next(key for key, method in METHODS.items() if method.gate.gated and not method.gate.inertia)
    controller = CalibrationController(ConsoleState(), selection=Selection(first_order))
    assert controller.words().startswith(f"{METHODS[first_order].name} has a gate without inertia")


def test_every_cell_of_the_heat_maps(folder: Path) -> None:
    chosen, s = Selection(corruptions=("fog", "shot_noise"), severities=(1, 4)), Settings(omega_n=1.5)
    said = message(chosen, s)
    p, y = truth(folder, Selection(severities=(1, 4)), s)
    names = [(c, v) for c in CORRUPTION_NAMES for v in (1, 4)]
    for id, measure, digits, scale in (("ece", metrics.ece_debiased, 2, 1), ("accuracy", metrics.accuracy, 0, 100)):
        spec = figure(said, id)
        grid = spec["grid"]
        assert (grid["ids"], grid["columns"]) == (["shot_noise", "fog"], [1, 4])
        tints = np.concatenate([unpack(row) for row in reversed(spec["figure"]["data"][0]["z"])])
        assert tints.max() <= TINT and list(np.argsort(tints)) == list(np.argsort([float(t) for t in grid["text"]]))
        for i, text in enumerate(grid["text"]):
            place = names.index((grid["ids"][i // 2], grid["columns"][i % 2]))
            part = slice(100 * place, 100 * (place + 1))
            wanted = max(0.0, scale * measure(p[part], y[part]))
            assert float(text) == pytest.approx(wanted, abs=0.51 * 10.0**-digits)


def test_before_is_what_stood_before_this_turn() -> None:
    numbers = BeforeAndNow()
    first = message(Selection(), Settings(), numbers, turn=0)
    assert dict(first["cards"][0]["rest"])["previous setting"] == card(first, "ece_deb")
    second = message(Selection(), Settings(omega_n=3.0), numbers, turn=1)
    third = message(Selection(), Settings(omega_n=2.0), numbers, turn=1)  # the same turn goes on
    for later in (second, third):
        assert dict(later["cards"][0]["rest"])["previous setting"] == card(first, "ece_deb")
    fourth = message(Selection(), Settings(omega_n=1.0), numbers, turn=2)
    assert dict(fourth["cards"][0]["rest"])["previous setting"] == card(third, "ece_deb")
    other = message(Selection(severities=(5,)), Settings(omega_n=1.0), numbers, turn=2)  # another selection begins anew
    assert dict(other["cards"][0]["rest"])["previous setting"] == card(other, "ece_deb")


def test_what_could_be_used_instead(folder: Path) -> None:
    chosen = Selection(severities=(3,))
    looked = predictions.load(chosen)
    rows = comparison.alternatives(chosen, looked).rows
    p, y = truth(folder, chosen, Settings(on=False))
    assert rows["without Knob"][1].ece_deb == pytest.approx(metrics.ece_debiased(p, y), abs=1e-5)
    found = library.load_cells("knob-ode", 0, folder)
    keep = [i for i, (_, v) in enumerate(found.cells) if v == 3]
    for name, z in (("static branch alone", found.z_static), ("dynamic branch alone", found.z_dyn)):
        wanted = metrics.softmax(z[keep].reshape(-1, 10).astype(np.float64))
        assert rows[name][1].nll == pytest.approx(metrics.nll(wanted, y), abs=1e-5)
    t = result_files.temperatures()["static", 0, "fused", "clean"]
    plain = library.load_cells("static", 0, folder).z_static[keep].reshape(-1, 10).astype(np.float64)
    scaled = rows[f"Static model + temperature {t:.2f} (clean)"][1]
    assert scaled.ece_deb == pytest.approx(metrics.ece_debiased(metrics.softmax(plain / t), y), abs=1e-5)


def test_without_temperatures_the_rest_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(result_files, "FOLDER", tmp_path)
    fixed = comparison.alternatives(Selection(), predictions.load(Selection()))
    assert "train.evaluate" in fixed.lacking
    assert list(fixed.rows) == ["without Knob", "static branch alone", "dynamic branch alone", "Static model"]


def test_figures_have_words_and_known_colours() -> None:
    numbers = BeforeAndNow()
    message(Selection(), Settings(), numbers)
    said = message(Selection(), Settings(omega_n=3), numbers, turn=1)
    ids = [figure["id"] for figure in said["figures"]]
    assert ids == ["reliability", "histogram", "gaps", "t_eff", "csr", "ece", "accuracy"]
    for spec in said["figures"]:
        assert spec["title"] and len(spec["alt"]) > 20 and spec["note"]
        for trace in spec["figure"]["data"]:
            named = (
                trace.get("line", {}).get("color") or trace.get("marker", {}).get("color") or trace["colorscale"][1][1]
            )
            for color in named if isinstance(named, list) else [named]:
                assert color.split("/")[0] in PALETTES["dark"]


def test_effective_temperature_by_severity(folder: Path) -> None:
    said = message(Selection(), Settings(omega_n=2))
    found = library.load_cells("knob-ode", 0, folder)
    g = gate.sigmoid(found.u_star.astype(np.float64) * gate.reset_gain(1.0, 2.0))
    t_eff = fusion.effective_temperature(found.z_static.astype(np.float64), found.z_dyn.astype(np.float64), g)
    severity = np.array([v for _, v in found.cells])
    drawn = next(t for t in figure(said, "t_eff")["figure"]["data"] if t.get("name") == "all")
    wanted = [np.median(t_eff[severity == v]) for v in SEVERITIES]
    np.testing.assert_allclose(1 + unpack(drawn["y"]), wanted, rtol=1e-3)


def test_subsets_have_their_counts_and_their_own_error(folder: Path) -> None:
    said = message(Selection(), Settings(omega_n=2))
    found = library.load_cells("knob-ode", 0, folder)
    p, y = truth(folder, Selection(), Settings(omega_n=2))
    agree = fusion.agreement(*(z.reshape(-1, 10) for z in (found.z_static, found.z_dyn)))
    spec = figure(said, "reliability")
    legend = [words for _, _, words in spec["legend"]]
    masks = {"all": np.ones_like(agree), "agree": agree, "disagree": ~agree}
    for words, mask in masks.items():
        assert f"{words} ({mask.sum():,})" in legend
        assert f"{words} {metrics.ece_debiased(p[mask], y[mask]):.3f}" in spec["note"]
        drawn = next(t for t in spec["figure"]["data"] if t.get("name") == words)
        np.testing.assert_allclose(
            unpack(drawn["x"]), metrics.reliability_table(p[mask], y[mask]).confidence, atol=2e-3
        )


def test_bins_add_up_to_the_error(folder: Path) -> None:
    said = message(Selection(), Settings())
    table = metrics.reliability_table(*truth(folder, Selection(), Settings()))
    spec = figure(said, "gaps")
    bars = unpack(spec["figure"]["data"][0]["y"])
    np.testing.assert_allclose(bars, table.gap, atol=2e-2)
    added = [float(target["label"].split(" adds ")[1].split(" ")[0]) for target in spec["targets"]]
    assert sum(added) == pytest.approx(table.ece(), abs=1e-3)
    assert f"({table.ece():.3f} before" in spec["note"] and f"Bin {1 + int(np.argmax(added))} adds most" in spec["note"]
    low, high = spec["figure"]["layout"]["yaxis"]["range"]
    assert low <= bars.min() and bars.max() <= high  # nothing is cut off


@pytest.mark.parametrize("omega_n", [0.02, 0.4, 3.0])
def test_nothing_is_cut_off_and_axes_do_not_tremble(omega_n: float) -> None:
    said = message(Selection(), Settings(omega_n=omega_n))
    for spec in said["figures"]:
        low, high = spec["figure"]["layout"]["yaxis"]["range"]
        for trace in spec["figure"]["data"]:
            y = unpack(trace["y"]) if "y" in trace else np.array([])
            if spec["figure"]["layout"]["yaxis"].get("type") == "log":
                y = np.log10(y)
            assert not len(y) or (low - 1e-6 <= np.nanmin(y) and np.nanmax(y) <= high + 1e-6), spec["id"]
    assert [ceiling(v) for v in (0, 40, 41, 31_000, 42_000, 95_000)] == [40, 40, 60, 40_000, 60_000, 120_000]
    assert (ladder(0.05, (0.1, 0.2)), ladder(0.15, (0.1, 0.2)), ladder(7, (0.1, 0.2))) == (0.1, 0.2, 0.2)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80) | st.from_regex(r"knob-ode~\d{1,3}~[a-z_.]{0,30}~[0-9]{0,6}", fullmatch=True))
def test_hostile_links_give_home_or_a_whole_selection(text: str) -> None:
    found, problems = from_link(text)
    assert isinstance(found, Selection)
    assert found == Selection() or not problems


@pytest.mark.parametrize(
    "chosen",
    [
        Selection(),
        Selection("ode-lite", 2),
        Selection(corruptions=("fog", "snow"), severities=(1, 3)),
        Selection(seed=7),
    ],
)
def test_a_selection_survives_the_link(chosen: Selection) -> None:
    ordered = tuple(name for name in CORRUPTION_NAMES if name in chosen.corruptions)
    back, problems = from_link(to_link(chosen))
    assert (back.method, back.seed, back.corruptions, back.severities) == (
        chosen.method, chosen.seed, ordered, chosen.severities,
    )  # fmt: skip
    assert not problems


def test_home_is_the_console_s_model() -> None:
    """A link leaves it out, and names another; a model without a gate cannot be looked at here."""
    home = of_model("ode-lite", 2)
    assert home == Selection("ode-lite", 2) and to_link(home, home) == "" and from_link("", home) == (home, [])
    assert from_link(to_link(Selection(), home), home)[0] == Selection()
    assert of_model("static", 1) == Selection()


def test_the_page_takes_the_console_s_model_until_another_is_chosen_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(predictions, "ROOT", made_cells.assets(tmp_path / "two", seeds=(0, 1), samples=40))

    def said(at: AppTest) -> str:
        assert not at.exception
        return " ".join(caption.value for caption in at.caption)

    at = page().run()
    assert "So is the model" in said(at)
    assert "The model is not: the console shows Knob-ODE, seed 0" in said(
        at.selectbox(key="cells_model").select(("knob-ode", 1)).run()
    )
    at.session_state["choice"] = StreamChoice(model=1)  # chosen on the console
    assert "So is the model" in said(at.run())
    at.session_state["choice"] = StreamChoice(model=0)
    assert "So is the model" in said(at.run()) and at.selectbox(key="cells_model").value == ("knob-ode", 0)


@pytest.mark.parametrize("wrong", [{"method": "static"}, {"corruptions": ()}, {"severities": (0,)}])
def test_impossible_selections_are_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Selection(**wrong)


def picked(pick: str, chosen: Selection) -> tuple[ShownPredictions, np.ndarray, list[example_pictures.Picture]]:
    looked = predictions.load(chosen)
    g = cell_measures.gate_of(Settings(), looked, chosen.method)
    now = cell_measures.measure(looked, g)
    inside, _ = example_pictures.members(pick, looked, now.fused.confidence, now.tables["all"].edges)
    return (
        looked,
        inside,
        example_pictures.choose(inside, looked, now.fused, example_pictures.predicted_classes(looked, g)),
    )


def test_the_pictures_of_a_bin_are_the_bins() -> None:
    chosen = Selection()
    looked = predictions.load(chosen)
    now = cell_measures.measure(looked, cell_measures.gate_of(Settings(), looked, chosen.method))
    table = now.tables["all"]
    seen = np.zeros(len(looked.predictions), int)
    for b in range(len(table.counts)):
        inside, _ = example_pictures.members(f"reliability/b{b}", looked, now.fused.confidence, table.edges)
        assert inside.sum() == table.counts[b]
        seen += inside
    assert (seen == 1).all()  # every prediction is in one bin


def test_the_pictures_of_a_cell_are_the_cells_and_wrong_ones_come_first() -> None:
    looked, inside, shown = picked("ece/fog.5", Selection())
    assert inside.sum() == looked.samples
    place = looked.cells.index(("fog", 5))
    assert shown and all(picture.cell == place for picture in shown)
    wrong = [picture.confidence for picture in shown if not picture.right]
    assert wrong == sorted(wrong, reverse=True)
    assert [picture.right for picture in shown] == sorted(picture.right for picture in shown)
    labels = library.load_cells("knob-ode", 0, predictions.ROOT).labels
    assert all(picture.truth == labels[picture.sample] for picture in shown)


@pytest.mark.parametrize("pick", ["", "x", "reliability/b99", "reliability/b-1", "ece/fog", "ece/fog.9", "gaps/<b>"])
def test_hostile_picks_are_refused(pick: str) -> None:
    with pytest.raises(ValueError, match="no bin and no cell"):
        picked(pick, Selection())


def test_pictures_are_shown_with_words() -> None:
    looked, _, shown = picked("accuracy/frost.2", Selection())
    asked = []

    def render(corruption: str, severity: int, seed: int, chunk: int) -> np.ndarray:
        asked.append((corruption, severity, chunk))
        return np.zeros((250, 32, 32, 3), np.uint8)

    block = example_pictures.html(shown, looked, render)
    assert set(asked) == {("frost", 2, 0)}
    assert block.count("<img") == len(shown) == block.count('alt="')
    assert block.count("✕") == sum(not picture.right for picture in shown)


def test_the_pixels_are_those_the_models_saw() -> None:
    from knob_core.data import cifar10c, load_sample

    whole = cifar10c.make(load_sample()[0], "gaussian_noise", 2, 0)
    np.testing.assert_array_equal(
        predictions.corrupted_images("gaussian_noise", 2, 0, 1), whole[250:500].transpose(0, 2, 3, 1)
    )


def test_what_ships_is_what_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """On the real predictions, where they are: every number of the page from knob_core, the slow way."""
    if not (ASSETS / library.MANIFEST).is_file() or ("knob-ode", 0) not in library.models(ASSETS):
        pytest.skip("no predictions yet: python -m train.library")
    monkeypatch.setattr(predictions, "ROOT", ASSETS)
    monkeypatch.setattr(result_files, "FOLDER", ASSETS / "results")
    s = Settings(zeta=0.7, omega_n=1.0)
    said = message(Selection(), s)
    p, y = truth(ASSETS, Selection(), s)
    assert len(y) == 95_000
    assert card(said, "ece_deb") == f"{metrics.ece_debiased(p, y):.3f}"
    assert card(said, "accuracy") == f"{100 * metrics.accuracy(p, y):.1f} %"
    assert card(said, "nll") == f"{metrics.nll(p, y):.3f} nats"
    assert card(said, "brier") == f"{metrics.brier(p, y):.3f}"
    fitted = pd.read_csv(ASSETS / "results" / "temperatures.csv").query("method == 'static' and seed == 0")
    shown = [row["name"] for row in said["table"]["rows"]]
    for _, row in fitted[fitted["output"] == "fused"].iterrows():
        assert f"Static model + temperature {row['temperature']:.2f} ({row['fitted_on']})" in shown


def test_three_seeds_need_no_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = made_cells.assets(tmp_path / "assets", seeds=(0, 1, 2), samples=60)
    monkeypatch.setattr(predictions, "ROOT", root)
    at = page().run()
    assert at.selectbox(key="cells_model").options == [f"Knob-ODE, seed {seed}" for seed in (0, 1, 2)]
    at.selectbox(key="cells_model").set_value(("knob-ode", 2)).run()
    assert not at.exception and at.query_params["cells"] == "knob-ode~2~~"
    chosen = Selection(seed=2)
    p, y = truth(root, chosen, Settings())
    said = message(chosen, Settings())
    assert card(said, "nll") == f"{metrics.nll(p, y):.3f} nats"
    t = result_files.temperatures()["static", 2, "fused", "clean"]
    assert f"Static model + temperature {t:.2f} (clean)" in [row["name"] for row in said["table"]["rows"]]


def page() -> AppTest:
    return AppTest.from_file(str(ROOT / "app" / "app_pages" / "calibration.py"), default_timeout=60)


def test_the_page_follows_the_knobs_and_keeps_them_in_the_link() -> None:
    at = page()
    at.query_params["z"] = "0.5"
    at.run()
    assert not at.exception and not at.warning
    assert len(at.get("bidi_component")) == 1
    controls = {"zeta": 1.5, "omega_n": 2.0, "epoch": 0, "seq": 1, "released": True, "on": True}
    at.session_state["calibration_component"] = {"controls": {**controls, "commands": [{"act": "begin"}]}}
    at.run()
    state = at.session_state["console_state"]
    assert (state.settings.zeta, state.settings.omega_n) == (1.5, 2.0)
    assert not len(state.pins) and state.settings.memory  # only the knobs are on this page
    assert at.query_params["z"] == "1.5" and at.query_params["w"] == "2"


def test_filters_choose_and_are_kept_in_the_link() -> None:
    at = page().run()
    at.multiselect(key="cells_corruptions").set_value(["snow", "fog"]).run()
    assert not at.exception
    assert at.session_state["selection"].corruptions == ("snow", "fog")
    assert at.query_params["cells"] == "knob-ode~0~snow.fog~"
    other = page()
    other.query_params["cells"] = "knob-ode~0~snow.fog~25"
    other.run()
    assert other.session_state["selection"].severities == (2, 5)
    assert other.multiselect(key="cells_corruptions").value == ["snow", "fog"]


def test_a_hostile_link_is_named_and_the_page_works() -> None:
    at = page()
    at.query_params["cells"] = "![a](//b.cd/e.png)~0~<script>~9"
    at.run()
    assert not at.exception
    assert "cannot be used" in at.warning[0].value
    assert r"\!\[a\](//b.cd/e.png)" in at.warning[0].value  # words, not a stranger's picture
    assert len(at.get("bidi_component")) == 1
    at.button(key="close_notes").click().run()
    assert not at.exception and not at.warning


def test_a_picked_cell_shows_its_pictures(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictions, "corrupted_images", lambda *a: np.zeros((250, 32, 32, 3), np.uint8))
    at = page().run()
    at.session_state["picked"] = "ece/fog.3"
    at.run()
    assert not at.exception
    assert any("Pictures: fog, severity 3" in element.value for element in at.header)
    at.session_state["picked"] = "ece/nonsense.3"
    at.run()
    assert not at.exception and not at.header


def test_missing_or_damaged_predictions_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictions, "ROOT", tmp_path)
    at = page().run()
    assert not at.exception
    assert "python -m train.library" in at.warning[0].value
    made_cells.assets(tmp_path / "damaged", samples=20)
    (tmp_path / "damaged" / "cells" / "knob-ode-s0.npz").write_bytes(b"not a file of arrays")
    monkeypatch.setattr(predictions, "ROOT", tmp_path / "damaged")
    at = page().run()
    assert not at.exception
    assert "damaged" in at.warning[0].value
