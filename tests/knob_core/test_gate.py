"""The gate against plain loops, scipy and its own theorem."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.signal import cont2discrete

from knob_core import gate
from knob_core.theory import run_paper_coordinates

CONSOLE = [(zeta, omega_n) for zeta in (0.05, 0.3, 0.7, 1.0, 3.0) for omega_n in (0.02, 0.1, 0.4, 1.0, 3.0)]
FRAMES = 300


def design_coefficients(zeta, omega_n, dt=1.0):
    """A_d and B_d exactly as the design writes them."""
    h = omega_n * dt / 2
    d = 1 + 2 * zeta * h + h * h
    a = np.array([[1 + 2 * zeta * h - h * h, 2 * h], [-2 * h, 1 - 2 * zeta * h - h * h]]) / d
    return a, 2 * h / d * np.array([h, 1.0])


def plain_loop(u_star, zeta, omega_n, dt=1.0, state=(0.0, 0.0)):
    """One stream (T,), knobs of any shape that broadcasts to (T,)."""
    knobs = [np.broadcast_to(k, u_star.shape) for k in (zeta, omega_n, dt)]
    x, us = np.array(state, float), []
    for t, target in enumerate(u_star):
        a, b = design_coefficients(*(k[t] for k in knobs))
        x = a @ x + b * target
        us.append(x[0])
    return np.array(us), x


def per_stream_loop(u_star, zeta, omega_n, dt=1.0, state=None):
    """plain_loop over all leading axes."""
    shape = np.broadcast_shapes(u_star.shape, np.shape(zeta), np.shape(omega_n), np.shape(dt))
    u_star, zeta, omega_n, dt = (np.broadcast_to(a, shape) for a in (u_star, zeta, omega_n, dt))
    state = np.zeros((*shape[:-1], 2)) if state is None else np.broadcast_to(state, (*shape[:-1], 2))
    u, end = np.empty(shape), np.empty((*shape[:-1], 2))
    for i in np.ndindex(shape[:-1]):
        u[i], end[i] = plain_loop(u_star[i], zeta[i], omega_n[i], dt[i], state[i])
    return u, end


# --- coefficients ----------------------------------------------------------------------------------------------------


@given(
    zeta=st.floats(0, 100),
    omega_n=st.floats(1e-4, 1e3),
    dt=st.floats(1e-3, 10),
)
@settings(max_examples=200, deadline=None)
def test_coefficients_are_scipys_bilinear_and_the_designs(zeta, omega_n, dt):
    a, b = gate.coefficients(zeta, omega_n, dt)
    continuous = omega_n * np.array([[0, 1], [-1, -2 * zeta]]), omega_n * np.array([[0], [1.0]])
    a_scipy, b_scipy, *_ = cont2discrete((*continuous, np.eye(2), np.zeros((2, 1))), dt, method="bilinear")
    np.testing.assert_allclose(a, a_scipy, rtol=0, atol=1e-12)
    np.testing.assert_allclose(b, b_scipy[:, 0], rtol=0, atol=1e-12)
    a_design, b_design = design_coefficients(zeta, omega_n, dt)
    np.testing.assert_allclose(a, a_design, rtol=0, atol=1e-12)
    np.testing.assert_allclose(b, b_design, rtol=0, atol=1e-12)


@pytest.mark.parametrize(("zeta", "omega_n"), CONSOLE)
def test_coefficients_are_the_papers_after_the_change_of_coordinates(zeta, omega_n):
    paper_a = np.array([[0, 1], [-(omega_n**2), -2 * zeta * omega_n]])
    paper_b = np.array([0, omega_n**2])
    inverse = np.linalg.inv(np.eye(2) - paper_a / 2)
    scale = np.diag([1, 1 / omega_n])  # [u, du/dt] -> [u, v]
    a, b = gate.coefficients(zeta, omega_n)
    np.testing.assert_allclose(a, scale @ inverse @ (np.eye(2) + paper_a / 2) @ np.linalg.inv(scale), atol=1e-12)
    np.testing.assert_allclose(b, scale @ inverse @ paper_b, atol=1e-12)


def test_coefficients_broadcast():
    a, b = gate.coefficients(np.array([[0.3], [0.7]]), np.array([0.1, 0.2, 0.4]))
    assert a.shape == (2, 3, 2, 2)
    assert b.shape == (2, 3, 2)
    one_a, one_b = gate.coefficients(0.7, 0.2)
    np.testing.assert_array_equal(a[1, 1], one_a)
    np.testing.assert_array_equal(b[1, 1], one_b)


@given(
    zeta=st.floats(1e-3, 1e2),
    omega_n=st.floats(1e-4, 1e3),
    dt=st.floats(1e-3, 1e2),
)
@settings(max_examples=500, deadline=None)
def test_poles_lie_inside_the_unit_circle(zeta, omega_n, dt):
    a, _ = gate.coefficients(zeta, omega_n, dt)
    assert np.abs(np.linalg.eigvals(a)).max() < 1


@pytest.mark.parametrize("zeta", [1e-3, 1e2])
@pytest.mark.parametrize("omega_n", [1e-4, 1e3])
@pytest.mark.parametrize("dt", [1e-3, 1e2])
def test_poles_lie_inside_the_unit_circle_in_the_corners(zeta, omega_n, dt):
    a, _ = gate.coefficients(zeta, omega_n, dt)
    assert np.abs(np.linalg.eigvals(a)).max() < 1


@pytest.mark.parametrize(("zeta", "omega_n"), CONSOLE)
def test_dc_gain_is_one(zeta, omega_n):
    a, b = gate.coefficients(zeta, omega_n)
    np.testing.assert_allclose(np.linalg.solve(np.eye(2) - a, b), [1, 0], atol=1e-12)
    settled, _ = gate.run(np.ones(40_000), zeta, omega_n)
    assert abs(settled[-1] - 1) < 1e-12


@pytest.mark.parametrize("knobs", [(0.7, 0.4), (0.1, 3.0), (np.array([[0.7]]), 1e-3), (100.0, 1e-3)])
def test_what_has_settled_stays(knobs):
    u, state = gate.run(np.full((1, 500), 3.7), *knobs, state=np.array([3.7, 0.0]))
    np.testing.assert_allclose(u, 3.7, rtol=1e-12)
    np.testing.assert_allclose(state[0], [3.7, 0], atol=1e-12)


# --- run -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("zeta", "omega_n"), [*CONSOLE, (0.0, 0.4), (50.0, 0.4), (0.7, 1e-5), (0.7, 500.0)])
def test_run_with_constant_knobs_is_a_plain_loop(zeta, omega_n):
    rng = np.random.default_rng(0)
    u_star, state = rng.normal(size=(3, FRAMES)), rng.normal(size=(3, 2))
    u, end = gate.run(u_star, zeta, omega_n, state=state)
    u_loop, end_loop = per_stream_loop(u_star, zeta, omega_n, state=state)
    np.testing.assert_allclose(u, u_loop, rtol=0, atol=1e-12)
    np.testing.assert_allclose(end, end_loop, rtol=0, atol=1e-12)


KNOB_SHAPES = {
    "per stream": ((3, 1), (3, 1), ()),
    "per frame": ((FRAMES,), (FRAMES,), ()),
    "per stream and frame": ((3, FRAMES), (3, FRAMES), ()),
    "zeta per stream, omega_n per frame": ((3, 1), (FRAMES,), ()),
    "a grid": ((2, 1, 1, 1), (4, 1, 1), ()),
    "dt per frame": ((), (), (FRAMES,)),
    "0-d arrays": ((), (), ()),
}


def draw_knobs(rng, shapes):
    ranges = ((0.0, 3.0), (0.02, 3.0), (0.5, 4.0))
    return [rng.uniform(*span, size=shape) for span, shape in zip(ranges, shapes, strict=True)]


@pytest.mark.parametrize("shapes", KNOB_SHAPES.values(), ids=KNOB_SHAPES)
def test_run_is_a_plain_loop_for_every_shape_of_knobs(shapes):
    rng = np.random.default_rng(1)
    u_star, knobs = rng.normal(size=(3, FRAMES)), draw_knobs(rng, shapes)
    u, end = gate.run(u_star, *knobs)
    u_loop, end_loop = per_stream_loop(u_star, *knobs)
    assert u.shape == u_loop.shape
    np.testing.assert_allclose(u, u_loop, rtol=0, atol=1e-12)
    np.testing.assert_allclose(end, end_loop, rtol=0, atol=1e-12)


def test_many_streams_in_pieces_are_the_same_streams_one_by_one():
    rng = np.random.default_rng(2)
    u_star, omega_n = rng.normal(size=(20_000, 6)), rng.uniform(0.02, 3, size=(20_000, 1))
    u, state = gate.run(u_star, 0.3, omega_n)
    for i in (0, 8191, 8192, 19_999):
        one, one_state = gate.run(u_star[i], 0.3, omega_n[i])
        np.testing.assert_array_equal(u[i], one)
        np.testing.assert_array_equal(state[i], one_state)


def test_axis_and_class_axis_serve_static_memory():
    z = np.random.default_rng(3).normal(size=(2, 50, 10))  # streams, frames, classes
    u, state = gate.run(z, 0.7, 0.4, axis=1)
    assert u.shape == z.shape
    assert state.shape == (2, 10, 2)
    u_last, state_last = gate.run(np.moveaxis(z, 1, -1), 0.7, 0.4)
    np.testing.assert_array_equal(u, np.moveaxis(u_last, -1, 1))
    np.testing.assert_array_equal(state, state_last)
    np.testing.assert_array_equal(gate.run(z, 0.7, 0.4, axis=-2)[0], u)


@pytest.mark.parametrize("omega_n", [0.4, np.array([[0.4]])])
def test_float32_comes_back_as_float32_computed_in_float64(omega_n):
    u_star = np.random.default_rng(4).normal(size=(1, 400)).astype(np.float32)
    u, state = gate.run(u_star, 0.3, omega_n)
    assert u.dtype == np.float32
    assert state.dtype == np.float64
    np.testing.assert_array_equal(u, gate.run(u_star.astype(np.float64), 0.3, omega_n)[0].astype(np.float32))


def test_float32_cut_continues_exactly():
    u_star = np.random.default_rng(5).normal(size=400).astype(np.float32)
    whole, _ = gate.run(u_star, 0.3, 0.4)
    head, state = gate.run(u_star[:123], 0.3, 0.4)
    tail, _ = gate.run(u_star[123:], 0.3, 0.4, state=state)
    np.testing.assert_array_equal(np.concatenate([head, tail]), whole)


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_a_cut_stream_continued_is_the_uncut_one_bit_for_bit(data):
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    frames = data.draw(st.integers(2, 60))
    cuts = sorted(data.draw(st.lists(st.integers(1, frames - 1), min_size=1, max_size=4, unique=True)))
    shapes = data.draw(
        st.sampled_from([((), (), ()), ((3, 1), (3, 1), ()), ((frames,), (3, frames), ()), ((), (frames,), ())])
    )
    u_star = rng.normal(size=(3, frames)) * 10 ** rng.uniform(-3, 3)
    zeta = 10 ** rng.uniform(-3, 2, size=shapes[0])
    omega_n = 10 ** rng.uniform(-4, 3, size=shapes[1])
    start = rng.normal(size=(3, 2))
    whole, end = gate.run(u_star, zeta, omega_n, state=start)

    def part(knob, span):
        return knob[..., span] if knob.ndim and knob.shape[-1] == frames and frames > 1 else knob

    state, parts = start, []
    for first, last in zip([0, *cuts], [*cuts, frames], strict=True):
        span = slice(first, last)
        u, state = gate.run(u_star[:, span], part(zeta, span), part(omega_n, span), state=state)
        parts.append(u)
    np.testing.assert_array_equal(np.concatenate(parts, -1), whole)
    np.testing.assert_array_equal(state, end)


def test_every_cut_of_one_stream_is_exact():
    u_star = np.random.default_rng(6).normal(size=100)
    whole, end = gate.run(u_star, 0.2, 0.7)
    for cut in range(1, 100):
        head, state = gate.run(u_star[:cut], 0.2, 0.7)
        tail, tail_end = gate.run(u_star[cut:], 0.2, 0.7, state=state)
        np.testing.assert_array_equal(np.concatenate([head, tail]), whole)
        np.testing.assert_array_equal(tail_end, end)


def test_a_state_may_be_edited_saved_and_turned():
    rng = np.random.default_rng(7)
    u_star, more = rng.normal(size=(4, 80)), rng.normal(size=(4, 80))
    _, state = gate.run(u_star, 0.2, 0.7)

    saved = np.array(state)  # plain numbers, without the filter's delays
    np.testing.assert_allclose(
        gate.run(more, 0.2, 0.7, state=saved)[0], gate.run(more, 0.2, 0.7, state=state)[0], atol=1e-12
    )

    edited = state.copy()
    edited[2] = 0.0  # one stream is put to rest: its delays no longer fit and must not be used
    u, _ = gate.run(more, 0.2, 0.7, state=edited)
    np.testing.assert_array_equal(u[2], gate.run(more[2], 0.2, 0.7)[0])
    np.testing.assert_array_equal(u[[0, 1, 3]], gate.run(more, 0.2, 0.7, state=state)[0][[0, 1, 3]])

    turned, _ = gate.run(more, 1.5, 0.1, state=state)
    np.testing.assert_allclose(turned, per_stream_loop(more, 1.5, 0.1, state=saved)[0], rtol=0, atol=1e-12)


def test_run_leaves_its_arguments_alone():
    rng = np.random.default_rng(8)
    u_star, state = rng.normal(size=(3, 20)), rng.normal(size=(3, 2))
    for zeta in (0.7, np.array([[0.7]])):
        u_before, state_before = u_star.copy(), state.copy()
        gate.run(u_star, zeta, 0.4, state=state)
        np.testing.assert_array_equal(u_star, u_before)
        np.testing.assert_array_equal(state, state_before)


def test_step_is_one_frame_of_run():
    rng = np.random.default_rng(9)
    u_star, zeta = rng.normal(size=(5, 30)), rng.uniform(0.05, 3, size=(5, 1))
    whole, end = gate.run(u_star, zeta, 0.4)
    state, us = None, []
    for t in range(30):
        u, state = gate.step(u_star[:, t], zeta[:, 0], 0.4, state=state)
        us.append(u)
    np.testing.assert_array_equal(np.stack(us, -1), whole)
    np.testing.assert_array_equal(state, end)


def test_reset_gain_is_one_step_from_rest():
    for zeta, omega_n in CONSOLE:
        h = omega_n / 2
        expected = 2 * h * h / (1 + 2 * zeta * h + h * h)
        assert gate.reset_gain(zeta, omega_n) == pytest.approx(expected, rel=1e-14)
        np.testing.assert_allclose(gate.run(np.array([3.0]), zeta, omega_n)[0], 3 * expected, rtol=1e-10)


# --- the theorem -----------------------------------------------------------------------------------------------------


def extreme_knobs(rng, streams, frames):
    """Logarithmic over six decades, with a good share of jumps between the very ends, zeta = 0 included."""
    zeta = 10 ** rng.uniform(-3, 2, size=(streams, frames))
    omega_n = 10 ** rng.uniform(-4, 3, size=(streams, frames))
    zeta = np.where(rng.random(zeta.shape) < 0.3, rng.choice([0.0, 1e-3, 1.0, 1e2], size=zeta.shape), zeta)
    omega_n = np.where(
        rng.random(omega_n.shape) < 0.3, rng.choice([1e-4, 0.02, 2.0, 3.0, 1e3], size=omega_n.shape), omega_n
    )
    return zeta, omega_n


@given(seed=st.integers(0, 2**32 - 1))
@settings(max_examples=25, deadline=None)
def test_u2_plus_v2_never_grows_under_any_knob_sequence(seed):
    """25 examples of 800 sequences of 60 frames: 20,000 sequences, 1.2 million turns."""
    rng = np.random.default_rng(seed)
    zeta, omega_n = extreme_knobs(rng, 800, 60)
    state = rng.normal(size=(800, 2))
    energy = (state**2).sum(-1)
    for t in range(60):
        _, state = gate.step(np.zeros(800), zeta[:, t], omega_n[:, t], state=state)
        new = (state**2).sum(-1)
        assert (new <= energy * (1 + 4e-15)).all()  # rounding alone; an undamped gate keeps its energy
        energy = new


def test_the_compiled_filter_keeps_the_theorem_when_the_knobs_are_turned_between_calls():
    rng = np.random.default_rng(10)
    state = rng.normal(size=(50, 2))
    energy = (state**2).sum(-1)
    for _ in range(300):
        zeta, omega_n = rng.uniform(0.02, 0.3), rng.uniform(0.05, 3)
        _, state = gate.run(np.zeros((50, 3)), zeta, omega_n, state=state)
        new = (np.asarray(state) ** 2).sum(-1)
        assert (new <= energy * (1 + 1e-12)).all()
        energy = new


def test_the_papers_coordinates_explode_under_the_same_turning():
    """Twenty hands turn both knobs at random, on the console's logarithmic scale, in every frame."""
    rng = np.random.default_rng(0)
    zeta, omega_n = rng.uniform(0.02, 0.3, size=(20, 500)), np.exp(rng.uniform(np.log(0.05), np.log(3), size=(20, 500)))
    start, silence = np.array([1.0, 0.0]), np.zeros((20, 500))
    ours, _ = gate.run(silence, zeta, omega_n, state=start)
    papers, _ = run_paper_coordinates(silence, zeta, omega_n, state=start)
    assert np.abs(ours).max() <= 1
    assert np.abs(papers).max(-1).min() > 1e6
    assert np.median(np.abs(papers[:, :275]).max(-1)) > 1e9


