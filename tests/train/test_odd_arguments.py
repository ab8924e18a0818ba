"""Arguments that a command can do nothing with are refused at once, in a line that names them, and leave no file."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from knob_core import assets, data

HUGE = "9" * 20
MODEL = str(assets.checkpoint("knob-ode-s0"))
OTHER = str(assets.checkpoint("static-s0"))
FIT, STREAMS = ["--method", "static"], ["--checkpoint", MODEL, "--split", "validation"]
TUNE, FIT_MEMORY = ["--out", "o"], [MODEL, "--out", "o"]

CASES: dict[str, list[tuple[list[str], str]]] = {  # command -> (arguments, what its line has)
    "fit": [
        ([*FIT, "--device", "meta"], "'meta' is no device here"),
        ([*FIT, "--device", "vulkan"], "'vulkan' is no device here"),
        ([*FIT, "--threads", "1000000000"], "--threads: '1000000000' is not a whole number from 1 to 1024"),
        ([*FIT, "--threads", HUGE], f"--threads: '{HUGE}' is not"),
        ([*FIT, "--seed", "nan"], "seed is nan, expected a whole number"),
        ([*FIT, "--seeds", "1"], "--seeds is of --all and --warm-only"),
        (["--all", "--seed", "7"], "--seed is of a single --method"),
        (["--warm-only", "--seeds", "1", "--seed", "0"], "--seed is of a single --method"),
        ([*FIT, "--set", "limit=50000"], "limit is 50000, expected at most 48000, since 2000 of 50000 are held out"),
        ([*FIT, "--encoder", "nowhere"], "no checkpoint at nowhere"),
        ([*FIT, "--encoder", "file"], "file is damaged"),
        ([*FIT, "--runs", ""], "--runs: is empty, expected a path"),
        ([*FIT, "--runs", "file"], "'file' is a file, expected a folder"),
    ],
    "evaluate": [
        ([MODEL, "--count", "1"], "--count is 1, expected 2 to 1000"),
        ([MODEL, "--first", "1000"], "--first is 1000, expected a multiple of 250 from 0 to 750"),
        ([MODEL, "--first", "-250"], "--first is -250"),
        ([MODEL, "--seed", "-1"], "seed is -1"),
        ([MODEL, "--out", ""], "--out: is empty"),
        ([MODEL, "--out", "file/below"], "'file' is a file, expected a folder"),
        (["folder"], "no checkpoints in folder"),
        (["file"], "file is damaged"),
    ],
    "flips": [
        ([MODEL, "--count", "0"], "--count is 0, expected 1 to 1000"),
        ([MODEL, "--count", HUGE], f"--count is {HUGE}, expected 1 to 1000"),
        ([MODEL, "--first", "7"], "--first is 7, expected a multiple of 50 from 0 to 950"),
        ([MODEL, "--out", "folder"], "'folder' is a folder, expected a file"),
        (["nowhere"], "no checkpoint at nowhere"),
    ],
    "corrupt": [
        (["--sample", "--out", "file"], "'file' is a file, expected a folder"),
        (["--sample", "--out", "o", "--only", "fogg"], "invalid choice: 'fogg'"),
        (["--sample", "--out", "o", "--device", "meta"], "'meta' is no device"),
        (["--out", "o", "--data", ""], "--data: is empty"),
    ],
    "contact_sheet": [
        (["--out", ""], "--out: is empty"),
        (["--seed", HUGE], f"seed is {HUGE}, expected a whole number"),
    ],
    "sample": [(["--out", ""], "--out: is empty"), (["--out", "file"], "'file' is a file")],
    "export": [
        (["nowhere", "--out", "o"], "nowhere.safetensors is missing"),
        (["folder", "--out", "o"], "no checkpoint at folder"),
        (["knob-ode-s0", "--out", "file"], "'file' is a file"),
        (["knob-ode-s0", "--settings", "nowhere", "--out", "o"], "'nowhere'"),
        (["knob-ode-s0", "--settings", "folder", "--out", "o"], "folder is not a file"),
    ],
    "sensitivity": [
        (["nowhere", "--out", "o"], "'nowhere'"),
        (["folder", "--out", "o"], "folder is not a file of streams"),
        (["nameless.npz", "--out", "o"], "nameless.npz has model None, expected a name"),
        (["nameless.npz", "--out", "folder"], "'folder' is a folder"),
    ],
    "compare_filters": [
        ([*TUNE, "file"], "file is not a file of streams"),
        ([*TUNE, "nameless.npz"], "nameless.npz has model None, expected a name"),
        ([*TUNE, "nameless.npz", "--evaluations", "0"], "'0' is not a whole number from 1"),
    ],
    "fit_memory": [
        ([*FIT_MEMORY, "--streams", "nowhere"], "'nowhere'"),
        ([*FIT_MEMORY, "--streams", "nameless.npz"], "nameless.npz has model None"),
        ([*FIT_MEMORY, "--streams", "nameless.npz", "--out", "file"], "'file' is a file"),
    ],
    "change_streams": [
        ([*STREAMS, "--out", "o.npz", "--streams", "999999999"], "--streams is 999999999, expected 1 to 100000"),
        ([*STREAMS, "--out", "o.npz", "--frames", "999999999"], "--frames is 999999999, expected 1 to 10000"),
        ([*STREAMS, "--out", "o.npz", "--corruptions", "mist"], "--corruptions has mist"),
        ([*STREAMS, "--checkpoint", OTHER, "--out", "o.npz"], "expected a folder for 2 checkpoints"),
        ([*STREAMS, "--out", "file"], "'file' is a file"),
    ],
    "change_benchmark": [
        (["choose", MODEL, "--work", "file", "--ship", "o"], "'file' is a file"),
        (["choose", MODEL, "--work", "o", "--ship", "o", "--evaluations", "-1"], "'-1' is not a whole number"),
    ],
    "library": [
        (["folder"], "no checkpoints in folder"),
        (["--assets", ""], "--assets: is empty"),
        (["--out", "file"], "'file' is a file"),
    ],
    "official_sample": [
        (["folder", MODEL, "--out", "o"], "no <corruption>.webp of CIFAR-10-C in folder"),
        (["folder", "nowhere", "--out", "o"], "no checkpoint at nowhere"),
    ],
    "report.__main__": [
        (["--results", "folder"], "is missing; make it"),
        (["--results", "nowhere"], "nowhere/summary.csv is missing; make it"),
        (["--results", "file"], "'file' is a file"),
        (["--out", "folder"], "'folder' is a folder"),
        (["--readme", ""], "--readme: is empty"),
    ],
    "film_strips": [(["x"], "unrecognized arguments: x")],
    "choose": [
        (["--images", "0"], "'0' is not a whole number"),
        (["--epochs", HUGE], f"'{HUGE}' is not a whole number"),
        (["--encoder", "nowhere"], "no checkpoint at nowhere"),
        (["--out", "folder"], "'folder' is a folder"),
    ],
    "ship": [
        (["--runs", "nowhere"], "no finished run under nowhere/pocket"),
        (["--runs", ""], "--runs: is empty"),
    ],
    "study": [(["--test", "1001"], "'1001' is not a whole number from 1 to 1000")],
    "cost": [
        (["--widths", "100000"], "'100000' is not a whole number from 4 to 256"),
        (["--widths", "5"], "got 5"),
        (["--device", "meta"], "'meta' is no device"),
        (["--out", ""], "--out: is empty"),
    ],
    "outside.__main__": [
        (["--models", "taste"], "--models has taste, expected some of speech, text, images"),
        (["--streams", "0"], "'0' is not a whole number from 2 to 10000"),
        (["--frames", "nan"], "'nan' is not a whole number"),
        (["--seed", "-1"], "seed is -1"),
        (["--evaluations", "0"], "'0' is not a whole number"),
        (["--cache", "file"], "'file' is a file"),
    ],
    "outside.unfitted": [(["choose", "--models", "taste"], "--models has taste, expected some of")],
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with things of the wrong kind; the sample stands for CIFAR-10."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("x")
    (tmp_path / "list.json").write_text("[1]")
    about = {"split": "validation", "kind": "mixed"}
    np.savez(tmp_path / "nameless.npz", about=np.array(json.dumps(about)))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(data, "load_cifar10", lambda *_, **__: data.load_sample()[:2])
    return tmp_path


@pytest.mark.parametrize("name", CASES)
def test_odd_arguments_are_refused_in_a_line_that_names_them(
    name: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = sorted(place.rglob("*"))
    main = importlib.import_module(f"train.{name}").main
    for arguments, told in CASES[name]:
        try:
            code = main(arguments)
        except SystemExit as stop:  # argparse's way
            code = stop.code
        line = capsys.readouterr().err.strip().splitlines()[-1]
        assert code in (1, 2) and told in line, (arguments, code, line)
        assert line.startswith((f"train.{name.removesuffix('.__main__')}", "python -m train.")), arguments
        assert len(line) < 600 and sorted(place.rglob("*")) == before, arguments
