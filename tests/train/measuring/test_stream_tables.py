"""Stream measures: calm costs lag, and each variant does what its name says."""

from __future__ import annotations

import numpy as np
import pytest

from knob_core import gate, metrics
from knob_core.branches import Branches
from knob_core.response import respond
from knob_core.settings import Settings
from train.measuring import stream_tables


@pytest.fixture(scope="module")
def by_method() -> dict[str, Branches]:
    """A made stream: two branches in noise, a command that falls from 1.5 to -1.5 while the picture is bad."""
    rng = np.random.default_rng(0)
    t = np.arange(240)
    severity = np.where((t >= 60) & (t < 180), 5.0, 1.0)
    labels = np.arange(24) // 6
    bad = (severity > 3)[None, :, None]
    z = np.zeros((24, 240, 4))
    z[np.arange(24), :, labels] = 3.0
    z_dyn = z * np.where(bad, 0.6, 1.5) + rng.normal(0, np.where(bad, 1.6, 0.3), z.shape)
    z_static = 0.6 * z + rng.normal(0, np.where(bad, 0.8, 0.2), z.shape)
    u_star = np.where(severity > 3, -1.5, 1.5) + 0.8 * rng.normal(size=(24, 240))
    two = Branches(*(a.astype(np.float32) for a in (z_static, z_dyn, u_star)), labels, severity)
    one = Branches(two.z_static, two.z_static, np.zeros_like(two.u_star), labels, severity)
    return {"static": one, "attention": one, "knob-ia": two, "ode-lite": two, "knob-ode": two}


@pytest.fixture(scope="module")
def rows(by_method: dict[str, Branches]) -> dict[str, dict[str, float]]:
    trained = {"knob-ode": Settings(0.8, 0.6, memory=False), "ode-lite": Settings(0.7, 0.5, memory=False)}
    return {row["variant"]: row for row in stream_tables.table(by_method, trained, {})}


def test_the_gate_calms_itself_at_a_stated_lag(rows: dict[str, dict[str, float]]) -> None:
    assert rows["knob-ode"]["gate_jitter"] * 3 < rows["knob-ia"]["gate_jitter"]
    assert rows["knob-ia"]["gate_lag63"] <= 1
    assert 2 <= rows["knob-ode"]["gate_lag63"] <= 10


def test_memory_calms_the_answer(rows: dict[str, dict[str, float]]) -> None:
    assert rows["knob-ode + memory"]["flips"] * 3 < rows["knob-ia"]["flips"]
    assert rows["static + memory"]["flips"] < rows["static"]["flips"]


def test_smoothers_have_no_gate_but_an_output(rows: dict[str, dict[str, float]]) -> None:
    for name in ("knob-ia + EMA of p", "knob-ia + one-euro of p", "static + EMA of p"):
        assert np.isnan(rows[name]["gate_jitter"])
        assert np.isfinite(rows[name]["output_lag63"])
        assert rows[name]["jitter"] < rows["knob-ia"]["jitter"]


def test_smoothers_are_matched_to_the_home_setting() -> None:
    y, _ = gate.run(np.ones(60), stream_tables.HOME.zeta, stream_tables.HOME.omega_n)
    first = int(np.flatnonzero(y >= 0.63)[0])
    assert stream_tables.home_lag() == first


def test_a_cut_shows_what_memory_costs(rows: dict[str, dict[str, float]]) -> None:
    assert rows["knob-ia"]["cut_lag95"] <= 1  # frame by frame it is there at once
    assert 2 <= rows["static + memory"]["cut_lag63"] <= 8
    assert rows["static + memory"]["cut_lag63"] <= rows["static + memory"]["cut_lag95"]
    assert abs(rows["static + EMA of p"]["cut_lag63"] - stream_tables.home_lag()) <= 2


def test_a_cut_exchanges_paths_and_nothing_before_it(by_method: dict[str, Branches]) -> None:
    branches = by_method["knob-ode"]
    changed = stream_tables.cut(branches, 120)
    assert np.array_equal(changed.z_dyn[:, :120], branches.z_dyn[:, :120])
    assert np.array_equal(changed.z_dyn[0, 120:], branches.z_dyn[12, 120:])
    assert np.array_equal(changed.u_star[:, 120:], np.roll(branches.u_star, 12, 0)[:, 120:])


def test_without_a_step_there_is_no_cut(by_method: dict[str, Branches]) -> None:
    flat = {
        method: Branches(b.z_static, b.z_dyn, b.u_star, b.labels, np.full(240, 3.0)) for method, b in by_method.items()
    }
    assert np.isnan(stream_tables.row(stream_tables.gated("static", stream_tables.OFF), flat)["cut_lag63"])


def test_a_row_is_the_response_measured_after_the_first_frames(by_method: dict[str, Branches]) -> None:
    variant = stream_tables.gated("knob-ia", stream_tables.OFF)
    branches, response = variant(by_method)
    row = stream_tables.row(variant, by_method)
    p = response.probabilities[:, stream_tables.FIRST :].reshape(-1, 4)
    labels = np.repeat(branches.labels, 240 - stream_tables.FIRST)
    assert row["nll"] == pytest.approx(metrics.nll(p, labels), rel=1e-5)
    assert row["accuracy"] == pytest.approx(metrics.accuracy(p, labels))
    plain = respond(by_method["knob-ia"], stream_tables.OFF, "knob-ia")[0]
    assert np.allclose(plain.g, gate.sigmoid(by_method["knob-ia"].u_star))


def test_the_trade_off_goes_from_nervous_to_calm(by_method: dict[str, Branches]) -> None:
    rows = list(stream_tables.trade_off(by_method, {"seed": 0}))
    memory = [row for row in rows if row["family"] == "static + memory" and row["zeta"] == 1.0]
    assert [row["omega_n"] for row in memory] == list(stream_tables.OMEGAS)
    assert memory[0]["flips"] < memory[-1]["flips"]
    assert max(memory[0]["jitter"], memory[7]["jitter"]) < memory[-1]["jitter"]
    assert memory[7]["cut_lag63"] > memory[-1]["cut_lag63"]
    assert {row["family"] for row in rows} >= {"knob-ode", "knob-ia + EMA of p", "knob-ia + one-euro of p"}