def test_bounded_targets_give_a_bounded_gate_over_a_million_frames():
    u_star = np.sign(np.random.default_rng(11).normal(size=1_000_000))
    u, _ = gate.run(u_star, 0.05, 2.0)
    early, late = np.abs(u[:100_000]).max(), np.abs(u[-100_000:]).max()
    assert late < 1.5 * early < 20


# --- torch -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shapes", KNOB_SHAPES.values(), ids=KNOB_SHAPES)
def test_torch_gives_the_same_numbers(shapes):
    rng = np.random.default_rng(12)
    u_star, knobs, start = rng.normal(size=(3, FRAMES)), draw_knobs(rng, shapes), rng.normal(size=(3, 2))
    u, end = gate.run(u_star, *knobs, state=start)
    u_torch, end_torch = gate.run(torch.tensor(u_star), *(torch.tensor(k) for k in knobs), state=torch.tensor(start))
    np.testing.assert_allclose(u_torch.numpy(), u, atol=1e-12)
    np.testing.assert_allclose(end_torch.numpy(), end, atol=1e-12)


def test_torch_coefficients_and_gains_are_the_same_formulas():
    zeta, omega_n = torch.tensor([0.3, 0.7], dtype=torch.float64), torch.tensor(0.4, dtype=torch.float64)
    for ours, theirs in zip(gate.coefficients(zeta, omega_n), gate.coefficients(zeta.numpy(), 0.4), strict=True):
        np.testing.assert_array_equal(ours.numpy(), theirs)
    np.testing.assert_array_equal(gate.reset_gain(zeta, omega_n).numpy(), gate.reset_gain(zeta.numpy(), 0.4))
    np.testing.assert_allclose(gate.ema_alpha(omega_n).numpy(), gate.ema_alpha(0.4), rtol=1e-15)


