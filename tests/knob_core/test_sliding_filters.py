"""Sliding median and majority: by hand, and against scipy where the window is full."""

from __future__ import annotations

import numpy as np
from filter_examples import changing_logits
from scipy.ndimage import median_filter

from knob_core.rivals import RIVALS


def shown(name: str, votes: list[int], classes: int = 3, **parameters: float) -> list[int]:
    """The classes a filter shows for frames that vote for these."""
    z = 5.0 * (np.array(votes)[None, :, None] == np.arange(classes))
    return RIVALS[name](**parameters).run(z)[0].argmax(-1)[0].tolist()


def test_median_by_hand() -> None:
    z = np.array([[[1.0, 0], [5, 0], [2, 9], [3, 9], [0, 9]]])
    answer, _ = RIVALS["median"](window=3).run(z)
    assert answer[0].tolist() == [[1, 0], [3, 0], [2, 0], [3, 9], [2, 9]]  # the first two windows are shorter


def test_median_of_full_windows_is_scipys() -> None:
    z, _ = changing_logits()
    answer, _ = RIVALS["median"](window=7).run(z)
    expected = median_filter(z, size=(1, 7, 1), origin=(0, 3, 0))  # ends at the frame
    assert np.array_equal(answer[:, 6:], expected[:, 6:])


def test_a_window_of_one_frame_is_bare() -> None:
    z, _ = changing_logits()
    assert np.array_equal(RIVALS["median"](window=1).run(z)[0], z)
    assert np.array_equal(RIVALS["majority"](window=1).run(z)[0].argmax(-1), z.argmax(-1))


def test_majority_overrules_single_frames_and_keeps_what_it_shows_in_a_tie() -> None:
    assert shown("majority", [0, 0, 1, 0, 0, 1, 1, 1], window=3) == [0, 0, 0, 0, 0, 0, 1, 1]
    assert shown("majority", [0, 1, 0, 1, 1, 0], window=2) == [0, 0, 0, 0, 1, 1]


def test_a_tie_of_others_goes_to_the_present_frame() -> None:
    # window 4 over 0 0 1 1 2 2: 0 holds 0 0 1 1, then 0 1 1 2 gives 1; 1 holds 1 1 2 2
    assert shown("majority", [0, 0, 1, 1, 2, 2], window=4) == [0, 0, 0, 0, 1, 1]
    # window 3: 0 1 2 shows 0, then 1 2 3 has three single votes without 0: the frame says 3
    assert shown("majority", [0, 1, 2, 3], classes=4, window=3) == [0, 0, 0, 3]


def test_shares_of_votes_by_hand() -> None:
    z = np.log(np.array([[[0.5, 0.25, 0.25], [0.25, 0.5, 0.25], [0.5, 0.25, 0.25]]]))
    p = np.exp(RIVALS["majority"](window=3, prior=0.25).run(z)[0])
    # votes 2, 1, 0; half a vote for class 0, shown before; a quarter of p; a quarter for each
    n = np.array([2 + 0.5 + 0.125 + 0.25, 1 + 0.0625 + 0.25, 0.0625 + 0.25])
    assert np.allclose(p[0, 2], n / n.sum())
