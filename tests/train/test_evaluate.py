"""An evaluation: every cell, the right numbers, the same bytes again, and no work done twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch

from knob_core import checkpoint, data, metrics, models
from knob_core.corruptions import NAMES, TEST, TRAINING
from knob_core.data import cifar10c
from knob_core.data.pixels import to_unit
from knob_core.library import result_tables
from knob_core.methods import GATED
from knob_core.metrics import temperature_scaling
from tests.helpers import tiny_family
from train import corrupt, evaluate
from train.measuring import branch_cache, branch_outputs, cell_metrics, plain_rivals, probe_tables
from train.measuring.branch_cache import BranchCache
from train.measuring.cell_images import HELD_OUT, UNITS, CellPixels, HeldOutPixels

COUNT = 20
SOME = ("gaussian_noise", "fog", "speckle_noise")


@pytest.fixture(autouse=True)
def _sample_for_cifar10(monkeypatch: pytest.MonkeyPatch) -> None:
    images, labels, _ = data.load_sample()
    monkeypatch.setattr(data, "load_cifar10", lambda root, split: (images, labels))
    monkeypatch.setattr(evaluate, "HELD_OUT_COUNT", 40)


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished evaluation of five tiny models."""
    folder = tmp_path_factory.mktemp("evaluation")
    with pytest.MonkeyPatch.context() as patch:
        images, labels, _ = data.load_sample()
        patch.setattr(data, "load_cifar10", lambda root, split: (images, labels))
        patch.setattr(evaluate, "HELD_OUT_COUNT", 40)
        assert run(folder) == 0
    return folder


def run(folder: Path, out: str = "results", *more: str) -> int:
    checkpoints = folder / "checkpoints"
    if not checkpoints.is_dir():
        tiny_family.write(checkpoints)
    places = ["--out", str(folder / out), "--runs", str(folder / "runs")]
    return evaluate.main([str(checkpoints), "--count", str(COUNT), "--only", *SOME, *places, *more])


def test_one_row_for_each_method_seed_corruption_and_severity(done: Path) -> None:
    cells = result_tables.read(done / "results" / "cells.csv")
    assert len(cells) == len(models.METHODS) * (1 + 5 * len(SOME))
    assert not cells.duplicated(["method", "seed", "corruption", "severity"]).any()
    assert set(cells["corruption"]) == {"clean", *SOME}
    assert set(UNITS) == {"clean", *NAMES}  # what is evaluated unless told
    assert len(NAMES) == 19
    for output in ("fused", "fused_t_clean", "fused_t_corrupted"):
        for metric in cell_metrics.METRICS:
            assert cells[f"{output}_{metric}"].notna().all()
    gated = cells["method"].isin(GATED)
    assert cells.loc[gated, "dyn_nll"].notna().all()
    assert cells.loc[~gated, "dyn_nll"].isna().all()


def test_all_that_is_written_lies_in_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_family.write(tmp_path / "checkpoints")
    monkeypatch.chdir(tmp_path)
    assert evaluate.main(["checkpoints/static-s0.safetensors", "--count", "4", "--only", "fog", "--out", "mine"]) == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["checkpoints", "mine"]
    assert (tmp_path / "mine" / "cells.csv").is_file()


@pytest.mark.slow
def test_a_cell_is_what_the_model_says_of_its_pixels(done: Path) -> None:
    images, labels, _ = data.load_sample()
    corrupted = to_unit(cifar10c.make(images[:COUNT], "fog", 4, 0))
    cells = result_tables.read(done / "results" / "cells.csv").set_index(["method", "corruption", "severity"])
    for member in branch_outputs.load(branch_outputs.find([done / "checkpoints"])):
        with torch.inference_mode():
            p = torch.softmax(member.model.predict(corrupted, "reset").double(), 1).numpy()
        row = cells.loc[(member.method, "fog", 4)]
        assert row["fused_accuracy"] == pytest.approx(metrics.accuracy(p, labels[:COUNT]), abs=1e-5)
        assert row["fused_nll"] == pytest.approx(metrics.nll(p, labels[:COUNT]), rel=1e-4)
        assert row["fused_ece_deb"] == pytest.approx(metrics.ece_debiased(p, labels[:COUNT]), abs=1e-4)


@pytest.mark.slow
def test_the_mean_goes_over_severities_then_corruptions(done: Path) -> None:
    cells = result_tables.read(done / "results" / "cells.csv")
    summary = result_tables.read(done / "results" / "summary.csv").set_index(["method", "scope", "output"])
    mine = cells[(cells["method"] == "knob-ode") & (cells["corruption"] != "clean")]
    assert summary.loc[("knob-ode", "3 of 19", "fused"), "nll"] == pytest.approx(mine["fused_nll"].mean(), rel=1e-5)
    assert set(summary.index.get_level_values("scope")) == {"3 of 19", "clean"}  # part of a set goes by no set's name


