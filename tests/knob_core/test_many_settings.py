"""Many settings at once: equal to the response and its measures one by one, and to the runtime frame by frame."""

from __future__ import annotations

from dataclasses import asdict, replace

import change_branches
import numpy as np
import pytest

from knob_core import methods, wrap
from knob_core._arrays import compiled
from knob_core.branches import Branches
from knob_core.maps import _lanes, _tally
from knob_core.maps.many_settings import FIELDS, LANES, ManySettings
from knob_core.measures.change import measure
from knob_core.memories import Attentive
from knob_core.response import Response, respond
from knob_core.runtime import KnobStream
from knob_core.settings import Settings

WEIGHTS = Attentive(
    a=0.25, b=2.15, c=0.98, d=0.5, tau=0.8, eps=0.0023, t_0=0.14, t_1=2.4, t_2=0.13, t_3=0.05, u_mean=0.45, u_scale=0.7,
    brake=0.4, eye=0.15, carry=0.6, clip=0.03, pool=0.4, few=0.7,
)  # fmt: skip
SETTINGS = {
    "attentive": Settings(weights=WEIGHTS),
    "attentive without brake and eye": Settings(weights=replace(WEIGHTS, brake=0.0, eye=0.0)),
    "attentive without a pool": Settings(weights=replace(WEIGHTS, pool=0.0)),
    "attentive, as shipped without a fit": Settings(),
    "attentive at a temperature": Settings(weights=WEIGHTS, temperature=1.7),
    "attentive without eye at a temperature": Settings(weights=replace(WEIGHTS, eye=0.0), temperature=0.6),
    "plain": Settings(memory="plain", temperature=1.4),
    "no memory": Settings(memory="off"),
    "reset": Settings(mode="reset"),
    "off": Settings(on=False),
}


def knobs(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Settings anywhere on the console's knobs."""
    rng = np.random.default_rng(seed)
    return np.exp(rng.uniform(*np.log([0.05, 3.0]), count)), np.exp(rng.uniform(*np.log([0.02, 3.0]), count))


def one_by_one(
    branches: Branches, settings: Settings, zeta: np.ndarray, omega_n: np.ndarray, method: str = methods.DEFAULT
) -> dict[str, np.ndarray]:
    """`respond` and `measure`, setting by setting."""
    bare = respond(branches, Settings(on=False), method)[0].predicted
    found = [
        asdict(measure(branches, respond(branches, replace(settings, zeta=z, omega_n=w), method)[0], bare))
        for z, w in zip(zeta.tolist(), omega_n.tolist(), strict=True)
    ]
    return {name: np.array([row[name] for row in found], float) for name in FIELDS}


def assert_same(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray], atol: float = 1e-9) -> None:
    assert tuple(found) == FIELDS
    for name in FIELDS:
        np.testing.assert_allclose(found[name], wanted[name], rtol=0, atol=atol, err_msg=name)


@pytest.mark.parametrize("settings", SETTINGS.values(), ids=SETTINGS)
def test_measures_equal_the_response_s(settings: Settings) -> None:
    branches = change_branches.made_up()
    zeta, omega_n = knobs(LANES + 5)  # more than one block, the second not full
    found = ManySettings(branches, settings).measure(zeta, omega_n)
    wanted = one_by_one(branches, settings, zeta, omega_n)
    assert_same(found, wanted)
    assert np.ptp(wanted["nll"]) > 1e-3 or not settings.on  # the knobs do something


@pytest.mark.parametrize("method", methods.METHODS)
@pytest.mark.parametrize("memory", ["attentive", "plain", "off"])
def test_every_method_s_gate(method: str, memory: str) -> None:
    branches, settings = change_branches.made_up(4, 40), Settings(memory=memory)
    zeta, omega_n = knobs(3, seed=1)
    found = ManySettings(branches, settings, method).measure(zeta, omega_n)
    assert_same(found, one_by_one(branches, settings, zeta, omega_n, method))


@pytest.mark.parametrize("classes", [2, 3, 40])
def test_any_number_of_classes_and_unknown_labels(classes: int) -> None:
    branches = change_branches.made_up(3, 50, classes)
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(branches.labels.shape) < 0.3, -1, branches.labels)
    labels[0] = -1  # a stream that tells nothing
    branches = replace(branches, labels=labels, content=None)
    zeta, omega_n = knobs(4, seed=2)
    assert_same(ManySettings(branches).measure(zeta, omega_n), one_by_one(branches, Settings(), zeta, omega_n))


@pytest.mark.slow
def test_streams_that_cannot_tell_give_nan() -> None:
    branches = change_branches.made_up(2, 30)
    blind = replace(branches, labels=np.full(2, -1), content=None)
    still = replace(branches, labels=np.array([1, 2]), content=None)
    first = (x[:, :1] for x in (branches.z_static, branches.z_dyn, branches.u_star))
    single = Branches(*first, np.array([1, 2]), np.zeros(1))
    zeta, omega_n = knobs(2)
    for given in (blind, still, single):
        assert_same(ManySettings(given).measure(zeta, omega_n), one_by_one(given, Settings(), zeta, omega_n))
    assert np.isnan(ManySettings(still).measure(zeta, omega_n)["delay_mean"]).all()