@pytest.mark.parametrize("shape", [(), (2, 1), (7,), (2, 7)], ids=["scalar", "per stream", "per frame", "both"])
def test_gradients_reach_the_knobs_the_input_and_the_state(shape):
    generator = torch.Generator().manual_seed(0)

    def draw(*size):
        return torch.rand(size, generator=generator, dtype=torch.float64)

    inputs = (draw(2, 7), 0.3 + draw(*shape), 0.2 + draw(*shape), draw(2, 2))
    assert torch.autograd.gradcheck(
        lambda u_star, zeta, omega_n, state: gate.run(u_star, zeta, omega_n, state=state)[0],
        tuple(x.requires_grad_() for x in inputs),
    )
    g_star, omega_n, state = draw(2, 7), 0.2 + draw(*shape), draw(2)
    assert torch.autograd.gradcheck(
        lambda g_star, omega_n, state: gate.run_ema(g_star, omega_n, state=state)[0],
        tuple(x.requires_grad_() for x in (g_star, omega_n, state)),
    )


def test_plain_numbers_serve_tensors_in_their_own_dtype():
    u_star = torch.randn(2, 5, generator=torch.Generator().manual_seed(0))
    u, state = gate.run(u_star, 0.7, 0.4, state=np.zeros((2, 2)))
    assert u.dtype == state.dtype == torch.float32
    np.testing.assert_allclose(u.numpy(), gate.run(u_star.numpy(), 0.7, 0.4)[0], atol=1e-6)
    u, _ = gate.step(u_star[:, 0], torch.nn.Parameter(torch.tensor(0.7)), 0.4)
    assert u.requires_grad


