"""Your stream: files become streams under the same knobs, and a bad file is named while the rest goes on."""

from __future__ import annotations

import gc
import io
import json
import threading
import time
import weakref
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio
import numpy as np
import pytest
from console_answers import answer, readouts
from file_links import file_links
from PIL import Image
from streamlit.testing.v1 import AppTest

from app.console import display
from app.console.console_state import ConsoleState
from app.console.display_export import csv_text
from app.console.pins import Pins
from app.server import drag_endpoint, streamlit_compat
from app.server.background_jobs import Job
from app.tune import map_job
from app.tune.map_job import Charted
from app.your_stream import uploaded_stream
from knob_core import settings as settings_file
from knob_core import wrap
from knob_core.goals import Goals
from knob_core.maps import ManySettings
from knob_core.measures.stability import flips
from knob_core.memories import UNFITTED
from knob_core.response import respond
from knob_core.runtime import KnobStream
from knob_core.settings import Settings
from knob_core.uploads import Pictures, read_logits

PAGE = Path(__file__).resolve().parents[3] / "app" / "app_pages" / "your_stream.py"


def logits(paths: int = 3, frames: int = 60, classes: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = np.arange(paths) % classes
    return rng.normal(0, 2, (paths, frames, classes)) + 3 * np.eye(classes)[labels][:, None], labels


def npz(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def npy(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def opened() -> AppTest:
    at = AppTest.from_file(str(PAGE), default_timeout=60).run()
    assert not at.exception, at.exception
    return at


def given(at: AppTest, name: str, content: bytes) -> AppTest:
    at.file_uploader[0].set_value((name, content, "application/octet-stream")).run()
    assert not at.exception, at.exception
    return at


def said(at: AppTest) -> str:
    return " ".join(element.value for element in at.caption)


def shown(at: AppTest) -> uploaded_stream.UploadedStream:
    return at.session_state["own_stream"]


@pytest.mark.slow
def test_the_page_says_how_much_it_takes_and_how_long_it_stays() -> None:
    words = " ".join(element.value for element in opened().markdown)
    assert "50 MB a file" in words
    assert "some minutes after you close the" in words and "temporary file" in words and "never written" not in words


def test_without_a_file_the_page_says_what_it_takes():
    at = opened()
    assert "z_static" in " ".join(m.value for m in at.markdown) and not at.error
    assert "own_stream" not in at.session_state


def test_logits_appear_and_the_knobs_act_on_them():
    z, labels = logits()
    at = given(opened(), "mine.npz", npz(logits=z, labels=labels))
    assert shown(at).images == 3 and "memory must be on" in said(at) and "no labels" not in said(at)
    before = at.session_state["own_controller"].state.now
    controls = {
        "epoch": at.session_state["own_controller"].state.epoch,
        "seq": 1,
        "zeta": 1.0,
        "omega_n": 2.5,
        "released": True,
    }
    at.session_state["own_console"] = {"controls": controls}
    at.run()
    state = at.session_state["own_controller"].state
    assert (state.settings.zeta, state.settings.omega_n) == (1.0, 2.5) and state.now.flips > before.flips
    assert at.session_state["console_state"].settings.omega_n == 2.5  # the console's knobs follow


def test_what_the_page_measures_is_what_the_runtime_will_do():
    z, labels = logits()
    at = given(opened(), "mine.npz", npz(logits=z, labels=labels))
    state = at.session_state["own_controller"].state
    stream = KnobStream(wrap.classifier(), settings=state.settings)
    predicted = np.stack([stream.step(z[:, t]).label for t in range(z.shape[1])], 1)
    assert flips(predicted) == pytest.approx(state.now.flips)
    assert (predicted == labels[:, None]).mean() == pytest.approx(state.now.accuracy)


@pytest.mark.slow
def test_without_labels_the_measures_that_need_them_say_so():
    at = given(opened(), "mine.npz", npz(logits=logits()[0]))
    assert "no labels" in said(at) and uploaded_stream.NEEDS_LABELS in said(at)
    assert np.isnan(at.session_state["own_controller"].state.now.accuracy)
    assert at.button(key="own_fit").disabled


@pytest.mark.slow
def test_a_fit_moves_the_knobs_and_tells_what_it_bought():
    z, labels = logits(8, 100)
    at = given(opened(), "mine.npz", npz(logits=z, labels=labels))
    at.button(key="own_fit").click().run()
    assert not at.exception and "Right answers" in said(at)
    assert [row["on unseen streams"] for row in at.dataframe[0].value.to_dict("records")][:2] == ["Knob", "off"]
    table = at.dataframe[0].value
    assert "frames to a new class" in table.columns and table["right answers, %"].between(1, 100).all()
    settings = at.session_state["own_controller"].state.settings
    assert settings.weights is not None and "[attentive]" in settings_file.to_toml(settings)
    answer, _ = respond(wrap.branches_of(z), settings)
    assert flips(answer.predicted) == pytest.approx(at.session_state["own_controller"].state.now.flips)


@pytest.mark.parametrize(
    ("name", "content", "cause"),
    [
        ("mine.npz", b"PK nonsense", "save it again as arrays by numpy.savez"),
        ("mine.csv", b"a,b\n1,inf\n", "inf"),
        ("mine.csv", b"\xff\xfe", "UTF-8"),
        ("mine.npy", b"PK nonsense", "save it again as an array by numpy.save"),
    ],
)
def test_a_bad_file_is_named_and_the_last_good_stream_stays(name: str, content: bytes, cause: str):
    at = given(opened(), "good.npz", npz(logits=logits()[0]))
    good = shown(at).id
    given(at, name, content)
    assert cause in at.error[0].value and shown(at).id == good
    given(at, "better.npz", npz(logits=logits(frames=50)[0]))
    assert not at.error and shown(at).frames == 50


def test_labels_that_cannot_be_fitted_are_said_so() -> None:
    """It was a traceback, with the server's folders."""
    labels = np.where(np.arange(40) < 20, 1, -1)
    at = given(opened(), "mine.npz", npz(logits=logits(1, 40)[0][0], labels=labels))
    at.button(key="own_fit").click().run()
    assert not at.exception and "only one group or stream has labels" in at.warning[0].value


def test_files_that_are_given_up_are_read_no_further(monkeypatch: pytest.MonkeyPatch) -> None:
    """And are no fault; given again, they are read."""
    with monkeypatch.context() as patch:
        patch.setattr(streamlit_compat, "are_given_up", lambda ids: lambda: True)
        at = given(opened(), "mine.npz", npz(logits=logits()[0]))
        assert "own_stream" not in at.session_state and not at.error
    at.run()
    assert shown(at).frames == 60


@pytest.mark.slow
def test_other_streams_of_the_file_can_be_put_on_the_scope():
    at = given(opened(), "mine.npz", npz(logits=logits()[0]))
    at.number_input[0].set_value(3).run()
    assert not at.exception


@pytest.mark.slow
def test_only_what_is_shown_of_a_file_is_kept() -> None:
    z = np.random.default_rng(0).normal(size=(40, 3000, 40)).astype(np.float32)
    whole = read_logits("a.npy", npy(z))
    stream, _ = uploaded_stream.of_logits("a", "a", whole)
    kept = stream.uploaded
    assert kept is not None and kept.z_static.size <= uploaded_stream.MOST_VALUES and kept.z_dyn is kept.z_static
    assert all(array.base is None for array in (kept.z_static, kept.labels))  # a view would keep the whole file
    assert np.shares_memory(kept.z_static, stream.branches.z_static)


@pytest.mark.slow
def test_a_long_upload_is_cut_and_says_so():
    z = np.zeros((40, 4000, 20), np.float32)
    stream, notes = uploaded_stream.of_logits("x", "long", read_logits("a.npz", npz(logits=z)))
    assert stream.frames == uploaded_stream.MOST_FRAMES and stream.branches.z_dyn.size <= uploaded_stream.MOST_VALUES
    assert "33 of 40 streams and the first 3000 of 4000 frames" in notes[0]


def test_labels_that_change_are_measured_frame_by_frame():
    z, _ = logits()
    labels = np.zeros(z.shape[:2], int)
    labels[0, 5:] = 1
    stream, notes = uploaded_stream.of_logits("x", "t", read_logits("a.npz", npz(logits=z, labels=labels)))
    assert stream.cuts == [5] and not any("no label" in note for note in notes)
    assert readouts(answer(ConsoleState(), stream))["accuracy"]["now"] != "–"
    shown = stream.share_wrong(stream.without_knob)
    np.testing.assert_array_equal(shown, stream.without_knob.predicted[0] != labels[0])


@pytest.mark.parametrize("classes", [2, 10, 37])
def test_any_number_of_classes_has_names(classes: int):
    z, _ = logits(classes=classes)
    stream, _ = uploaded_stream.of_logits("x", "t", read_logits("a.npz", npz(logits=z)))
    fixed: dict[str, Any] = stream.background()
    assert len(fixed["classes"]) == classes == len(fixed["short"])
    assert answer(ConsoleState(Settings()), stream)["readouts"]


@pytest.mark.slow
def test_pictures_go_through_the_shipped_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    torch = pytest.importorskip("torch")
    from knob_core import checkpoint, models

    torch.manual_seed(0)
    model = models.build("knob-ode", 4)
    checkpoint.save(model, tmp_path / "knob-ode-s2.safetensors")
    monkeypatch.setattr(uploaded_stream, "FOLDER", tmp_path)
    images = np.random.default_rng(0).integers(0, 256, (130, 3, 32, 32), dtype=np.uint8)
    heard: list[float] = []
    stream, notes = uploaded_stream.of_pictures("x", "t", Pictures(images, ("a",) * 130, np.full(130, 3)), heard.append)
    assert heard == [0.0, 100 / 130] and "130 frames" in notes[0] and "seen by Knob-ODE." in notes[0]
    live = KnobStream(model.eval(), settings=Settings())
    answer, _ = respond(stream.branches, Settings(), stream.method)
    for t in range(5):
        np.testing.assert_allclose(live.step(images[t]).probabilities, answer.probabilities[0, t], atol=1e-5)
    assert (stream.frame_truth == 3).all() and stream.pixels is not None and stream.pixels.shape[1:] == (32, 32, 3)


def still(seed: int) -> bytes:
    file, pixels = io.BytesIO(), np.random.default_rng(seed).integers(0, 256, (40, 50, 3), dtype=np.uint8)
    Image.fromarray(pixels).save(file, "PNG")
    return file.getvalue()


def zipped(names: Sequence[str], **more: bytes) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, still(len(name)))
        for name, content in more.items():
            archive.writestr(name.replace("_", "."), content)
    return file.getvalue()


def video_file(frames: int = 6) -> bytes:
    av = pytest.importorskip("av", reason="videos need PyAV: pip install av")
    file = io.BytesIO()
    with av.open(file, "w", format="mp4") as out:
        track = out.add_stream("mpeg4", rate=10)
        track.width, track.height, track.pix_fmt = 64, 48, "yuv420p"
        for i in range(frames):
            out.mux(track.encode(av.VideoFrame.from_ndarray(np.full((48, 64, 3), 40 * i, np.uint8), "rgb24")))
        out.mux(track.encode(None))
    return file.getvalue()


@pytest.fixture
def tiny_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    from knob_core import checkpoint, models

    torch.manual_seed(0)
    checkpoint.save(models.build("knob-ode", 4), tmp_path / "knob-ode-s0.safetensors")
    monkeypatch.setattr(uploaded_stream, "FOLDER", tmp_path)


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_model")
@pytest.mark.parametrize("name", ["walk.zip", "walk.mp4", "walk.gif"])
def test_pictures_of_every_kind_reach_the_display(name: str):
    if name.endswith("zip"):
        content = zipped([f"f{i}.png" for i in range(6)], labels_csv=b"".join(b"f%d.png,cat\n" % i for i in range(6)))
    elif name.endswith("gif"):
        file, frames = io.BytesIO(), [Image.new("RGB", (40, 40), (40 * i, 0, 0)) for i in range(6)]
        frames[0].save(file, "GIF", save_all=True, append_images=frames[1:])
        content = file.getvalue()
    else:
        content = video_file()
    at = opened()
    at.segmented_control(key="own_kind").set_value("Pictures").run()
    given(at, name, content)
    assert not at.error and shown(at).frames == 6 and "6 frames" in said(at)
    assert shown(at).labelled == name.endswith("zip")
    assert ("are not shown" in said(at)) != name.endswith("zip")


@pytest.mark.slow
@pytest.mark.usefixtures("tiny_model")
def test_a_name_from_an_archive_is_shown_and_not_obeyed():
    at = opened()
    at.segmented_control(key="own_kind").set_value("Pictures").run()
    given(at, "a.zip", zipped(["![x](http:evil.png) **b** <b> $x$.svg"]))
    said = at.error[0].value
    assert r"\!\[x\]" in said and r"\*\*b" in said and r"\<b\>" in said and r"\$x\$" in said


@pytest.mark.slow
def test_a_heading_in_a_note_is_shown_and_not_obeyed():
    rows = "\n".join(f"{i},{i % 3}" for i in range(60))
    at = given(opened(), "a.csv", f"[here](http://evil.example),b\n{rows}\n".encode())
    assert "only grow" in said(at) and r"\[here\]" in said(at) and "http://" not in said(at)


@pytest.mark.slow
def test_pictures_without_a_model_are_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(uploaded_stream, "FOLDER", tmp_path)
    at = opened()
    at.segmented_control(key="own_kind").set_value("Pictures").run()
    file = io.BytesIO()
    Image.new("RGB", (40, 40)).save(file, "PNG")
    given(at, "a.png", file.getvalue())
    assert "no knob-ode checkpoint" in at.error[0].value


@pytest.mark.slow
def test_a_message_on_its_way_over_the_websocket_is_not_undone_by_a_rerun(monkeypatch: pytest.MonkeyPatch) -> None:
    """The script looks at both states while an answer is being made: they differ for a moment, and that is no move."""
    z, labels = logits()
    at = given(opened(), "mine.npz", npz(logits=z, labels=labels))
    state, shared = at.session_state["own_controller"].state, at.session_state["console_state"]
    controls = {
        "epoch": state.epoch,
        "seq": 1,
        "zeta": 0.31,
        "omega_n": 1.7,
        "on": True,
        "released": True,
    }
    begun, make = threading.Event(), display.update

    def slow(*what: Any) -> dict[str, Any]:
        begun.set()
        time.sleep(0.3)
        return make(*what)

    monkeypatch.setattr(display, "update", slow)
    text = json.dumps({"token": at.session_state["own_console_endpoint"].token, "controls": controls})
    asked = drag_endpoint.read(text)
    assert asked is not None
    speaker = threading.Thread(target=asked[0].answer, args=asked[1:])
    speaker.start()
    begun.wait()
    at.run()
    speaker.join()
    for one in (state, shared):
        assert (one.settings.zeta, one.settings.omega_n) == (0.31, 1.7)


@pytest.mark.slow
def test_the_settings_file_is_this_visitors() -> None:
    """A download runs outside the session: it must know the state beforehand."""
    z, labels = logits()
    at = given(opened(), "mine.npz", npz(logits=z, labels=labels))
    at.session_state["console_state"].set_from_python(Settings(zeta=2.5))
    at.run()
    found: list[str] = []
    offered = at.session_state["downloads"]
    elsewhere = threading.Thread(target=lambda: found.append(anyio.run(offered.content, "knob.toml")))
    elsewhere.start()
    elsewhere.join()
    assert settings_file.from_toml(found[0].encode()).zeta == 2.5


@pytest.mark.slow
def test_what_cannot_be_told_is_not_shown() -> None:
    """No labels, no verdict."""
    z, _ = logits(classes=10)
    made, _ = uploaded_stream.of_logits("id", "mine", read_logits("mine.npz", npz(logits=z)))
    assert list(readouts(answer(ConsoleState(), made))) == ["flips", "disagreement", "jitter"]
    assert made.background()["classes"][0] == "class 0"  # ten classes of somebody's are not CIFAR-10's


def test_a_stream_can_be_forgotten_and_given_again() -> None:
    z, labels = logits()
    at = given(opened(), "own.npz", npz(logits=z, labels=labels))
    assert at.session_state["own_stream"].title == "own.npz"
    at.button(key="own_forget").click().run()
    assert not at.exception and "own_stream" not in at.session_state
    given(at, "own.npz", npz(logits=z, labels=labels))
    assert at.session_state["own_stream"].title == "own.npz"


@pytest.mark.slow
def test_nothing_holds_a_stream_that_was_forgotten() -> None:
    z, labels = logits()
    at = given(opened(), "own.npz", npz(logits=z, labels=labels))
    at.session_state["console_state"].pins = Pins().add("A", Settings(zeta=2.0))
    stream = shown(at.run())
    held = {"stream": weakref.ref(stream), "branches": weakref.ref(stream.branches)}
    wanted = map_job.request((stream,), Settings(), shipped=False)
    at.session_state["tune_job"] = job = Job(wanted)
    at.session_state["tune_charted"] = job.result = Charted(None, (ManySettings(stream.branches),))
    del stream, wanted, job
    at.button(key="own_forget").click().run()
    assert not at.exception
    gc.collect()
    assert [name for name, reference in held.items() if reference() is not None] == []


@pytest.mark.slow
def test_unknown_severity_is_not_drawn_as_none() -> None:
    z, _ = logits()
    for arrays, known in (({}, False), ({"severity": np.ones(60)}, True)):
        stream, _ = uploaded_stream.of_logits("a", "a", read_logits("a.npz", npz(logits=z, **arrays)))
        assert ("severity" in {t.get("name") for t in stream.background()["figure"]["data"]}) == known
        json.dumps(answer(ConsoleState(), stream), allow_nan=False)


@pytest.mark.slow
def test_the_address_holds_the_knobs() -> None:
    z, _ = logits()
    at = given(opened(), "own.npz", npz(logits=z))
    assert at.query_params["z"] in ("1", ["1"])
    at.session_state["console_state"].set_from_python(Settings(zeta=1.4, omega_n=0.12))
    at.run()
    assert at.query_params["z"] in ("1.4", ["1.4"])


@pytest.mark.slow
def test_the_address_holds_the_knobs_also_before_a_file_is_given() -> None:
    at = AppTest.from_file(str(PAGE), default_timeout=60)
    at.query_params["z"] = "1.4"
    at.query_params["g.delay"] = "4"
    at.run()
    assert at.session_state["console_state"].settings.zeta == 1.4
    at.session_state["console_state"].set_from_python(Settings(zeta=1.2))
    at.run()
    assert at.query_params["z"] in ("1.2", ["1.2"]) and "g.delay" not in at.query_params


@pytest.mark.slow
def test_data_and_figures_can_be_exported_with_the_visitor_s_classes() -> None:
    z, labels = logits()
    at = given(opened(), "own.npz", npz(logits=z, labels=labels))
    assert file_links(at) == ["Settings file", "Data (CSV)", "Compared settings (CSV)", "Figures (HTML)"]
    text = csv_text(at.session_state["own_controller"].state, shown(at))
    assert f",class {labels[0]}," in text.splitlines()[2]


@pytest.mark.slow
def test_labels_that_change_bring_the_cards_of_a_changing_world() -> None:
    z, _ = logits()
    labels = np.zeros(z.shape[:2], int)
    labels[2, 30:] = 1  # in another stream than the one on the scope
    at = given(opened(), "own.npz", npz(logits=z, labels=labels))
    told = readouts(answer(ConsoleState(), shown(at)))
    assert list(told)[:2] == ["excess_flips", "delay"]


@pytest.mark.slow
def test_a_fit_keeps_the_goals() -> None:
    z, labels = logits(8, 100)
    at = given(opened(), "mine.npz", npz(logits=z, labels=labels))
    state = at.session_state["console_state"]
    state.set_from_python(replace(state.settings, goals=Goals(delay=4.0)))
    at.button(key="own_fit").click().run()
    assert at.session_state["console_state"].settings.goals == Goals(delay=4.0)


@pytest.mark.slow
@pytest.mark.parametrize("with_stream", [True, False])
def test_fitted_weights_are_said_and_can_be_taken_back(with_stream: bool) -> None:
    at = given(opened(), "mine.npz", npz(logits=logits()[0])) if with_stream else opened()
    assert not [button for button in at.button if button.key == "own_weights"]
    weights = replace(UNFITTED, a=UNFITTED.a - 3)
    at.session_state["console_state"].set_from_python(Settings(zeta=1.4, weights=weights))
    at.run()
    assert "has fitted weights" in said(at) and "a link leaves them out" in said(at)
    at.button(key="own_weights").click().run()
    assert not at.exception and at.session_state["console_state"].settings == Settings(zeta=1.4)
    assert "fitted weights" not in said(at)


@pytest.mark.slow
def test_a_gif_brings_its_frame_rate() -> None:
    gif = io.BytesIO()
    frames = [Image.new("RGB", (40, 40), (20 * i, 90, 40)) for i in range(8)]
    frames[0].save(gif, "GIF", save_all=True, append_images=frames[1:], duration=40)
    at = opened()
    at.segmented_control(key="own_kind").set_value("Pictures").run()
    at.file_uploader[0].set_value([("moving.gif", gif.getvalue(), "image/gif")]).run()
    assert not at.exception and not at.error
    assert at.session_state["console_state"].settings.frame_rate == 25
    assert "25 frames a second, as the file says" in said(at)


@pytest.mark.slow
def test_a_later_video_replaces_an_earlier_one_and_keeps_the_labels() -> None:
    still, first, labels, second = (("a.png", b"1"), ("b.mp4", b"2"), ("labels.csv", b"3"), ("c.GIF", b"4"))
    assert uploaded_stream.newest([first]) == [first]
    assert uploaded_stream.newest([still, labels]) == [still, labels]
    assert uploaded_stream.newest([first, labels, second]) == [second, labels]
    assert uploaded_stream.newest([still, first]) == [first]


def test_a_long_name_is_shortened() -> None:
    assert uploaded_stream.short_title(["mine.npz"]) == "mine.npz"
    assert uploaded_stream.short_title(["a.png", "b.png"]) == "2 files"
    short = uploaded_stream.short_title(["x" * 300 + "-end.npz"])
    assert len(short) == uploaded_stream.LONGEST_TITLE and short.endswith("-end.npz")


@pytest.mark.slow
def test_what_a_link_cannot_mean_can_be_closed() -> None:
    at = AppTest.from_file(str(PAGE), default_timeout=60)
    at.query_params["z"] = "nonsense"
    at.run()
    assert len(at.warning) == 1
    at.button(key="close_notes").click().run()
    assert not at.exception and not at.warning and not [b for b in at.button if b.key == "close_notes"]


def test_streams_of_unequal_length_are_shown_with_their_own_ends():
    z, labels = logits(3, 60)
    z[1, 25:] = np.nan
    z[2, 50:] = np.nan
    at = given(opened(), "mine.npz", npz(logits=z, labels=labels))
    assert not at.error and "2 of 3 streams are shorter than the longest, which has 60 frames" in said(at)
    at.number_input(key=f"own_number_{shown(at).id}").set_value(2).run()
    assert not at.exception
    stream = replace(shown(at), image=1)
    controller = at.session_state["own_controller"]
    response = stream.respond(controller.state.settings)
    assert (response.predicted[1, 25:] == -1).all() and (response.predicted[1, :25] >= 0).all()
    rows = csv_text(controller.state, stream).splitlines()
    assert len(rows) == 2 + 60
    cut = uploaded_stream.shown_part(read_logits("a.npz", npz(logits=np.where(np.isnan(z), np.nan, z)[1:])))
    assert cut.z_static.shape == (2, 50, 4)


@pytest.mark.parametrize(("answer_", "labelled"), [("Yes, the label", True), ("No, a class", False)])
def test_a_column_that_may_be_the_label_is_asked_about(answer_: str, labelled: bool):
    z, _ = logits(1, 30, 3)
    rows = ["truth,cat,dog,owl", *(f"0,{','.join(map(str, row))}" for row in z[0])]
    at = given(opened(), "mine.csv", "\n".join(rows).encode())
    assert "“truth”" in at.warning[0].value and shown(at).names == ("cat", "dog", "owl") and not shown(at).labelled
    next(button for button in at.button if button.label == answer_).click().run()
    assert not at.exception and not at.warning
    assert shown(at).labelled == labelled and shown(at).names[-3:] == ("cat", "dog", "owl")
    assert len(shown(at).names) == (3 if labelled else 4)


def test_a_refused_file_leaves_the_list():
    at = given(opened(), "mine.npz", b"PK nonsense")
    assert "save it again" in at.error[0].value
    assert at.file_uploader[0].value is None
    given(at, "mine.npz", npz(logits=logits()[0]))
    assert not at.error and shown(at).images == 3
