"""Settings in words: one meaning of critical damping on every page, and theory's numbers for every method."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from app.console.setting_words import acting_gate, damping, describe, regime, theoretical_step
from app.results import learning_curves
from knob_core import gates, theory
from knob_core.memories import UNFITTED
from knob_core.methods import METHODS
from knob_core.settings import Settings


@pytest.mark.parametrize(
    ("zeta", "zone", "words"),
    [(0.94, "under", "under-damped"), (0.98, "critical", "critically damped"), (1.05, "critical", "critically damped"),
     (1.06, "over", "over-damped")],
)  # fmt: skip
def test_console_lessons_and_learning_agree_on_the_damping(zeta: float, zone: str, words: str) -> None:
    assert regime(Settings(zeta=zeta), "knob-ode")[0] == damping(zeta, 0.4) == zone
    rows = pd.DataFrame({"epoch": [0, 1], "seed": [0, 0], "zeta": [0.5, zeta], "omega_n": [0.4, 0.4]})
    (sentence,) = learning_curves.reading(rows, "all")
    assert f"({words})" in sentence


@pytest.mark.parametrize("method", METHODS)
def test_off_and_reset_leave_no_inertia(method: str) -> None:
    for settings in (Settings(on=False), Settings(mode="reset")):
        assert not acting_gate(settings, method).inertia
    assert acting_gate(Settings(), method) is METHODS[method].gate


def test_the_theoretical_step_is_the_gate_s() -> None:
    step, info = theoretical_step(Settings(zeta=0.3, omega_n=0.5), "knob-ode", 40)
    np.testing.assert_array_equal(step, theory.step_response(0.3, 0.5, 40))
    assert info == theory.step_info(theory.step_response(0.3, 0.5, gates.THEORY_FRAMES), final=1.0)
    step, _ = theoretical_step(Settings(on=False), "knob-ode", 40)
    np.testing.assert_array_equal(step, np.ones(40))
    assert np.isnan(theoretical_step(Settings(), "static", 40)[0]).all()


def test_a_setting_in_a_few_characters() -> None:
    assert describe(Settings()) == "ζ 1, ωₙ 0.4, attentive memory"
    assert describe(Settings(on=False)) == "off (without Knob)"
    assert describe(Settings(mode="reset")) == "ζ 1, ωₙ 0.4, reset"


def test_fitted_weights_are_named_where_they_act() -> None:
    fitted = Settings(weights=replace(UNFITTED, a=UNFITTED.a - 1))
    assert describe(fitted) == "ζ 1, ωₙ 0.4, attentive memory, fitted weights"
    for idle in ({"memory": "plain"}, {"memory": "off"}, {"mode": "reset"}, {"on": False}):
        assert "weights" not in describe(replace(fitted, **idle))
