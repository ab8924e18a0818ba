"""HMM forward filter: against products of explicit matrices, and where its answer is plain."""

from __future__ import annotations

import numpy as np
import pytest
from filter_examples import changing_logits

from knob_core import metrics
from knob_core.rivals.hmm import Hmm


@pytest.mark.parametrize("classes", [2, 5])
def test_beliefs_are_products_of_matrices(classes: int) -> None:
    z, _ = changing_logits(streams=1, frames=12, classes=classes)
    switch, temperature, outlier = 0.03, 1.7, 0.05
    stay_or_go = np.full((classes, classes), switch / (classes - 1))
    np.fill_diagonal(stay_or_go, 1 - switch)
    assert np.allclose(stay_or_go.sum(0), 1)
    joint = np.full(classes, 1 / classes)  # p(class, all frames so far), never normalised
    expected = []
    for frame in z[0]:
        seen = np.diag((1 - outlier) * metrics.softmax(frame / temperature) + outlier / classes)
        joint = seen @ stay_or_go @ joint
        expected.append(joint / joint.sum())
    answer, _ = Hmm(switch, temperature, outlier).run(z)
    assert np.allclose(np.exp(answer[0]), expected)


def test_two_frames_by_hand() -> None:
    z = np.log(np.array([[[0.8, 0.2], [0.4, 0.6]]]))
    p = np.exp(Hmm(switch=0.1, temperature=1.0, outlier=0.0).run(z)[0])
    # prior .9 * .8 + .1 * .2 = .74 and .26; times .4 and .6: .296 and .156
    assert np.allclose(p[0], [[0.8, 0.2], [0.296 / 0.452, 0.156 / 0.452]])


def test_with_even_odds_of_a_switch_two_classes_have_no_memory() -> None:
    z, _ = changing_logits(classes=2)
    p = np.exp(Hmm(switch=0.5, temperature=1.0, outlier=0.0).run(z)[0])
    assert np.allclose(p, metrics.softmax(z))


def test_agreement_adds_up_and_an_outlier_share_limits_one_frame() -> None:
    z = np.tile(np.array([1.0, 0.0]), (1, 6, 1))
    p = np.exp(Hmm(switch=1e-3, temperature=1.0).run(z)[0])[0, :, 0]
    assert (np.diff(p) > 0).all()
    surely_wrong = np.concatenate([z, [[[0.0, 50.0]]]], 1)
    trusting = np.exp(Hmm(switch=1e-9, temperature=1.0, outlier=0.0).run(surely_wrong)[0])[0, -1, 0]
    careful = np.exp(Hmm(switch=1e-9, temperature=1.0, outlier=0.1).run(surely_wrong)[0])[0, -1, 0]
    assert trusting < 1e-6
    assert careful > 0.5