def test_a_meta_tensor_passes_through():
    u, state = gate.run(torch.empty(2, 5, device="meta"), 0.7, 0.4)
    assert u.shape == (2, 5)
    assert state.shape == (2, 2)


# --- ema -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("omega_n", [0.02, 0.4, 3.0, 1e-6, np.array([[0.1], [2.0]]), np.linspace(0.1, 2, 40)], ids=str)
def test_run_ema_is_its_recursion(omega_n):
    g_star = np.random.default_rng(13).random((2, 40))
    alpha = np.broadcast_to(1 - np.exp(-omega_n), g_star.shape)
    g, expected = np.full(2, 0.5), []
    for t in range(40):
        g = (1 - alpha[:, t]) * g + alpha[:, t] * g_star[:, t]
        expected.append(g)
    ours, end = gate.run_ema(g_star, omega_n)
    np.testing.assert_allclose(ours, np.stack(expected, -1), atol=1e-12)
    np.testing.assert_allclose(end, ours[:, -1], atol=1e-15)
    np.testing.assert_allclose(
        gate.run_ema(torch.tensor(g_star), torch.as_tensor(omega_n))[0].numpy(), ours, atol=1e-12
    )


@pytest.mark.parametrize("omega_n", [0.02, 0.4, 1e-6, np.array([[0.1], [2.0]])], ids=str)
def test_a_cut_ema_is_exact(omega_n):
    g_star = np.random.default_rng(14).random((2, 60))
    whole, end = gate.run_ema(g_star, omega_n)
    for cut in range(1, 60):
        head, state = gate.run_ema(g_star[:, :cut], omega_n)
        tail, tail_end = gate.run_ema(g_star[:, cut:], omega_n, state=state)
        np.testing.assert_array_equal(np.concatenate([head, tail], -1), whole)
        np.testing.assert_array_equal(tail_end, end)


