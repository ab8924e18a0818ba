"""Fusion: the paper's propositions, on any logits, in NumPy and torch alike."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from knob_core import fusion
from knob_core._arrays.top import top1, top2
from knob_core.metrics import log_softmax

KINDS = ("normal", "small integers", "all scales", "nearly alike", "huge")


CASE = st.tuples(st.integers(0, 2**32 - 1), st.sampled_from([2, 3, 10, 40]), st.sampled_from(KINDS))


def branches(seed, classes, kind):
    """Two branches and a gate for 100 samples: ties, agreements, 12 decades and ends of the gate included."""
    rng = np.random.default_rng(seed)
    shape = (100, classes)
    z_static, z_dyn = rng.normal(size=(2, *shape))
    if kind == "small integers":
        z_static, z_dyn = rng.integers(-2, 3, size=(2, *shape)).astype(float)
    elif kind == "all scales":
        z_static, z_dyn = (z * 10 ** rng.uniform(-8, 4, size=shape) for z in (z_static, z_dyn))
    elif kind == "nearly alike":
        z_dyn = z_static + 1e-9 * z_dyn
    elif kind == "huge":
        z_static, z_dyn = 1e6 * z_static, 1e6 * z_dyn
    g = np.where(rng.random(100) < 0.3, rng.choice([0.0, 0.5, 1.0], 100), rng.random(100))
    return z_static, z_dyn, g


# --- the bounds ------------------------------------------------------------------------------------------------------


@given(case=CASE, dtype=st.sampled_from([np.float32, np.float64]))
@settings(max_examples=200, deadline=None)
def test_temperature_is_at_least_one_and_csr_at_most_one_on_any_logits(case, dtype):
    z_static, z_dyn, g = (x.astype(dtype) for x in branches(*case))
    assert (fusion.effective_temperature(z_static, z_dyn, g) >= 1).all()
    csr = fusion.csr(z_static, z_dyn, g)
    assert (csr <= 1).all()
    assert (csr >= 0.5).all()  # both margins are >= 0, so s lies in [1/2, 1]


@given(case=CASE)
@settings(max_examples=300, deadline=None)
def test_margins_mix_exactly_along_the_fused_pair(case):
    z_static, z_dyn, g = branches(*case)
    m_static, m_dyn, m_fuse = fusion.margins(z_static, z_dyn, g)
    rounding = 1e-15 * np.abs(z_static).max()
    np.testing.assert_allclose(m_fuse, g * m_dyn + (1 - g) * m_static, atol=8 * rounding)
    z_sorted = np.sort(fusion.fuse(z_static, z_dyn, g), -1)
    np.testing.assert_allclose(m_fuse, z_sorted[:, -1] - z_sorted[:, -2], atol=8 * rounding)
    assert (m_fuse <= np.maximum(m_static, m_dyn) + rounding).all()
    assert (m_fuse >= np.minimum(m_static, m_dyn) - rounding).all()


@given(case=CASE)
@settings(max_examples=300, deadline=None)
def test_where_the_top2_is_preserved_this_is_the_papers_proposition(case):
    z_static, z_dyn, g = branches(*case)
    shared = fusion.top2_preserved(z_static, z_dyn)
    fused = fusion.diagnose(z_static, z_dyn, g)
    own_static, own_dyn = fusion.own_margin(z_static), fusion.own_margin(z_dyn)
    np.testing.assert_allclose(fused.m_static[shared], own_static[shared], rtol=1e-12)
    np.testing.assert_allclose(fused.m_dyn[shared], own_dyn[shared], rtol=1e-12)
    strict = shared & (g > 0.01) & (g < 0.99) & (np.abs(own_static - own_dyn) > 1e-6 * (own_static + own_dyn))
    assert (fused.m_fuse[strict] < np.maximum(own_static, own_dyn)[strict]).all()
    assert (fused.t_eff[strict] > 1).all()


def test_with_each_branchs_own_top2_the_claim_is_false():
    z_static, z_dyn = np.array([[10.0, 9.0, 0.0]]), np.array([[10.0, 0.0, 9.0]])
    assert fusion.own_margin(z_static) == fusion.own_margin(z_dyn) == 1
    own_fused = fusion.own_margin(fusion.fuse(z_static, z_dyn, 0.5))
    assert own_fused == 5.5  # larger than both
    assert max(fusion.own_margin(z_static), fusion.own_margin(z_dyn)) / own_fused < 1
    assert not fusion.top2_preserved(z_static, z_dyn)
    assert fusion.agreement(z_static, z_dyn)
    m_static, m_dyn, m_fuse = fusion.margins(z_static, z_dyn, 0.5)
    assert (m_static, m_dyn, m_fuse) == (1, 10, 5.5)
    assert fusion.effective_temperature(z_static, z_dyn, 0.5) == pytest.approx(10 / 5.5)


@given(case=CASE, label=st.integers(0, 1))
@settings(max_examples=60, deadline=None)
def test_cross_entropy_is_convex_in_the_gate(case, label):
    z_static, z_dyn, _ = branches(*case)
    g = np.linspace(0, 1, 41)[:, None]  # against 100 samples
    shape = (41, *z_static.shape)
    z = fusion.fuse(np.broadcast_to(z_static, shape), np.broadcast_to(z_dyn, shape), g)
    loss = -log_softmax(z)[..., label]
    assert (loss[:-2] - 2 * loss[1:-1] + loss[2:] >= -1e-14 * np.abs(z).max()).all()


# --- fuse ------------------------------------------------------------------------------------------------------------


def test_fuse_is_the_formula_and_exact_at_both_ends():
    rng = np.random.default_rng(0)
    z_static, z_dyn, g = rng.normal(size=(4, 7, 10)), rng.normal(size=(4, 7, 10)), rng.random((4, 7))
    expected = g[..., None] * z_dyn + (1 - g[..., None]) * z_static
    np.testing.assert_array_equal(fusion.fuse(z_static, z_dyn, g), expected)
    np.testing.assert_array_equal(fusion.fuse(z_static, z_dyn, 1), z_dyn)
    np.testing.assert_array_equal(fusion.fuse(z_static, z_dyn, 0.0), z_static)
    np.testing.assert_array_equal(fusion.fuse(z_static, z_dyn, g[0])[2], fusion.fuse(z_static[2], z_dyn[2], g[0]))


def test_results_have_the_logits_dtype():
    z = np.random.default_rng(1).normal(size=(5, 10)).astype(np.float32)
    fused = fusion.diagnose(z, z[::-1].copy(), np.full(5, 0.3))  # a float64 gate, as gate.run gives it
    for name in ("z_fuse", "m_static", "m_dyn", "m_fuse", "t_eff", "csr"):
        assert getattr(fused, name).dtype == np.float32, name


def test_memory_layout_does_not_matter():
    rng = np.random.default_rng(2)
    z_static, z_dyn, g = rng.normal(size=(50, 10)), rng.normal(size=(50, 10)), rng.random(50)
    plain = fusion.diagnose(z_static, z_dyn, g)
    fortran = fusion.diagnose(np.asfortranarray(z_static), np.asfortranarray(z_dyn), g)
    for name in ("z_fuse", "top", "runner_up", "m_fuse", "t_eff", "csr"):
        np.testing.assert_array_equal(getattr(plain, name), getattr(fortran, name))


@pytest.mark.parametrize("classes", [2, 10, 33, 200])
def test_top2_is_the_sorted_order(classes):
    z = np.random.default_rng(3).normal(size=(4, 9, classes))
    order = np.argsort(-z, -1)
    k, j = top2(z)
    np.testing.assert_array_equal(k, order[..., 0])
    np.testing.assert_array_equal(j, order[..., 1])
    np.testing.assert_array_equal(top1(z), order[..., 0])


@pytest.mark.parametrize("classes", [3, 40])
def test_the_lower_class_wins_a_tie(classes):
    z = np.zeros((1, classes))
    z[0, 1:3] = 7.0
    for array in (z, torch.tensor(z)):
        assert (int(top1(array)[0]), *(int(i[0]) for i in top2(array))) == (1, 1, 2)
        k, j = top2(array * 0)
        assert (int(k[0]), int(j[0])) == (0, 1)


def test_one_sample_without_a_batch_axis():
    fused = fusion.diagnose(np.array([3.0, 1.0, 0.0]), np.array([5.0, 1.0, 0.0]), 0.5)
    assert (fused.m_static, fused.m_dyn, fused.m_fuse) == (2, 4, 3)
    assert fused.t_eff == pytest.approx(4 / 3)
    assert fused.csr == pytest.approx((1 + np.exp(-4)) / (1 + np.exp(-3)))


# --- ties ------------------------------------------------------------------------------------------------------------


def test_a_fused_tie_is_infinitely_hot_unless_the_branches_tie_too():
    z_static, z_dyn = np.array([[1.0, -1.0], [2.0, 2.0]]), np.array([[-1.0, 1.0], [3.0, 3.0]])
    np.testing.assert_array_equal(fusion.effective_temperature(z_static, z_dyn, 0.5), [np.inf, 1.0])
    np.testing.assert_allclose(fusion.csr(z_static, z_dyn, 0.5), [0.5 * (1 + np.exp(-2.0)), 1.0])
    tensors = torch.tensor(z_static), torch.tensor(z_dyn)
    assert torch.equal(fusion.effective_temperature(*tensors, 0.5), torch.tensor([np.inf, 1.0], dtype=torch.float64))


# --- torch -----------------------------------------------------------------------------------------------------------


@given(case=CASE)
@settings(max_examples=60, deadline=None)
def test_torch_gives_the_same_numbers(case):
    arrays = branches(*case)
    numpy_fused = fusion.diagnose(*arrays)
    torch_fused = fusion.diagnose(*(torch.tensor(x) for x in arrays))
    for name in ("z_fuse", "top", "runner_up", "m_static", "m_dyn", "m_fuse", "t_eff", "csr"):
        np.testing.assert_allclose(
            getattr(torch_fused, name).numpy(), getattr(numpy_fused, name), rtol=1e-9, atol=1e-12
        )
    z_static, z_dyn = (torch.tensor(z) for z in arrays[:2])
    np.testing.assert_array_equal(fusion.agreement(z_static, z_dyn).numpy(), fusion.agreement(*arrays[:2]))
    np.testing.assert_array_equal(fusion.top2_preserved(z_static, z_dyn).numpy(), fusion.top2_preserved(*arrays[:2]))


def test_gradients_flow_through_fuse():
    generator = torch.Generator().manual_seed(0)
    z_static, z_dyn = (torch.randn(3, 4, generator=generator, dtype=torch.float64) for _ in range(2))
    g = torch.rand(3, generator=generator, dtype=torch.float64)
    assert torch.autograd.gradcheck(fusion.fuse, tuple(x.requires_grad_() for x in (z_static, z_dyn, g)))


# --- agreement -------------------------------------------------------------------------------------------------------


def test_agreement_and_preserved_top2():
    z_static = np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0], [3.0, 2.0, 1.0]])
    z_dyn = np.array([[9.0, 8.0, 0.0], [9.0, 0.0, 8.0], [0.0, 9.0, 8.0]])
    np.testing.assert_array_equal(fusion.agreement(z_static, z_dyn), [True, True, False])
    np.testing.assert_array_equal(fusion.top2_preserved(z_static, z_dyn), [True, False, False])


# --- bad input -------------------------------------------------------------------------------------------------------

ZERO = np.zeros((2, 3))
BAD = {
    "different shapes": (
        (ZERO, np.zeros((2, 4)), 0.5),
        r"z_static and z_dyn must have one shape, got \(2, 3\) and \(2, 4\)",
    ),
    "integers": ((ZERO.astype(int), ZERO, 0.5), "z_static must be a real floating-point array, got dtype int64"),
    "NaN": ((ZERO, np.array([[0, 0, np.nan], [0, 0, 0]]), 0.5), r"z_dyn must be finite, got nan at index \(0, 2\)"),
    "infinity": ((ZERO + np.inf, ZERO, 0.5), r"z_static must be finite, got inf at index \(0, 0\)"),
    "empty": ((np.zeros((0, 3)), np.zeros((0, 3)), 0.5), r"z_static must not be empty, got shape \(0, 3\)"),
    "gate above one": (
        (ZERO, ZERO, np.array([0.5, 1.5])),
        r"g must be finite and >= 0 and <= 1, got 1.5 at index \(1,\)",
    ),
    "gate below zero": ((ZERO, ZERO, -0.1), "g must be finite and >= 0 and <= 1, got -0.1"),
    "NaN gate": ((ZERO, ZERO, np.array([0.5, np.nan])), r"g must be finite and >= 0 and <= 1, got nan at index \(1,\)"),
    "gate of another shape": ((ZERO, ZERO, np.zeros(3)), r"g must broadcast to shape \(2,\), got \(3,\)"),
    "one class": (
        (np.zeros((2, 1)), np.zeros((2, 1)), 0.5),
        "z_static must have at least 2 classes on its last axis, got 1",
    ),
}


@pytest.mark.parametrize(("arguments", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        fusion.margins(*arguments)


@pytest.mark.parametrize("name", ["gate above one", "gate of another shape", "NaN", "different shapes"])
def test_bad_tensors_are_named(name):
    arguments, message = BAD[name]
    with pytest.raises(ValueError, match=message.split(" must")[0]):
        fusion.diagnose(*(torch.as_tensor(a) for a in arguments))


def test_one_class_has_no_margin_but_can_be_fused():
    np.testing.assert_array_equal(fusion.fuse(np.ones((2, 1)), np.zeros((2, 1)), 0.25), [[0.75], [0.75]])
    with pytest.raises(ValueError, match="z must have at least 2 classes"):
        fusion.own_margin(np.zeros((2, 1)))


def test_tensors_of_two_types_meet_in_the_wider_one():
    z = torch.randn(5, 3)
    fused = fusion.fuse(z, z.double() + 1, 0.5)
    assert fused.dtype == torch.float64
    assert np.allclose(fused.numpy(), fusion.fuse(z.numpy().astype(np.float64), z.double().numpy() + 1, 0.5))


def test_a_mask_is_not_ignored():
    masked = np.ma.array(np.zeros((2, 3)), mask=np.eye(2, 3, dtype=bool))
    with pytest.raises(ValueError, match="2 masked values, expected an array without a mask"):
        fusion.fuse(masked, np.zeros((2, 3)), 0.5)