def test_branches_in_single_precision_agree_as_far_as_it_goes() -> None:
    branches = change_branches.made_up(dtype=np.float32)
    zeta, omega_n = knobs(6)
    assert_same(ManySettings(branches).measure(zeta, omega_n), one_by_one(branches, Settings(), zeta, omega_n))
    plain = Settings(memory="plain")
    found = ManySettings(branches, plain).measure(zeta, omega_n)
    assert_same(found, one_by_one(branches, plain, zeta, omega_n), atol=1e-5)


@pytest.mark.slow
def test_equal_to_the_runtime_frame_by_frame_at_20_settings_of_the_shipped_model() -> None:
    branches = change_branches.shipped()
    weights = KnobStream("knob-ode-s0")._source.attentive
    assert weights is not None
    bare = respond(branches, Settings(on=False))[0].predicted
    zeta, omega_n = knobs(20, seed=3)
    found = ManySettings(branches, attentive=weights).measure(zeta, omega_n)
    for place in range(20):
        chosen = Settings(zeta=float(zeta[place]), omega_n=float(omega_n[place]))
        stream = KnobStream(wrap.two_branch(attentive=weights), settings=chosen)
        frames = zip(*(np.moveaxis(x, 1, 0) for x in (branches.z_static, branches.z_dyn, branches.u_star)), strict=True)
        answers = [stream.step(frame) for frame in frames]
        p = np.stack([a.probabilities for a in answers], axis=1)
        response = Response(branches.u_star, branches.u_star, p, p.max(-1), np.stack([a.label for a in answers], 1))
        wanted = {name: np.array(x, float) for name, x in asdict(measure(branches, response, bare)).items()}
        assert_same({name: x[place] for name, x in found.items()}, wanted)


@pytest.mark.parametrize("settings", list(SETTINGS.values())[:6], ids=list(SETTINGS)[:6])
def test_machine_code_and_numpy_form_agree(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    branches = change_branches.made_up(4, 50)
    zeta, omega_n = knobs(5)
    fast = ManySettings(branches, settings).measure(zeta, omega_n)
    monkeypatch.setattr(compiled, "available", lambda: False)
    assert_same(fast, ManySettings(branches, settings).measure(zeta, omega_n))


def test_exp_and_log_are_right_to_the_last_bits() -> None:
    x = np.concatenate([np.linspace(-700, 700, 1001), [0.0, -0.0, 1e-300, -1e-20]])
    found = np.array([_lanes._exp(v) for v in x])
    np.testing.assert_allclose(found, np.exp(x), rtol=1e-15)
    assert _lanes._exp(-1e9) < 1e-300 and np.isfinite(_lanes._exp(1e9))
    y = np.geomspace(1e-300, 1e300, 1001)
    np.testing.assert_allclose([_lanes._log(v) for v in y], np.log(y), rtol=4e-16, atol=1e-16)
    near = 1 + np.linspace(-0.3, 0.4, 101)
    np.testing.assert_allclose([_lanes._log(v) for v in near], np.log(near), rtol=1e-15, atol=1e-16)


@pytest.mark.parametrize("how", ["spread", "alike", "sure", "few"])
def test_calibration_of_unsorted_confidences(how: str) -> None:
    rng = np.random.default_rng(0)
    confidence = {
        "spread": rng.uniform(0.1, 1, (4, 3000)) ** 0.2,
        "alike": rng.choice([0.5, 0.5 + 2**-53, 0.75, 1.0], (4, 3000)),
        "sure": 1 - 10 ** -rng.uniform(0, 17, (4, 3000)),
        "few": rng.uniform(0.1, 1, (4, 7)),
    }[how]
    correct = rng.random(confidence.shape) < confidence
    keys = confidence.view(np.uint64) << np.uint64(1) | correct
    wanted, found = np.empty((2, 4)), np.empty((2, 4))
    _tally.calibration_numpy(np.sort(keys, axis=-1), *wanted)
    _tally.sort_keys(keys, np.empty(keys.shape[1], np.int32))
    _tally.calibration(keys, *found)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)


def test_what_is_kept_does_not_grow_with_the_number_of_settings() -> None:
    many = ManySettings(change_branches.made_up())
    zeta, omega_n = knobs(LANES)
    many.measure(zeta, omega_n)
    first = [id(array) for array in many._own.arrays[:3]]
    many.measure(*knobs(8 * LANES))
    assert [id(array) for array in many._own.arrays[:3]] == first
    frames = many.frames
    held = sum(a.nbytes for a in many._own.arrays[:3]) + sum(a.nbytes for a in many._own.arrays[3])
    assert held < 24 * LANES * frames


def test_wrong_settings_are_refused() -> None:
    many = ManySettings(change_branches.made_up(1, 10))
    with pytest.raises(ValueError, match="zeta must be finite and >= 0, got -1"):
        many.measure(np.array([-1.0]), np.array([1.0]))
    with pytest.raises(ValueError, match="omega_n must be finite and > 0, got 0"):
        many.measure(np.array([1.0]), np.array([0.0]))
    with pytest.raises(ValueError, match="expected one"):
        many.measure(np.array([1.0, 2.0]), np.array([1.0]))