def test_ema_starts_neutral_and_has_a_dc_gain_of_one():
    g, _ = gate.run_ema(np.full(5, 0.5), 0.4)
    np.testing.assert_allclose(g, 0.5, atol=1e-16)
    g, _ = gate.run_ema(np.ones(2000), 0.02)
    assert abs(g[-1] - 1) < 1e-12


# --- sigmoid ---------------------------------------------------------------------------------------------------------


def test_sigmoid_is_stable_and_precise():
    with np.errstate(all="raise", under="ignore"):
        np.testing.assert_array_equal(gate.sigmoid(np.array([-1e4, 0.0, 1e4])), [0, 0.5, 1])
        assert gate.sigmoid(np.float64(-700)) == pytest.approx(np.exp(-700.0), rel=1e-14)
    u = np.linspace(-30, 30, 601)
    np.testing.assert_allclose(gate.sigmoid(u), torch.sigmoid(torch.tensor(u)).numpy(), rtol=1e-14)
    assert gate.sigmoid(u.astype(np.float32)).dtype == np.float32
    assert torch.equal(gate.sigmoid(torch.tensor(u)), torch.sigmoid(torch.tensor(u)))


# --- bad input -------------------------------------------------------------------------------------------------------

GOOD = {"u_star": np.zeros((2, 5)), "zeta": 0.7, "omega_n": 0.4, "dt": 1.0, "state": None}
HOLED, ENDLESS = np.zeros((2, 5)), np.zeros((2, 5))
HOLED[1, 3], ENDLESS[0, 4] = np.nan, np.inf
BAD = {
    "NaN in a stream": ({"u_star": HOLED}, r"u_star must be finite, got nan at index \(1, 3\)"),
    "infinity in a stream": ({"u_star": ENDLESS}, r"u_star must be finite, got inf at index \(0, 4\)"),
    "integers": ({"u_star": np.zeros((2, 5), int)}, "u_star must be a real floating-point array, got dtype int64"),
    "complex": ({"u_star": np.zeros((2, 5), complex)}, "u_star must be a real floating-point array, got dtype complex"),
    "no frames": ({"u_star": np.zeros((2, 0))}, r"u_star must not be empty, got shape \(2, 0\)"),
    "no streams": ({"u_star": np.zeros((0, 5))}, r"u_star must not be empty, got shape \(0, 5\)"),
    "a number": ({"u_star": 0.5}, r"u_star must have at least 1 axes, got shape \(\)"),
    "negative zeta": ({"zeta": -0.1}, "zeta must be finite and >= 0, got -0.1"),
    "NaN zeta": ({"zeta": float("nan")}, "zeta must be finite and >= 0, got nan"),
    "infinite zeta": ({"zeta": float("inf")}, "zeta must be finite and >= 0, got inf"),
    "text": ({"zeta": "0.7"}, "zeta must be a number, finite and >= 0, got '0.7'"),
    "None": ({"zeta": None}, "zeta must be a number, finite and >= 0, got None"),
    "one bad zeta": ({"zeta": np.array([[0.7], [-1.0]])}, r"zeta must be finite and >= 0, got -1.0 at index \(1, 0\)"),
    "integer zetas": ({"zeta": np.array([[1], [2]])}, "zeta must be a real floating-point array, got dtype int64"),
    "empty zeta": ({"zeta": np.zeros((0,))}, r"zeta must not be empty, got shape \(0,\)"),
    "zero omega_n": ({"omega_n": 0.0}, "omega_n must be finite and > 0, got 0.0"),
    "negative omega_n": ({"omega_n": -3}, "omega_n must be finite and > 0, got -3.0"),
    "zero dt": ({"dt": 0}, "dt must be finite and > 0, got 0.0"),
    "negative dt": ({"dt": np.full(5, -1.0)}, r"dt must be finite and > 0, got -1.0 at index \(0,\)"),
    "wrong number of frames": (
        {"zeta": np.full(4, 0.7)},
        r"zeta must end in an axis of 1 .* or 5 .*, got shape \(4,\)",
    ),
    "wrong number of streams": ({"zeta": np.full((3, 1), 0.7)}, r"u_star \(2, 5\) and zeta \(3, 1\).* must broadcast"),
    "wrong state": ({"state": np.zeros((3, 2))}, r"state must broadcast to shape \(2, 2\), got \(3, 2\)"),
    "state of one number": ({"state": np.zeros((2, 3))}, r"state must broadcast to shape \(2, 2\), got \(2, 3\)"),
    "NaN state": ({"state": np.array([0.0, np.nan])}, r"state must be finite, got nan at index \(1,\)"),
    "integer state": ({"state": np.array([0, 1])}, "state must be a real floating-point array, got dtype int64"),
    "wrong axis": ({"axis": 2}, r"axis must lie in \[-2, 1\] for shape \(2, 5\), got 2"),
    "overflow": ({"u_star": np.full((2, 5), 1.7e308), "zeta": 0.01, "omega_n": 2.0}, "u_star must stay below 1e300"),
}


