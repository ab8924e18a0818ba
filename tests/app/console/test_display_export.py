"""What is taken away is what was on the screen."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import fields, replace

import numpy as np
import pytest

from app.console.console_state import ConsoleState
from app.console.display_export import csv_text, html_text
from app.console.live_run import LiveRun
from app.console.pins import Pins
from app.console.shown_stream import ShownStream
from app.your_stream.uploaded_stream import UploadedStream
from knob_core.data import CLASSES
from knob_core.response import respond
from knob_core.settings import Settings


def test_csv_holds_the_scope(stream: ShownStream) -> None:
    settings = Settings(zeta=0.3, omega_n=0.9)
    text = csv_text(ConsoleState(settings=settings), stream)
    head, body = text.split("\n", 1)
    assert head == "# a made-up stream; ζ 0.3, ωₙ 0.9, attentive memory"
    rows = list(csv.DictReader(io.StringIO(body)))
    response, _ = respond(stream.branches, settings)
    assert len(rows) == stream.frames
    np.testing.assert_allclose([float(r["gate"]) for r in rows], np.median(response.g[6:12], 0), atol=1e-5)
    np.testing.assert_allclose(
        [float(r["confidence_q3"]) for r in rows], np.percentile(response.p_max[6:12], 75, axis=0), atol=1e-5
    )
    np.testing.assert_allclose(
        [float(r["alertness"]) for r in rows], np.median(response.omega[6:12], 0) / 0.9, rtol=1e-5
    )
    np.testing.assert_allclose([float(r["severity"]) for r in rows], stream.branches.severity, atol=1e-5)
    assert [r["truth"] for r in rows] == [CLASSES[k] for k in stream.frame_truth]
    assert [r["predicted_first_path"] for r in rows] == [CLASSES[k] for k in response.predicted[6]]


def test_the_file_has_the_visitor_s_classes_and_the_truth_of_every_frame(scenes: ShownStream) -> None:
    own = replace(scenes, names=tuple("abcdefghij"))
    rows = list(csv.DictReader(io.StringIO(csv_text(ConsoleState(), own).split("\n", 1)[1])))
    assert [r["truth"] for r in rows] == ["abcdefghij"[k] for k in scenes.branches.labels[0]]
    page = html_text(ConsoleState(pins=Pins().press(Settings(zeta=2.0))), own)
    found = [json.loads(z)[0] for z in re.findall(r'"z":\s*(\[\[[^\]]*\]\])', page)]
    assert [k + 0.5 for k in scenes.branches.labels[0].tolist()] in found  # the ribbon of the truth


def test_the_file_says_nothing_of_frames_and_severities_that_nobody_knows(stream: ShownStream) -> None:
    state = ConsoleState(live=LiveRun(due=10))
    state.live.advance(stream, state.settings)
    parts = {field.name: getattr(stream, field.name) for field in fields(stream)}
    own = UploadedStream(**{**parts, "title": "a\nb, =1+1", "names": ("=1+1",) * 10}, severity_known=False)
    head, body = csv_text(state, own).split("\n", 1)
    rows = list(csv.DictReader(io.StringIO(body)))
    assert head.startswith("# a b, '=1+1; ") and {row["severity"] for row in rows} == {"nan"}
    assert [row["share_wrong"] == "nan" for row in rows] == [frame >= 10 for frame in range(stream.frames)]
    assert {row["truth"] for row in rows} == {"'=1+1"}
    assert {row["predicted_first_path"] for row in rows} == {"'=1+1", ""}


def test_a_frame_without_a_label_is_neither_right_nor_wrong(scenes: ShownStream) -> None:
    labels = scenes.branches.frame_labels.copy()
    labels[:, :30] = -1
    half = replace(scenes, branches=replace(scenes.branches, labels=labels))
    rows = list(csv.DictReader(io.StringIO(csv_text(ConsoleState(), half).split("\n", 1)[1])))
    for column in ("share_wrong", "share_wrong_without_knob"):
        assert [row[column] == "nan" for row in rows] == [frame < 30 for frame in range(half.frames)]
    gate = np.median(half.without_knob.g[half.rows()], axis=0)
    np.testing.assert_allclose([float(row["gate_without_knob"]) for row in rows], gate, rtol=1e-5)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_html_stands_alone(stream: ShownStream, theme: str) -> None:
    page = html_text(ConsoleState(), stream, theme)
    assert page.startswith("<!doctype html>") and page.count("Plotly.newPlot") >= 2
    assert "a made-up stream" in page
    assert "<script src=" not in page and 'src="http' not in page  # plotly is inside


def test_html_has_the_wrong_frames(stream: ShownStream) -> None:
    """Plotly unpacks no array that lies inside a list."""
    page = html_text(ConsoleState(), stream)
    found = re.findall(r'"z":\s*(\[\[[^\]]*\]\])', page)
    shares = [cells for z in found if max(cells := json.loads(z)[0]) <= 1]
    ghost, apart, now = shares
    response = respond(stream.branches, Settings())[0]
    np.testing.assert_allclose(apart, (response.predicted != stream.without_knob.predicted)[6:12].mean(0), atol=1e-6)
    np.testing.assert_allclose(ghost, stream.share_wrong(stream.without_knob), atol=1e-6)
    np.testing.assert_allclose(now, stream.share_wrong(response), atol=1e-6)
