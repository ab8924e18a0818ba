"""The real streams that ship: the figures their README gives, and padding that nobody can take for frames."""

from __future__ import annotations

import numpy as np
import pytest

from knob_core.assets import ASSETS
from knob_core.data import real

FIGURES = {  # of the README: shape; frames, true changes, and the bare model's changes, accuracy in %, NLL
    "speech": ((13, 937, 2), 12_181, 70, 326, 83.3, 0.539),
    "audio": ((40, 978, 10), 35_885, 688, 4_831, 68.0, 1.168),
}


@pytest.mark.parametrize("name", real.NAMES)
def test_the_streams_are_those_of_their_readme(name: str) -> None:
    streams = real.load(name)
    shape, frames, changes, answers, right, nll = FIGURES[name]
    there = streams.labels >= 0
    assert streams.logits.shape == shape
    assert len(streams.classes) == shape[2]
    assert there.sum() == frames
    np.testing.assert_array_equal(np.isfinite(streams.logits).all(-1), there)
    assert not np.diff(there.astype(int), axis=1).clip(min=0).any()  # missing frames are at the end only

    both = there[:, 1:] & there[:, :-1]
    shown = np.where(there[..., None], streams.logits, 0).argmax(-1)
    assert ((np.diff(streams.labels) != 0) & both).sum() == changes
    assert ((np.diff(shown) != 0) & both).sum() == answers

    logits, labels = streams.logits[there], streams.labels[there]
    assert round(100 * (logits.argmax(-1) == labels).mean(), 1) == right
    spread = np.log(np.exp(logits - logits.max(-1, keepdims=True)).sum(-1)) + logits.max(-1)
    assert round(float((spread - logits[np.arange(len(labels)), labels]).mean()), 3) == nll


@pytest.mark.parametrize(("name", "credits"), [("speech", ("CC BY 4.0", "AMI")), ("audio", ("CC BY 3.0", "ESC-10"))])
def test_source_and_licence_go_with_the_scores(name: str, credits: tuple[str, ...]) -> None:
    readme = (ASSETS / "real" / "README.md").read_text()
    words = real.load(name).words
    assert all(each in words["licence"] and each in readme for each in credits)
    assert {"source", "model", "truth"} <= set(words)


def test_an_unknown_name_lists_those_there_are() -> None:
    with pytest.raises(ValueError, match="name is 'video', expected one of 'speech', 'audio'"):
        real.load("video")
