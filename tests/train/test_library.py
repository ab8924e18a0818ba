"""What the library ships is what the models say of the very frames that the keys describe."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from knob_core import data
from knob_core import library as shipped_library
from knob_core.library import result_tables
from knob_core.methods import GATED, METHODS
from knob_core.settings import HOME
from tests.helpers import tiny_family
from train import library
from train.measuring import (
    branch_cache,
    branch_outputs,
    library_branches,
    library_files,
    scene_images,
    stream_images,
    stream_tables,
)

pytestmark = pytest.mark.slow  # every model runs over every stream

SMALL = {
    "FRAMES": 64,
    "CLASSES": 2,
    "REALISATIONS": 2,
    "STEP_REALISATIONS": 2,
    "TONE_REALISATIONS": 1,
    "CORRUPTIONS": ("shot_noise", "defocus_blur"),
    "LIBRARY_SCHEDULES": ("step", "spikes"),
    "TONES": (0.05, 0.2, 0.4),
    "TONE_FIRST": 10,
    "TONE_FITTED": 20,
}
IMAGES = 6
NAMES = ("fog", "contrast", "shot_noise")


def shrink(patch: pytest.MonkeyPatch) -> None:
    for name, value in SMALL.items():
        patch.setattr(stream_images, name, value)
    patch.setattr(library_branches, "NAMES", NAMES)
    patch.setattr(library_files, "NAMES", NAMES)
    patch.setattr(stream_tables, "OMEGAS", (0.1, 1.0))
    patch.setattr(stream_tables, "CUTOFFS", (0.05,))
    images, labels, places = data.load_sample()
    patch.setattr(data, "load_sample", lambda: (images[:IMAGES], labels[:IMAGES], places[:IMAGES]))


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch)


def run(folder: Path, out: str = "assets") -> int:
    places = ["--assets", str(folder / out), "--out", str(folder / out / "results"), "--runs", str(folder / "runs")]
    return library.main([str(folder / "checkpoints"), *places])


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("library")
    tiny_family.write(folder / "checkpoints", (0, 1))
    with pytest.MonkeyPatch.context() as patch:
        shrink(patch)
        assert run(folder) == 0
    return folder


def test_every_method_has_every_stream_and_equal_branches_one_file(done: Path) -> None:
    root = done / "assets"
    keys = shipped_library.streams(root)
    scenes = len(scene_images.units())
    assert len(keys) == len(METHODS) * (2 * 2 + scenes)
    assert {key.seed for key in keys} == {0}
    files = shipped_library.manifest(root)["files"]
    assert len(files) == 3 * (1 + 4 + scenes)  # static, attention, and the gated three as one
    assert keys[0].images == stream_images.stills(data.load_sample()[1])
    for name in shipped_library.manifest(root)["files"]:
        shipped_library.verified(name, root)


@pytest.mark.parametrize("method", ["static", "knob-ode"])
def test_a_stream_is_what_the_model_says_of_its_frames(done: Path, method: str) -> None:
    root = done / "assets"
    key = next(
        k
        for k in shipped_library.streams(root)
        if (k.method, k.corruption, k.schedule) == (method, "shot_noise", "step")
    )
    branches = shipped_library.load_stream(key, root)
    (member,) = branch_outputs.load([done / "checkpoints" / f"{method}-s0.safetensors"])
    stream = shipped_library.render(key)
    for path in (0, 3):
        frames = stream.frames(0, key.frames, *divmod(path, key.realisations))
        with torch.inference_mode():
            own = member.model(frames)
        assert np.allclose(branches.z_static[path], own.z_static.numpy(), atol=5e-3)  # half precision
        assert np.allclose(branches.z_dyn[path], own.z_dyn.numpy(), atol=5e-3)
        assert np.allclose(branches.u_star[path], own.u_star.numpy(), atol=5e-3)
    assert np.array_equal(branches.severity, stream.severity)
    assert np.array_equal(branches.labels, np.repeat(data.load_sample()[1][list(key.images)], key.realisations))


def test_cells_are_the_sample_under_every_corruption(done: Path) -> None:
    from knob_core.data import cifar10c
    from knob_core.data.pixels import to_unit

    cells = shipped_library.load_cells("attention", 0, done / "assets")
    images, labels, _ = data.load_sample()
    assert cells.cells == tuple((name, severity) for name in NAMES for severity in (1, 2, 3, 4, 5))
    assert np.array_equal(cells.labels, labels)
    (member,) = branch_outputs.load([done / "checkpoints" / "attention-s0.safetensors"])
    name, severity = cells.cells[8]
    with torch.inference_mode():
        own = member.model(to_unit(cifar10c.make(images, name, severity, cells.noise_seed)))
    assert np.allclose(cells.z_static[8], own.z_static.numpy(), atol=5e-3)


def test_old_files_go_only_when_the_new_listing_stands(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = done / "assets"
    stale = root / "streams" / "s0-of-other-weights" / "fog-step.npz"
    stale.parent.mkdir()
    stale.write_bytes(b"listed until now")

    def killed(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shipped_library, "save", killed)
        assert run(done) == 130
    assert stale.is_file()
    for name in shipped_library.manifest(root)["files"]:
        shipped_library.verified(name, root)
    assert run(done) == 0
    assert not stale.parent.exists()


def test_tables_hold_every_variant_on_every_stream(done: Path) -> None:
    streams = result_tables.read(done / "assets" / "results" / "streams.csv")
    first = streams[streams["seed"] == 0]
    trained = {key: HOME for key, method in METHODS.items() if method.gate.knobs}
    assert set(first.groupby(["corruption", "schedule"]).size()) == {len(stream_tables.variants(trained))}
    assert {"knob-ode + memory", "knob-ia + EMA of p", "knob-ia + one-euro of p"} <= set(first["variant"])
    others = streams[streams["seed"] == 1]
    assert set(others["corruption"]) == {"shot_noise"}  # of another seed, what the claims are made on
    for column in ("flips", "jitter", "sure_wrong", "nll", "ece", "ece_floor"):
        assert streams[column].notna().all()


def test_probe_tables_are_there(done: Path) -> None:
    results = done / "assets" / "results"
    gate = result_tables.read(results / "e3_gate_bode.csv")
    assert gate["error_db"].abs().max() < 0.1
    assert gate["error_degrees"].abs().max() < 1
    assert gate["freq"].max() == 0.45
    bode = result_tables.read(results / "e3_stream_bode.csv")
    assert set(bode["severities"]) == {"continuous", "rounded"}
    assert set(bode["seed"]) == {0, 1}
    assert len(bode) == 2 * len(GATED) * 2 * 3  # seeds, methods, severities, tones
    step = result_tables.read(results / "e3_step.csv")
    assert (step["g_q25"] <= step["g_q75"]).all()
    trade = result_tables.read(results / "trade_off.csv")
    assert len(trade) == 2 * (1 + 2 * (3 * 2 + 1) + 3)


def test_again_gives_the_same_bytes_without_running_a_model(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a model ran")

    monkeypatch.setattr(branch_cache, "compute", never)
    assert run(done, "again") == 0
    for path in (done / "assets").rglob("*"):
        if path.is_file():
            assert path.read_bytes() == (done / "again" / path.relative_to(done / "assets")).read_bytes(), path


def test_without_the_shipped_seed_it_says_so(done: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tiny_family.write(tmp_path / "checkpoints", (1,))
    assert run(tmp_path) == 1
    assert "seed 0" in capsys.readouterr().err
