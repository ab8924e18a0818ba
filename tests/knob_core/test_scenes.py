"""Scenes under a severity schedule: the cuts are the seed's, the severity the schedule's, the noise each path's own."""

from __future__ import annotations

import numpy as np
import pytest

from knob_core.data import CLASSES, load_sample
from knob_core.library import StreamKey, film_strips, render
from knob_core.schedules import SCHEDULES
from knob_core.streams import ControlledStream, SceneStream, change, scenes

LABELS = np.arange(40) % 10
SEVERITY = SCHEDULES["step"](240)


@pytest.mark.parametrize("content", ["slow", "mixed", "fast"])
def test_content_is_the_change_stream_s_and_severity_the_schedule_s(content: str) -> None:
    plan = scenes.plan(content, LABELS, SEVERITY, seed=5)
    drawn = change.plan(LABELS, content, 240, 5)
    np.testing.assert_array_equal(plan.picture, drawn.picture)
    np.testing.assert_array_equal(plan.cuts, drawn.cuts)
    np.testing.assert_array_equal(plan.severity, SEVERITY)
    assert not plan.moving and (plan.labels == LABELS[plan.picture]).all()
    other = scenes.plan(content, LABELS, SCHEDULES["sine"](240), seed=5)
    np.testing.assert_array_equal(plan.picture, other.picture)


def test_a_list_shows_its_pictures_and_the_last_one_stays() -> None:
    listed = scenes.read_list("cat 3, 17 2;ship\n", CLASSES, len(LABELS))
    assert listed == (scenes.Scene("cat", 3), scenes.Scene(17, 2), scenes.Scene("ship", scenes.STAY))
    plan = scenes.plan("listed", LABELS, SEVERITY[:60], 0, listed, CLASSES)
    assert plan.picture.tolist() == [3] * 3 + [17] * 2 + [8] * 55
    assert plan.cuts.tolist() == [3, 5]
    again = scenes.plan("listed", LABELS, SEVERITY[:4], 0, scenes.read_list("2 1, 2 9", CLASSES, 40), CLASSES)
    assert again.cuts.tolist() == []  # the same picture again is no cut


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "0 scenes"), (" , ;", "0 scenes"), ("whale 3", "'whale'"), ("40", "from 0 to 39"), ("-1", "'-1'"),
        ("cat 0", "cat 0"), ("cat x", "cat x"), ("cat 1 2", "cat 1 2"), ("cat 99999999999", "cat 9999"),
        ("cat," * 501, "501 scenes"), ("³ 4", "'³'"),
    ],
)  # fmt: skip
def test_a_list_that_cannot_be_read_is_named(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        scenes.read_list(text, CLASSES, 40)


def test_a_class_without_a_picture_and_unknown_content_are_named() -> None:
    with pytest.raises(ValueError, match="no picture of class cat"):
        scenes.plan("listed", [0, 1], SEVERITY, 0, (scenes.Scene("cat", 3),), CLASSES)
    with pytest.raises(ValueError, match="content is 'fixed'"):
        scenes.plan("fixed", LABELS, SEVERITY)


def test_realisations_share_the_scenes_and_not_the_noise() -> None:
    images, labels, _ = load_sample()
    plan = scenes.plan("fast", labels, np.where(np.arange(80) < 40, 0.0, 4.0), 1)
    stream = SceneStream(images, plan, "gaussian_noise", 2, 1)
    a, b = (stream.frames(0, 80, 0, r).numpy() for r in range(2))
    clean = images[plan.picture] / np.float32(255)
    np.testing.assert_allclose(a[:40], clean[:40], atol=1 / 255)
    np.testing.assert_array_equal(a[:40], b[:40])
    assert np.abs(a[40:] - b[40:]).mean() > 0.05
    batches = list(stream.batches(32))
    assert sum(map(len, batches)) == len(stream) == 160
    for batch in batches:
        whole = (a, b)[batch.realisation[0]]
        np.testing.assert_array_equal(batch.images.numpy(), whole[batch.frame])
        np.testing.assert_array_equal(batch.severity, plan.severity[batch.frame])
    with pytest.raises(ValueError, match="realisation"):
        stream.frames(0, 3, 0, 2)
    with pytest.raises(ValueError, match="realisations is 0"):
        SceneStream(images, plan, "fog", 0)


def test_a_shipped_key_says_whether_its_scenes_change() -> None:
    fixed = StreamKey("knob-ode", 0, "fog", "step", 48, (5, 9), 2, 0)
    moving = StreamKey("knob-ode", 0, "fog", "step", 48, (5, 9), 2, 0, "mixed")
    assert isinstance(render(fixed), ControlledStream) and isinstance(render(moving), SceneStream)
    assert (film_strips.strips(fixed), film_strips.strips(moving)) == (2, 1)
    assert film_strips.path_of(fixed).name == "fog-step-48-0.webp"
    assert film_strips.path_of(moving).name == "fog-step-mixed-48-0.webp"
