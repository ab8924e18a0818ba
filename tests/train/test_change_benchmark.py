"""From validation streams to weights and tables, on made logits: groups add up, ablations hold, files are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from knob_core import branches, checkpoint, models
from knob_core.branches import Branches
from knob_core.rivals.attentive import AttentiveFirstOrder, AttentiveMemory
from knob_core.rivals.cusum import Cusum
from knob_core.streams import change
from knob_core.tuning.streams import Streams, of_branches
from knob_core.tuning.tune import tune
from train import change_benchmark, compare_filters, fit_memory
from train.measuring import change_tables
from train.report import filters
from train.report.result_set import Results


def made(count: int = 6, frames: int = 120, kind: str = "fast", seed: int = 0) -> Branches:
    """A model whose logits are +2.5 at the true class in noise; severity and cuts as in a real plan."""
    draw = np.random.default_rng(seed)
    plans = [change.plan(np.repeat(np.arange(4), 10), kind, frames, seed, number) for number in range(count)]
    labels, severity, segment = (np.stack([getattr(p, n) for p in plans]) for n in ("labels", "severity", "segment"))
    z = 2.5 * np.eye(4)[labels] + draw.normal(0, 1.2, (*labels.shape, 4))
    u = 1 - 0.4 * severity + draw.normal(0, 0.2, labels.shape)
    return Branches(
        z, z + draw.normal(0, 0.3, z.shape), u, labels, severity, np.stack([p.picture for p in plans]), segment
    )


@pytest.fixture(scope="module")
def streams() -> Streams:
    return of_branches(made())


def test_groups_cover_every_frame_once_and_add_up(streams: Streams) -> None:
    loaded = made()
    frames = change_tables.groups(np.array(["fog", "snow"] * 3), loaded.segment)
    for by in ("corruption", "severity"):
        parts = [chosen for (what, _), chosen in frames.items() if what == by]
        np.testing.assert_array_equal(np.sum(parts, 0), np.ones(loaded.segment.shape))
    rows = change_tables.table({"bare": streams.z}, streams, frames)
    whole = next(row for row in rows if row["by"] == change_tables.ALL)
    judged = change_tables.judge(streams.z, streams)
    assert whole["accuracy"] == pytest.approx((streams.z.argmax(-1) == streams.labels).mean())
    assert whole["excess_flips"] == pytest.approx(100 * judged.excess.sum() / streams.known.both_known.sum())
    assert whole["low"] < whole["excess_flips"] < whole["high"]
    by_corruption = [row["accuracy"] for row in rows if row["by"] == "corruption"]
    assert np.mean(by_corruption) == pytest.approx(whole["accuracy"])  # as many frames of either


def test_a_perfect_answer_has_no_excess_flips_and_no_delay(streams: Streams) -> None:
    perfect = 9.0 * np.eye(4)[streams.labels]
    row = change_tables.row(change_tables.judge(perfect, streams), streams, np.ones(streams.labels.shape, bool))
    assert (row["excess_flips"], row["delay_mean"], row["missed"], row["sure_wrong"]) == (0, 0, 0, 0)


def test_ablations_hold_what_they_take_away(streams: Streams) -> None:
    tuned = compare_filters.tune_all(streams, 3, ["without l", "without u*", "first order", "without eye"])
    assert tuned["without l"].parameters["b"] == 0
    assert tuned["without u*"].parameters["c"] == 0
    assert tuned["without eye"].parameters["eye"] == 0
    assert tuned["without l"].parameters["u_scale"] == tuned[compare_filters.OURS].parameters["u_scale"]
    assert tuned["first order"].kind is AttentiveFirstOrder


def test_so_much_damping_is_first_order() -> None:
    """After a step m comes nearer by the same share every frame, which no second order does from rest."""
    z = np.zeros((1, 30, 2))
    z[:, 0, 0] = z[:, 1:, 1] = 1.0
    m, _ = AttentiveFirstOrder(omega_n=40.0, b=0.0, c=0.0, d=0.0, eye=0.0, clip=0.0, pool=0.0).run(z)
    left = 1 - m[0, 1:, 1]
    np.testing.assert_allclose(left[1:] / left[:-1], left[1] / left[0], rtol=1e-3)
    assert 0.5 < left[1] / left[0] < 0.9


def test_weights_and_learned_knobs_by_kind(streams: Streams) -> None:
    tuned = tune(AttentiveMemory, streams, 2, fixed={"u_mean": 0.0, "u_scale": 1.0})
    found = fit_memory.fit({"mixed": streams, "slow": of_branches(made(kind="slow", seed=1))}, tuned)
    assert (found.weights.brake, found.weights.t_1, found.weights.t_2, found.weights.t_3) == (1.0, 0.0, 0.0, 0.0)
    assert 0 <= found.weights.eye <= 0.8
    labelled = fit_memory._labelled(streams, found.weights)
    assert fit_memory.later(streams, labelled, found.weights) <= fit_memory.LATER
    for learned in found.learned.values():
        assert len(learned.surface) == len(fit_memory.ZETAS) * len(fit_memory.OMEGAS)
        assert learned.nll <= min(nll for _, _, nll in learned.surface) + 1e-9


def test_the_home_setting_is_calmer_where_a_faster_knob_would_be_later(
    streams: Streams, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuned = tune(AttentiveMemory, streams, 2, fixed={"u_mean": 0.0, "u_scale": 1.0})
    rises = iter((0.0, 1.0, 1.0, 0.0))  # frames: of the first fit, then of the second one's three tries
    monkeypatch.setattr(fit_memory, "later", lambda *_: next(rises))
    prompt, calmer = (fit_memory.fit({"mixed": streams}, tuned).weights.a for _ in range(2))
    assert calmer == pytest.approx(prompt - 2 * fit_memory.LESS)


def test_a_rival_stands_at_the_delay_that_was_asked_for(streams: Streams) -> None:
    tuned = tune(Cusum, streams, 2)
    answers = {delay: change_benchmark.at_delay(tuned, delay, streams) for delay in (0.8, 4.0)}
    delays = {d: change_tables.judge(answer, streams).delay.mean() for d, answer in answers.items()}
    assert delays[0.8] < delays[4.0]


def test_files_are_read_by_kind_and_test_files_refused(tmp_path: Path) -> None:
    paths = []
    for kind in ("mixed", "slow"):
        about = {"split": "pairs", "kind": kind, "model": "knob-ode-s0"}
        paths.append(tmp_path / f"{kind}.npz")
        branches.save(made(), paths[-1], "float16", about=np.array(json.dumps(about)))
    found, model = compare_filters.read_by_kind(paths, compare_filters.CHOOSING)
    assert (list(found), model) == (["mixed", "slow"], "knob-ode-s0")
    with pytest.raises(ValueError, match="expected test here"):
        compare_filters.read_by_kind(paths, compare_filters.TESTING)


def test_a_step_that_fails_ends_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = change_benchmark.main(
        ["choose", str(tmp_path / "none-s0.safetensors"), "--work", str(tmp_path), "--ship", "x"]
    )
    assert code == 1
    assert "a step ended with code 1" in capsys.readouterr().err


@pytest.mark.slow
def test_from_checkpoint_to_tables(tmp_path: Path) -> None:
    """Streams lie there already, as they do when a command goes on; every table of the report comes out."""
    model = tmp_path / "knob-ode-s0.safetensors"
    checkpoint.save(models.build("knob-ode", width=4), model, {"recipe": {"validation": 2000}})
    work, ship, out = tmp_path / "work", tmp_path / "ship", tmp_path / "out"
    work.mkdir()
    for seed, (split, sizes) in enumerate((("pairs", change_benchmark.VALIDATION), ("test", change_benchmark.TEST))):
        for kind in sizes:
            about = json.dumps({"split": split, "kind": kind, "model": "knob-ode-s0"})
            path, loaded = work / f"{split}-{kind}-{model.stem}.npz", made(seed=seed)
            corruption = np.array(["fog", "snow"] * 3)
            branches.save(loaded, path, "float16", about=np.array(about), corruption=corruption)
    assert change_benchmark.main(
        ["choose", str(model), "--work", str(work), "--ship", str(ship), "--evaluations", "1"]
    ) == 0  # fmt: skip
    fitted = ship / model.name
    assert checkpoint.load(fitted).attentive.brake == 1.0
    assert change_benchmark.main(["measure", str(fitted), "--work", str(work), "--out", str(out)]) == 0
    results = Results(out)
    assert set(results["change_filters"]["kind"]) == {"mixed", "fast", "slow"}
    assert set(results["change_ablations"]["filter"]) == {compare_filters.OURS, *compare_filters.ABLATIONS}
    home = results["change_home"].set_index("setting")
    assert {"without Knob", "attentive memory at home", "CUSUM with reset, same delay"} <= set(home.index)
    assert home.loc["attentive memory at home", "excess_flips"] < home.loc["without Knob", "excess_flips"]
    text = "\n".join([filters.ablations(results), filters.learned(results), filters.surface(results),
                      *(filters.groups(results, "knob-ode", by) for by in ("corruption", "severity"))])  # fmt: skip
    for words in ("without u*", "first order", "fog", "fog bank", "fast, every 15", "knob-ode-s0"):
        assert words in text
