"""Stretches, cuts and which of them can be recognised, on streams small enough to count by hand."""

from __future__ import annotations

import numpy as np
import pytest

from knob_core.measures.truth import truth


def test_stretches_and_cuts_by_hand() -> None:
    labels = np.array([[0, 0, 0, 1, 1, 1], [2, 2, 2, 2, 2, 2]])
    content = np.array([[7, 7, 7, 8, 8, 8], [4, 4, 5, 5, 5, 5]])
    known = truth(labels, bare=labels, content=content)
    np.testing.assert_array_equal(known.start, [0, 3, 6, 8])
    np.testing.assert_array_equal(known.length, [3, 3, 2, 4])
    np.testing.assert_array_equal(known.stream, [0, 0, 1, 1])
    np.testing.assert_array_equal(known.changed, [False, True, False, False])
    np.testing.assert_array_equal(known.counted, [False, True, False, True])  # the start of a stream is no cut
    np.testing.assert_array_equal(known.cut_stream, [0, 1])
    np.testing.assert_array_equal(known.cut_frame, [3, 2])
    np.testing.assert_array_equal(known.cuts, [1, 1])
    np.testing.assert_array_equal(known.left, [[2, 1, 0, 2, 1, 0], [1, 0, 3, 2, 1, 0]])


def test_cuts_within_a_class_can_be_left_out_but_still_end_a_stretch() -> None:
    labels, content = np.full((1, 6), 3), np.array([[1, 1, 1, 2, 2, 2]])
    assert truth(labels, labels, content).cuts.tolist() == [1]
    strict = truth(labels, labels, content, same_class=False)
    assert strict.cuts.tolist() == [0] and strict.length.tolist() == [3, 3]
    assert truth(labels, labels).length.tolist() == [6]  # without the pictures nobody can know


@pytest.mark.parametrize(("bare", "recognised"), [([1, 1, 0, 0], 1), ([1, 0, 0, 0], 0), ([1, 1, 1, 1], 1)])
def test_half_of_a_picture_s_frames_must_be_recognised(bare: list[int], recognised: int) -> None:
    labels = np.array([[0, 0, 1, 1, 1, 1]])
    known = truth(labels, np.array([[0, 0, *bare]]))
    assert known.cuts.sum() == recognised
    assert known.changed.sum() == 1  # the class changes, whoever sees it


def test_frames_without_a_label_are_no_steps_and_a_class_that_is_another_after_them_is_a_cut() -> None:
    labels = np.array([[0, 0, -1, -1, 1, 1], [-1, 0, -1, -1, 0, 0]])
    known = truth(labels, np.array([[0, 0, 0, 1, 1, 1], [0, 0, 0, 0, 0, 0]]))
    np.testing.assert_array_equal(known.start[known.changed], [4])
    np.testing.assert_array_equal(known.counted, known.changed)  # the second stream shows one class throughout
    np.testing.assert_array_equal(known.both_known[0], [False, True, False, False, False, True])


@pytest.mark.parametrize(
    ("labels", "bare", "content"),
    [
        (np.zeros(4, int), np.zeros(4, int), None),
        (np.zeros((1, 4), int), np.zeros((1, 5), int), None),
        (np.zeros((1, 4), int), np.zeros((1, 4), int), np.zeros((2, 4), int)),
        (np.zeros((0, 4), int), np.zeros((0, 4), int), None),
    ],
)
def test_odd_shapes_are_refused(labels: np.ndarray, bare: np.ndarray, content: np.ndarray | None) -> None:
    with pytest.raises(ValueError, match=r"expected one shape \(R, T\)"):
        truth(labels, bare, content)