@pytest.mark.parametrize(("change", "message"), BAD.values(), ids=BAD)
def test_bad_input_is_named(change, message):
    with pytest.raises(ValueError, match=message):
        gate.run(**{**GOOD, **change})


@pytest.mark.parametrize("name", ["NaN in a stream", "infinity in a stream", "overflow"])
def test_bad_input_is_named_with_knobs_in_arrays_too(name):
    change, message = BAD[name]
    change = {"zeta": 0.7, **change}
    with pytest.raises(ValueError, match=message):
        gate.run(**{**GOOD, **change, "zeta": np.full((2, 1), change["zeta"])})


@pytest.mark.parametrize(
    "name",
    [
        "NaN in a stream",
        "infinity in a stream",
        "integers",
        "negative zeta",
        "zero omega_n",
        "wrong state",
        "wrong number of frames",
    ],
)
def test_bad_tensors_are_named(name):
    change, _ = BAD[name]
    tensors = {
        k: torch.as_tensor(v) if isinstance(v, (np.ndarray, float)) else v for k, v in {**GOOD, **change}.items()
    }
    with pytest.raises(ValueError, match=next(iter(change))):
        gate.run(**tensors)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"g_star": HOLED}, "g_star"),
        ({"omega_n": 0}, "omega_n"),
        ({"dt": -1}, "dt"),
        ({"state": np.zeros(3)}, "state"),
        ({"g_star": np.zeros((2, 5), int)}, "g_star"),
        ({"axis": -3}, "axis"),
    ],
)
def test_bad_ema_input_is_named(change, name):
    with pytest.raises(ValueError, match=f"^{name} must"):
        gate.run_ema(**{"g_star": np.zeros((2, 5)), "omega_n": 0.4, **change})


def test_a_refused_call_leaves_the_state_as_it_was():
    _, state = gate.run(np.random.default_rng(15).normal(size=(2, 30)), 0.2, 0.7)
    before, delays = np.array(state), state.zi.copy()
    with pytest.raises(ValueError, match="u_star"):
        gate.run(HOLED, 0.2, 0.7, state=state)
    np.testing.assert_array_equal(state, before)
    np.testing.assert_array_equal(state.zi, delays)


def test_plain_integers_are_knobs():
    np.testing.assert_array_equal(gate.run(np.ones(9), 1, 2)[0], gate.run(np.ones(9), 1.0, 2.0)[0])


@pytest.mark.parametrize("module", ["gate", "ema", "fusion", "metrics", "metrics.reliability", "theory"])
def test_the_mathematics_does_not_import_torch(module):
    code = f"import sys, knob_core.{module}; sys.exit(any(m in sys.modules for m in ('torch', 'streamlit', 'plotly')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
