"""Moving averages, one-euro and second-order memory of logits, against other ways to compute the same."""

from __future__ import annotations

import numpy as np
from filter_examples import changing_logits
from scipy.signal import lfilter

from knob_core import gate, metrics
from knob_core.rivals import RIVALS, smoothing


def test_ema_of_logits_is_scipys_filter_from_the_first_frame() -> None:
    z, _ = changing_logits()
    omega = 0.4
    alpha = 1 - np.exp(-omega)
    start = (1 - alpha) * z[:, :1]
    expected, _ = lfilter([alpha], [1, alpha - 1], z, axis=1, zi=start)
    assert np.allclose(RIVALS["ema-logits"](omega).run(z)[0], expected)


def test_averages_of_p_are_the_smoothing_of_the_tables() -> None:
    z, _ = changing_logits()
    p = metrics.softmax(z)
    assert np.allclose(np.exp(RIVALS["ema-p"](0.4).run(z)[0]), smoothing.ema(p, 0.4))
    filter_ = RIVALS["one-euro-p"](min_cutoff=0.02, beta=0.7, d_cutoff=0.1)
    assert np.allclose(np.exp(filter_.run(z)[0]), smoothing.one_euro(p, 0.02, 0.7, 0.1))


def test_one_euro_of_logits_by_hand() -> None:
    half = 1 / (2 * np.pi)  # the cutoff at which alpha is 1/2
    z = np.array([[[0.0, 0.0], [4.0, 0.0], [4.0, 0.0]]])
    slow, _ = RIVALS["one-euro-logits"](min_cutoff=half, beta=0.0, d_cutoff=half).run(z)
    assert np.allclose(slow[0, :, 0], [0, 2, 3])
    # speed: 1/2 of 4 = 2, then 1/2 of it = 1; cutoff half (1 + speed), so alpha = 3/4, then 2/3
    fast, _ = RIVALS["one-euro-logits"](min_cutoff=half, beta=half, d_cutoff=half).run(z)
    assert np.allclose(fast[0, :, 0], [0, 3, 3 + 2 / 3])
    assert np.allclose(fast[0, :, 1], 0)


def test_second_order_memory_is_the_gate_on_every_class() -> None:
    z, _ = changing_logits()
    m, _ = RIVALS["second-order"](omega_n=0.5, zeta=0.7).run(z)
    for r, k in ((0, 0), (2, 3)):
        expected, _ = gate.run(z[r, :, k], 0.7, 0.5, state=np.array([z[r, 0, k], 0.0]))
        assert np.allclose(m[r, :, k], expected)
    assert np.allclose(m[:, 0], z[:, 0])  # at rest in the first frame


def test_very_slow_second_order_memory_has_no_filter_delays_and_goes_on_all_the_same() -> None:
    z, _ = changing_logits()
    filter_ = RIVALS["second-order"](omega_n=1e-3)
    whole, _ = filter_.run(z)
    _, state = filter_.run(z[:, :11])
    assert np.isnan(state.zi).all()
    assert np.array_equal(filter_.run(z[:, 11:], state)[0], whole[:, 11:])