@pytest.mark.slow
def test_a_set_of_corruptions_is_summarised_by_its_name_where_it_is_whole(done: Path) -> None:
    cells = result_tables.read(done / "results" / "cells.csv")
    fog = cells[(cells["method"] == "knob-ode") & (cells["corruption"] == "fog")]
    level = {name: number for number, name in enumerate(NAMES)}
    whole = pd.concat([fog.assign(corruption=name, dyn_accuracy=level[name] / 100) for name in NAMES])
    summary = cell_metrics.summarise(whole).set_index(["scope", "output"])
    for scope, names in (("all 19", NAMES), ("standard 15", TEST), ("training 4", TRAINING)):
        expected = np.mean([level[name] for name in names]) / 100
        assert summary.loc[(scope, "dyn"), "accuracy"] == pytest.approx(expected)
    assert set(summary.index.get_level_values("scope")) == {"all 19", "standard 15", "training 4"}


@pytest.mark.slow
def test_tables_are_made_where_the_caches_lie(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Branches come from the caches to the CPU, so the models must follow, wherever they ran."""
    followed: list[str] = []
    plain = models.GatedClassifier.cpu
    monkeypatch.setattr(models.GatedClassifier, "cpu", lambda m: followed.append(m.method) or plain(m))
    assert run(done, "followed") == 0
    assert sorted(followed) == sorted(models.METHODS)


@pytest.mark.slow
def test_temperatures_are_fitted_on_held_out_images(done: Path) -> None:
    fitted = result_tables.read(done / "results" / "temperatures.csv")
    gated = len(GATED)
    assert len(fitted) == 2 * (len(models.METHODS) - gated) + 4 * gated  # two sets of images; gated: in two modes
    assert fitted["temperature"].between(0.05, 20).all()
    images, labels, _ = data.load_sample()
    (static,) = branch_outputs.load([done / "checkpoints" / "static-s0.safetensors"])
    with torch.inference_mode():
        z = static.model.predict(to_unit(images[-40:])).numpy()
    own = fitted[(fitted["method"] == "static") & (fitted["fitted_on"] == "clean")]["temperature"].item()
    assert own == pytest.approx(temperature_scaling.fit(z, labels[-40:]), rel=1e-3)
    cells = result_tables.read(done / "results" / "cells.csv")
    assert (cells["fused_t_clean_accuracy"] == cells["fused_accuracy"]).all()


@pytest.mark.slow
def test_probes_are_written_for_every_gated_method_in_both_modes(done: Path) -> None:
    e1, e2 = (result_tables.read(done / "results" / f"{name}.csv") for name in ("e1", "e2_test"))
    for frame in (e1, e2):
        assert set(zip(frame["method"], frame["mode"], strict=True)) == {
            (method, mode) for method in GATED for mode in ("reset", "settled")
        }
    assert (e1["t_eff_q25"].dropna() >= 1).all()
    assert (e1["csr_q75"].dropna() <= 1).all()
    assert set(e1["severity"]) == {0, 1, 2, 3, 4, 5}
    counts = e1.groupby(["method", "mode", "severity"])["count"].agg(lambda c: c.iloc[0] - c.iloc[1:].sum())
    assert (counts == 0).all()  # all = agree + disagree


@pytest.mark.slow
def test_again_gives_the_same_bytes_without_running_a_model(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a model ran")

    monkeypatch.setattr(branch_cache, "compute", never)
    assert run(done, "again") == 0
    for path in (done / "results").iterdir():
        assert path.read_bytes() == (done / "again" / path.name).read_bytes()


@pytest.mark.slow
def test_only_what_is_missing_is_computed(done: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    victim = next((done / "runs" / "evaluation").glob("own*/*/fog.npz"))
    before = victim.read_bytes()
    victim.unlink()
    ran: list[int] = []
    real = branch_cache.compute
    monkeypatch.setattr(branch_cache, "compute", lambda m, x: ran.append(len(m)) or real(m, x))  # type: ignore[func-returns-value]
    assert run(done, "resumed") == 0
    assert len(ran) == 5  # the severities of one corruption
    assert victim.read_bytes() == before


@pytest.mark.slow
def test_processes_share_the_units_and_leave_none(tmp_path: Path) -> None:
    images, labels, _ = data.load_sample()
    test = CellPixels(images[:4], labels[:4])
    cache = BranchCache(tmp_path, test, [branch_outputs.member(tiny_family.family()["knob-ode"], 0)])
    some = UNITS[:6]
    branch_cache.fill_all([(cache, some)], rank=0, world=2)
    assert [unit for unit in some if cache.missing(unit)] == list(some[1::2])
    branch_cache.fill_all([(cache, some)], rank=1, world=2)
    assert not any(cache.missing(unit) for unit in some)


@pytest.mark.slow
def test_official_files_are_read_and_named(tmp_path: Path) -> None:
    images, labels, _ = data.load_sample()
    corrupt.write_all(tmp_path, images[:4], labels[:4], ("fog",))
    own, official = CellPixels(images[:4], labels[:4]), CellPixels(images[:4], labels[:4], official=tmp_path)
    for mine, theirs in zip(own.render("fog"), official.render("fog"), strict=True):
        assert np.array_equal(mine, theirs)
    assert own.identity != official.identity
    with pytest.raises(ValueError, match=r"labels\.npy"):
        CellPixels(images[:4], labels[:4] + 1, official=tmp_path).render("fog")
    with pytest.raises(FileNotFoundError, match=r"lacks brightness\.npy"):
        evaluate.official(str(tmp_path))
    with pytest.raises(FileNotFoundError, match="CIFAR-10-C"):
        evaluate.official(str(tmp_path / "nowhere"))


@pytest.mark.slow
def test_other_pixels_have_another_name() -> None:
    images, labels, _ = data.load_sample()
    base = CellPixels(images[:4], labels[:4])
    others = [
        CellPixels(images[:3], labels[:3]),
        CellPixels(images[1:5], labels[1:5]),
        CellPixels(images[:4], labels[:4], 1),
    ]
    assert len({base.identity, *(other.identity for other in others)}) == 4


@pytest.mark.slow
def test_held_out_images_are_shared_out_evenly() -> None:
    images, labels, _ = data.load_sample()
    held = HeldOutPixels(images[:40], labels[:40])
    order = held.order(HELD_OUT[1])
    assert sorted(order) == list(range(40))
    (corrupted,) = held.render(HELD_OUT[1])
    changed = (corrupted != images[order]).any((1, 2, 3))
    assert changed.mean() > 0.9
    assert np.array_equal(held.render(HELD_OUT[0])[0], images[:40])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "named", "code"),
    [(["--count", "0"], "--count", 2), (["--cifar10c", "nowhere"], "CIFAR-10-C", 1)],
)
def test_bad_arguments_are_named(
    done: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], named: str, code: int
) -> None:
    assert run(done, "bad", *arguments) == code
    assert named in capsys.readouterr().err
    assert not (done / "bad").exists()


@pytest.mark.slow
def test_a_missing_result_file_says_how_to_make_it(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"x\.csv is missing; make it: python -m train\.evaluate"):
        result_tables.read(tmp_path / "x.csv", "python -m train.evaluate")
    frame = result_tables.write([{"a": 1, "b": 0.123456789}], tmp_path / "x.csv")
    assert frame.equals(pd.DataFrame({"a": [1], "b": [0.123457]}))


@pytest.mark.slow
def test_a_range_is_a_part_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pictures 250 to 259 have the pixels that they have in an evaluation of all."""
    images, labels, _ = data.load_sample()
    whole = CellPixels(images[:260], labels[:260])
    part = CellPixels(images[250:260], labels[250:260], first=250)
    for unit in ("shot_noise", "clean"):
        for a, b in zip(whole.render(unit), part.render(unit), strict=True):
            assert np.array_equal(a[250:], b)
    assert part.identity != CellPixels(images[250:260], labels[250:260]).identity
    with pytest.raises(ValueError, match="first is 100, expected a multiple of 250"):
        CellPixels(images, labels, first=100)


@pytest.mark.slow
def test_the_command_takes_a_range(done: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(done, "range", "--first", "250") == 0
    printed = capsys.readouterr().out
    assert "20 images from 250 on" in printed and "s for branch outputs" in printed
    assert result_tables.read_note(done / "range")["first_image"] == 250
    assert run(done, "bad", "--first", "100") == 2
    assert "--first is 100" in capsys.readouterr().err
    assert run(done, "bad", "--first", "1000") == 2  # the sample has no more


@pytest.mark.slow
def test_a_model_that_was_trained_on_held_out_pictures_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its temperatures were fitted on pictures that it knew, without a word."""
    path = tmp_path / "static-s0.safetensors"
    for count, code in ((39, 2), (40, 0)):  # of 40
        checkpoint.save(tiny_family.family()["static"], path, {"seed": 0, "recipe": {"validation": count}})
        places = ["--out", str(tmp_path / "out"), "--runs", str(tmp_path / "runs")]
        assert evaluate.main([str(path), "--count", "2", "--only", "fog", *places]) == code
        assert ("held out the last 39 training pictures, expected at least 40" in capsys.readouterr().err) == bool(code)


def test_errors_and_differences_belong_to_the_summary(done: Path) -> None:
    summary = result_tables.read(done / "results" / "summary.csv").set_index(["method", "scope", "output"])
    errors = result_tables.read(done / "results" / "errors.csv")
    for row in errors.itertuples():
        assert row.value == pytest.approx(summary.loc[(row.method, row.scope, row.output), row.score], abs=2e-5)
    assert (errors["error"] >= 0).all()
    differences = result_tables.read(done / "results" / "differences.csv")
    assert set(differences["method"]) == set(GATED)
    chosen = differences.query("method == 'knob-ode' and output == 'settled' and scope == '3 of 19' and seed == 'all'")
    for rival, other in (
        ("constant gate", ("knob-ode", "constant")),
        ("Static, T (clean)", ("static", "fused_t_clean")),
    ):
        row = chosen[(chosen["rival"] == rival) & (chosen["score"] == "nll")].iloc[0]
        theirs = summary.loc[(other[0], "3 of 19", other[1]), "nll"]
        assert row["difference"] == pytest.approx(
            summary.loc[("knob-ode", "3 of 19", "settled"), "nll"] - theirs, abs=2e-5
        )
        assert row["low"] <= row["difference"] <= row["high"]
    assert "Static, smoothed" not in set(differences["rival"])  # not among these models


@pytest.mark.slow
def test_plain_rivals_are_chosen_on_held_out_images(done: Path) -> None:
    """Cross-entropy is convex in a constant gate: no other constant on a grid is better on those images."""
    images, labels, _ = data.load_sample()
    held = HeldOutPixels(images[-40:], labels[-40:])
    (member,) = branch_outputs.load([done / "checkpoints" / "knob-ia-s0.safetensors"])
    found = branch_outputs.compute([member], held.render(HELD_OUT[1])[0])[member.branches]
    truth = held.labels[held.order(HELD_OUT[1])]
    loss = [
        metrics.cross_entropy(found.z_static + c * (found.z_dyn - found.z_static), truth).mean()
        for c in np.linspace(0, 1, 101)
    ]
    chosen = plain_rivals.choose(found, truth)
    assert chosen.constant == pytest.approx(np.argmin(loss) / 100, abs=0.011)
    assert chosen.better == ("dyn" if loss[-1] < loss[0] else "static")
    written = result_tables.read(done / "results" / "plain_rivals.csv").set_index("method")
    assert written.loc["knob-ia", "constant"] == pytest.approx(chosen.constant, abs=1e-3)
    z = chosen.logits(found)["constant"]
    expected = chosen.constant * found.z_dyn + (1 - chosen.constant) * found.z_static
    np.testing.assert_allclose(z, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.slow
def test_a_rival_has_a_name_of_its_own(tmp_path: Path) -> None:
    model = tiny_family.family()["static"]
    for variant in ({}, {"variant": "smoothed"}):
        checkpoint.save(model, tmp_path / f"{len(variant)}.safetensors", {"seed": 0, **variant})
    names = [member.name for member in branch_outputs.load(branch_outputs.find([tmp_path]))]
    assert names == ["static-s0", "static-smoothed-s0"]


@pytest.mark.slow
def test_e1_ranks_the_same_samples_at_every_level() -> None:
    t_eff = np.tile([1.0, 2.0, 3.0, 4.0, 5.0], (8, 1)).T + np.linspace(0, 0.1, 8)  # (5 severities, 8 pictures)
    levels = probe_tables.rank_levels(t_eff, np.arange(1.0, 6))
    assert levels["severity_medians"] == levels["cell_medians"] == pytest.approx(1)
    assert 0.9 < levels["samples"] < 1
    assert levels["samples_error"] >= 0
    shuffled = probe_tables.rank_levels(t_eff[[2, 0, 4, 1, 3]], np.arange(1.0, 6))
    assert shuffled["severity_medians"] == pytest.approx(0.3)


@pytest.mark.slow
def test_the_gate_stands_beside_p_max(done: Path) -> None:
    frame = result_tables.read(done / "results" / "e2_rivals.csv")
    assert set(frame["score"]) == {"gate", "p_max dynamic", "p_max static"}
    for _, part in frame.groupby("method"):
        auc = part.set_index("score")["auc_oa"]
        behind = part.set_index("score")["gate_less_this"]
        assert behind["p_max static"] == pytest.approx(auc["gate"] - auc["p_max static"], abs=1e-5)
