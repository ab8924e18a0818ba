"""From validation streams to weights and tables, on made logits: groups add up, ablations hold, files are refused."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from knob_core import branches, checkpoint, models
from knob_core.branches import Branches
from knob_core.gates import INSTANT, SECOND_ORDER
from knob_core.memories import Frames
from knob_core.rivals.cusum import Cusum
from knob_core.streams import change
from knob_core.tuning import saved
from knob_core.tuning.streams import Streams, of_branches
from knob_core.tuning.tune import tune
from train import change_benchmark, compare_filters, fit_memory
from train.compare_filters import OURS
from train.fit_memory import Watched
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


def watched(kind: str = "fast", seed: int = 0) -> Watched:
    loaded = made(kind=kind, seed=seed)
    return Watched(Frames(loaded.z_static, loaded.z_dyn, loaded.u_star), SECOND_ORDER, of_branches(loaded))


def test_ablations_are_our_memory_without_a_part() -> None:
    one = watched()
    weights, few = fit_memory.SHARED, change_benchmark.OMEGAS[::8]
    curves = change_benchmark.our_curves(one, weights, (OURS, *change_benchmark.ABLATIONS))
    left = {
        OURS: (one, weights), "without l": (one, replace(weights, b=0.0)),
        "without f": (one, replace(weights, f=0.0)), "gate instant": (replace(one, kind=INSTANT), weights),
    }  # fmt: skip
    for name, (seen, own) in left.items():
        nll = [seen.nll(seen.answer(own, 1.0, omega_n)) for omega_n in few]
        np.testing.assert_allclose(curves[name].nll[::8].sum(-1) / one.streams.labels.size, nll, rtol=1e-6)
    for name in change_benchmark.ABLATIONS:
        assert (curves[name].nll != curves[OURS].nll).any()
    np.testing.assert_array_equal(curves["without f"].excess, curves[OURS].excess)  # the class stays


def test_so_much_damping_is_first_order() -> None:
    """After a step m comes nearer by the same share every frame, which no second order does from rest."""
    p = np.array([[[0.9, 0.1]] + [[0.2, 0.8]] * 29])
    plain = fit_memory.SHARED.plain
    slow = change_benchmark.FIRST_ORDER
    found = replace(plain, f=0.0).run_logits(np.log(p), slow, 2 * slow * 0.2).probabilities
    left = 0.8 - found[0, 1:, 1]
    np.testing.assert_allclose(left[1:] / left[:-1], left[1] / left[0], rtol=1e-3)
    assert left[1] / left[0] == pytest.approx(np.exp(-0.2), abs=0.01)


def test_weights_and_learned_knobs_by_kind() -> None:
    one = watched()
    found = fit_memory.fit({"mixed": [one], "slow": [watched("slow", 1)]})
    shared = {name: getattr(fit_memory.SHARED, name) for name in ("b", "d", "tau", "eps", "o", "s")}
    assert {name: getattr(found.weights, name) for name in shared} == shared
    for name, (low, high) in fit_memory.ANSWER.items():
        assert low <= getattr(found.weights, name) <= high
    assert one.nll(one.answer(found.weights)) <= one.nll(one.answer(replace(fit_memory.SHARED, a=found.weights.a)))
    assert set(found.learned) == {"mixed", "slow"}
    for learned in found.learned.values():
        assert len(learned.surface) == len(fit_memory.ZETAS) * len(fit_memory.OMEGAS)
        assert learned.nll <= min(nll for _, _, nll in learned.surface) + 1e-9


def test_the_memory_is_as_calm_as_right_answers_and_delay_allow() -> None:
    one = watched()
    a = fit_memory.calmest([one])
    assert fit_memory._keeps(one, replace(fit_memory.SHARED, a=a))
    assert not fit_memory._keeps(one, replace(fit_memory.SHARED, a=a - 0.01))


def test_a_rival_stands_at_the_delay_that_was_asked_for(streams: Streams) -> None:
    tuned = tune(Cusum, streams, 2)
    answers = {delay: change_benchmark.at_delay(tuned, delay, streams) for delay in (0.8, 4.0)}
    delays = {d: change_tables.judge(answer, streams).delay.mean() for d, answer in answers.items()}
    assert delays[0.8] < delays[4.0]


def test_files_of_another_split_are_refused(tmp_path: Path) -> None:
    paths = []
    for kind in ("mixed", "slow"):
        about = {"split": "pairs", "kind": kind, "model": "knob-ode-s0"}
        paths.append(tmp_path / f"{kind}.npz")
        branches.save(made(), paths[-1], "float16", about=np.array(json.dumps(about)))
    _, about = compare_filters.read(paths, compare_filters.CHOOSING)
    assert about["model"] == "knob-ode-s0"
    with pytest.raises(ValueError, match="expected test here"):
        compare_filters.read(paths, compare_filters.TESTING)


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
    for seed, (split, sizes) in enumerate((("pairs", change_benchmark.VALIDATION), ("validation", ("mixed",)),
                                          ("test", change_benchmark.TEST))):  # fmt: skip
        for kind in sizes:
            about = json.dumps({"split": split, "kind": kind, "model": "knob-ode-s0"})
            path, loaded = work / f"{split}-{kind}-{model.stem}.npz", made(seed=seed)
            corruption = np.array(["fog", "snow"] * 3)
            branches.save(loaded, path, "float16", about=np.array(about), corruption=corruption)
    assert change_benchmark.main(
        ["choose", str(model), "--work", str(work), "--ship", str(ship), "--evaluations", "1"]
    ) == 0  # fmt: skip
    fitted = ship / model.name
    assert checkpoint.load(fitted).attentive.b == fit_memory.SHARED.b
    assert change_benchmark.main(["measure", str(fitted), "--work", str(work), "--out", str(out)]) == 0
    results = Results(out)
    assert set(results["change_filters"]["kind"]) == {"mixed", "fast", "slow"}
    assert set(results["change_ablations"]["filter"]) == {OURS, *change_benchmark.ABLATIONS}
    home = results["change_home"].set_index("setting")
    assert {"without Knob", "attentive memory at home", "CUSUM with reset, same delay", "plain memory at home"} <= set(
        home.index
    )
    assert home.loc["attentive memory at home", "excess_flips"] < home.loc["without Knob", "excess_flips"]
    text = "\n".join([filters.ablations(results), filters.learned(results), filters.surface(results),
                      *(filters.groups(results, "knob-ode", by) for by in ("corruption", "severity"))])  # fmt: skip
    for words in ("without l", "first order", "fog", "fog bank", "fast, every 15", "knob-ode-s0"):
        assert words in text


def test_tuned_filters_that_ship_stand_in_where_none_were_chosen(tmp_path: Path) -> None:
    model = Path("knob-ode-s0.safetensors")
    assert change_benchmark.tuned_file(model, tmp_path) == change_benchmark.SHIPPED / "knob-ode-s0.json"
    own = tmp_path / "tuned-knob-ode-s0.json"
    own.write_text("{}")
    assert change_benchmark.tuned_file(model, tmp_path) == own
    for path in change_benchmark.SHIPPED.glob("*.json"):
        assert {"hmm", "cusum", "change-point"} <= saved.load(path, compare_filters.KINDS).keys()
