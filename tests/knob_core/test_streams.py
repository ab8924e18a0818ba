"""A stream's pixels depend on seed, path, frame and severity, and on nothing else."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from knob_core.corruptions import NAMES
from knob_core.data import load_sample
from knob_core.data.pixels import to_bytes, to_unit
from knob_core.schedules import random_walk, step
from knob_core.seeding import MAX_SEED, generator
from knob_core.streams import BLOCK, ControlledStream

T = 2 * BLOCK + 22  # two whole blocks and a cut one


@pytest.fixture(scope="module")
def images() -> np.ndarray:
    return load_sample()[0][:3]


def collect(stream: ControlledStream, batch_size: int) -> np.ndarray:
    """All pixels by (image, realisation, frame), and a check that each came once."""
    shape = (len(stream.images), stream.realisations, stream.length)
    pixels, seen = np.zeros((*shape, 3, 32, 32), np.float32), np.zeros(shape, int)
    sizes = []
    for batch in stream.batches(batch_size):
        pixels[batch.image, batch.realisation, batch.frame] = batch.images.numpy()
        np.add.at(seen, (batch.image, batch.realisation, batch.frame), 1)
        assert (batch.severity == stream.severity[batch.frame]).all()
        sizes.append(len(batch))
    assert (seen == 1).all() and sum(sizes) == len(stream)
    assert set(sizes[:-1]) <= {batch_size} and 1 <= sizes[-1] <= batch_size
    return pixels


@pytest.mark.parametrize("name", NAMES)
def test_batch_size_changes_nothing(name: str, images: np.ndarray) -> None:
    stream = ControlledStream(images[:2], step(BLOCK + 9), name, realisations=2, seed=3)
    expected = collect(stream, 256)
    for batch_size in (7, 64, 1000):
        assert (collect(stream, batch_size) == expected).all()


@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_random_access_is_the_stream(data: st.DataObject) -> None:
    stream = ControlledStream(load_sample()[0][:2], random_walk(T, stride=0.5), "speckle_noise", realisations=2, seed=5)
    t0 = data.draw(st.integers(0, T - 1))
    t1 = data.draw(st.integers(t0 + 1, T))
    image, realisation = data.draw(st.integers(0, 1)), data.draw(st.integers(0, 1))
    expected = collect(stream, 100)[image, realisation, t0:t1]
    assert (stream.frames(t0, t1, image, realisation).numpy() == expected).all()


def test_step_by_step_is_the_stream(images: np.ndarray) -> None:
    stream = ControlledStream(images, step(T), "speckle_noise", realisations=2)
    steps = np.stack([frames.numpy() for frames in stream.steps()], axis=1)  # (paths, T, 3, 32, 32)
    assert (steps == collect(stream, 256).reshape(steps.shape)).all()


@pytest.mark.parametrize("name", NAMES)
def test_other_paths_frames_and_lengths_change_nothing(name: str, images: np.ndarray) -> None:
    severity = random_walk(T, stride=0.5)
    alone = ControlledStream(images[:1], severity[: BLOCK + 5], name, seed=11).frames(0, BLOCK + 5)
    among = ControlledStream(images, severity, name, realisations=3, seed=11).frames(0, BLOCK + 5)
    assert torch.equal(alone, among)  # more images, more realisations, a longer stream
    severity[10:] = 5 - severity[10:]
    later = ControlledStream(images, severity, name, seed=11).frames(0, 10)
    assert torch.equal(alone[:10], later)  # another course afterwards


def test_same_seed_same_pixels_and_noise_is_redrawn(images: np.ndarray) -> None:
    def stream(seed: int) -> np.ndarray:
        return collect(ControlledStream(images[:2], np.full(T, 3.0), "speckle_noise", 2, seed), 256)

    first = stream(0)
    assert (first == stream(0)).all() and not (first == stream(1)).all()
    flat = first.reshape(-1, 3 * 32 * 32)
    assert len(np.unique(flat, axis=0)) == len(flat)  # no frame of any path twice, across blocks too


def test_severity_follows_the_schedule(images: np.ndarray) -> None:
    clean = to_unit(images[:1])
    stream = ControlledStream(images[:1], step(100, low=0.0, high=4.0), "speckle_noise")
    error = (stream.frames(0, 100) - clean).square().mean(dim=(1, 2, 3))
    assert (error[:25] == 0).all() and (error[75:] == 0).all() and (error[25:75] > 1e-3).all()


def test_a_long_stream_is_not_held(images: np.ndarray) -> None:
    stream = ControlledStream(images, np.full(1_000_000, 2.0), "speckle_noise", realisations=100)  # 3.7 TB of pixels
    assert len(next(iter(stream))) == 256 and len(stream) == 300_000_000
    assert len(stream.frames(999_999, 1_000_000, image=2, realisation=99)) == 1


def test_tensors_and_bytes_are_the_same_images(images: np.ndarray) -> None:
    severity = np.full(4, 3.0)
    expected = ControlledStream(images, severity, "saturate").frames(0, 4)
    for other in (torch.from_numpy(images), to_unit(images)):
        assert torch.equal(ControlledStream(other, severity, "saturate").frames(0, 4), expected)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"corruption": "rain"}, "corruption is 'rain', expected one of"),
        ({"severity": [1.0, float("nan")]}, r"severity is nan in frame 1, expected \[0, 5\]"),
        ({"severity": [5.5]}, "severity is 5.5 in frame 0"),
        ({"severity": [-0.1]}, "severity is -0.1"),
        ({"severity": []}, r"severity has shape \(0,\)"),
        ({"severity": 3.0}, r"severity has shape \(\)"),
        ({"realisations": 0}, "realisations is 0"),
        ({"realisations": 1.5}, "realisations is 1.5"),
        ({"seed": -1}, "seed is -1, expected a whole number"),
        ({"seed": "x"}, "seed is 'x'"),
        ({"images": np.zeros((0, 3, 32, 32), np.uint8)}, "N >= 1"),
        ({"images": np.zeros((3, 32, 32), np.uint8)}, r"\(3, 32, 32\)"),
        ({"images": np.zeros((1, 3, 32, 32), np.int32)}, "int32"),
    ],
)
def test_bad_streams_are_refused_at_once(change: dict, cause: str, images: np.ndarray) -> None:
    with pytest.raises(ValueError, match=cause):
        ControlledStream(**{"images": images, "severity": [1.0], "corruption": "saturate", **change})


def test_bad_questions_are_refused(images: np.ndarray) -> None:
    stream = ControlledStream(images, step(20), "saturate", realisations=2)
    for t0, t1 in ((-1, 3), (3, 3), (5, 4), (0, 21)):
        with pytest.raises(ValueError, match="expected 0 <= t0 < t1 <= 20"):
            stream.frames(t0, t1)
    with pytest.raises(ValueError, match="image is 3, expected 0 to 2"):
        stream.frames(0, 1, image=3)
    with pytest.raises(ValueError, match="realisation is 2, expected 0 to 1"):
        stream.frames(0, 1, realisation=2)
    for batch_size in (0, 1.5, True):
        with pytest.raises(ValueError, match="batch_size"):
            stream.batches(batch_size)  # type: ignore[arg-type]


def test_generators_differ_by_every_part_of_their_name() -> None:
    names = [(0,), (1,), (0, 0), (0, 1), (0, "a"), (0, "b"), (0, "a", 1), (0, 1, "a"), (MAX_SEED,)]
    draws = [torch.rand(1, generator=generator("cpu", *name)).item() for name in names]  # type: ignore[arg-type]
    assert len(set(draws)) == len(names)
    assert draws == [torch.rand(1, generator=generator("cpu", *name)).item() for name in names]  # type: ignore[arg-type]


def test_every_byte_survives() -> None:
    levels = np.arange(256, dtype=np.uint8).reshape(1, 1, 16, 16)
    assert (to_bytes(to_unit(levels)) == levels).all()
