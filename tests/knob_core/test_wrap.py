"""Your own model behind a knob: two branches, one classifier, or bare logits; and the fit on a small labelled set."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from knob_core import checkpoint, theory, wrap
from knob_core.assets import ASSETS
from knob_core.data import load_sample
from knob_core.measures.stability import flips
from knob_core.response import respond
from knob_core.runtime import KnobStream
from knob_core.schedules import SCHEDULES
from knob_core.settings import Settings
from knob_core.streams import ControlledStream
from knob_core.wrap.command import FEATURES, Command, features, observe
from knob_core.wrap.fitting import OMEGAS, ZETAS, _Streams, fit, lag


def noisy(seed: int = 0, paths: int = 12, frames: int = 120, classes: int = 5, noise: float = 2.0):
    """Logits of a classifier that is mostly right and flickers; labels (R,)."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, paths)
    z = rng.normal(0, noise, (paths, frames, classes))
    z += 3.0 * np.eye(classes)[labels][:, None]
    return z, labels


class Net(torch.nn.Module):
    """A torchvision-style classifier: images in, logits out."""

    def __init__(self, classes: int = 6) -> None:
        super().__init__()
        self.features = torch.nn.Conv2d(3, 4, 3)
        self.dropout = torch.nn.Dropout(0.5)
        self.fc = torch.nn.Linear(4, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.fc(self.dropout(self.features(x).mean((2, 3))))


@pytest.mark.parametrize("classes", [2, 5, 1000])
def test_logits_and_the_batch_agree_for_any_number_of_classes(classes):
    z, _ = noisy(classes=classes, paths=3, frames=30)
    chosen = Settings(zeta=0.5, omega_n=0.6)
    wanted, _ = respond(wrap.branches_of(z), chosen)
    stream = KnobStream(wrap.classifier(), settings=chosen)
    for t in range(z.shape[1]):
        answer = stream.step(z[:, t])
        np.testing.assert_allclose(answer.probabilities, wanted.probabilities[:, t], atol=1e-6)
        np.testing.assert_allclose(answer.g, wanted.g[:, t], atol=1e-6)


def test_a_module_a_function_and_its_logits_are_one():
    torch.manual_seed(0)
    net, images = Net(), torch.rand(8, 2, 3, 9, 9)
    module, bare = KnobStream(wrap.classifier(net)), KnobStream(wrap.classifier())
    function = KnobStream(wrap.classifier(lambda x: net(torch.from_numpy(x).float()).numpy(force=True)))
    for x in images:
        a, b = module.step(x), function.step(x.numpy())
        with torch.no_grad():
            c = bare.step(net(x))
        np.testing.assert_allclose(a.probabilities, b.probabilities, atol=1e-6)
        np.testing.assert_allclose(a.probabilities, c.probabilities, atol=1e-6)
    assert not net.training  # dropout would make it another model every frame


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_a_module_takes_frames_of_any_precision(kind):
    torch.manual_seed(0)
    net, images = Net(), np.random.default_rng(0).random((2, 3, 9, 9))
    wanted = KnobStream(wrap.classifier(net)).step(torch.from_numpy(images).float())
    got = KnobStream(wrap.classifier(net)).step(images.astype(kind))
    np.testing.assert_allclose(got.probabilities, wanted.probabilities, atol=1e-3)


def test_a_torchvision_model_is_wrapped_as_it_is():
    from knob_core._torchvision import torchvision

    torch.manual_seed(0)
    net, frames = torchvision.models.mobilenet_v3_small(num_classes=100), torch.rand(4, 2, 3, 64, 64)
    stream = KnobStream(wrap.classifier(net))
    for x in frames:
        answer = stream.step(x)
    assert answer.probabilities.shape == (2, 100) and not answer.missing.any()
    single = KnobStream(wrap.classifier(net)).step(frames[0, 0])
    assert 0 <= single.label < 100 and isinstance(single.p_max, float)


def test_a_nan_picture_never_reaches_the_model():
    seen = []

    def model(x):
        seen.append(x)
        return x.reshape(len(x), -1)[:, :3]

    images = np.random.default_rng(0).random((2, 3, 4, 4))
    stream = KnobStream(wrap.classifier(model))
    stream.step(images)
    images[1, 0, 0, 0] = np.inf
    assert stream.step(images).missing.tolist() == [False, True]
    assert np.isfinite(seen[-1]).all()


def test_two_branches_with_their_own_command_or_ours():
    rng = np.random.default_rng(0)
    z_static, z_dyn = rng.normal(0, 2, (2, 4, 7))
    own = KnobStream(wrap.two_branch(), settings=Settings(omega_n=2.0, memory="plain")).step(
        (z_static, z_dyn, np.full(4, 9.0))
    )
    assert (own.g > 0.9).all()
    ours = KnobStream(wrap.two_branch(command=Command())).step((z_static, z_dyn))
    np.testing.assert_allclose(ours.u_star, Command()(z_static, z_dyn))
    one = KnobStream(wrap.two_branch()).step((z_static[0], z_dyn[0], np.float64(9.0)))
    np.testing.assert_array_equal(
        one.probabilities,
        KnobStream(wrap.two_branch()).step((z_static[:1], z_dyn[:1], np.full(1, 9.0))).probabilities[0],
    )


@pytest.mark.parametrize(
    ("source", "frames", "cause"),
    [
        (wrap.two_branch(), (np.zeros((1, 3)), np.zeros((1, 3))), "no u_star"),
        (wrap.two_branch(command=Command()), (np.zeros((1, 3)),) * 2 + (np.zeros(1),), "no command"),
        (wrap.two_branch(), (np.zeros((1, 3)), np.zeros((1, 4)), np.zeros(1)), "one shape"),
        (wrap.two_branch(), (np.zeros((2, 3)), np.zeros((2, 3)), np.zeros(1)), "u_star"),
        (wrap.two_branch(), np.zeros((2, 3)), "z_static"),
        (wrap.classifier(), np.zeros((2, 1)), "K >= 2"),
        (wrap.classifier(lambda x: x), np.zeros((2, 3, 4, 4)), "K >= 2"),
    ],
)
def test_wrong_outputs_are_named(source, frames, cause):
    with pytest.raises(ValueError, match=cause):
        KnobStream(source).step(frames)


def test_wrong_arguments_are_named():
    with pytest.raises(ValueError, match="model"):
        wrap.classifier("resnet18")
    with pytest.raises(ValueError, match="weights"):
        Command(weights=(1.0, 2.0))
    with pytest.raises(ValueError, match="omega_n"):
        Command(omega_n=0.0)
    with pytest.raises(ValueError, match=r"\(R, T, K\)"):
        wrap.branches_of(np.zeros((3, 4)))


@given(st.integers(0, 1000), st.integers(2, 50), st.floats(0, 30))
def test_features_are_of_order_one_and_zero_when_nothing_differs(seed, classes, size):
    z_seen, z_now = np.random.default_rng(seed).normal(0, size, (2, 4, classes))
    f = features(z_seen, z_now)
    assert f.shape == (4, len(FEATURES)) and (f >= -1e-12).all() and (f <= 1 + 1e-12).all()
    np.testing.assert_allclose(features(z_now, z_now)[:, 3], 0, atol=1e-12)


def test_the_command_does_not_hear_the_operators_knobs():
    z, _ = noisy(paths=2, frames=20)
    said = []
    for zeta, omega_n in ((0.1, 2.0), (2.0, 0.05)):
        stream = KnobStream(wrap.classifier(), zeta, omega_n)
        said.append(np.stack([stream.step(z[:, t]).u_star for t in range(20)]))
    np.testing.assert_array_equal(*said)


def test_a_flickering_classifier_becomes_calm_and_better():
    z, labels = noisy()
    answer, _ = respond(wrap.branches_of(z), Settings())
    assert flips(z.argmax(-1)) >= 3 * flips(answer.predicted)
    assert (answer.predicted == labels[:, None]).mean() > (z.argmax(-1) == labels[:, None]).mean()


def test_a_real_classifier_flips_three_times_less_on_the_spike_stream():
    """The shipped static model as anybody's classifier; at a lag of four frames. `make bench` has the whole table."""
    path = ASSETS / "checkpoints" / "static-s0.safetensors"
    if not path.is_file():
        pytest.skip("needs the shipped static checkpoint: train it with `python -m train.fit`, then `train.ship`")
    model = checkpoint.load(path)
    images, labels, _ = load_sample()
    stream = ControlledStream(images[:8], SCHEDULES["spikes"](150), "shot_noise")
    with torch.inference_mode():
        z = np.stack([model.predict(frame).double().numpy() for frame in stream.steps()], 1)  # (R, T, K)
    answer, _ = respond(wrap.branches_of(z), Settings())
    assert flips(z.argmax(-1)) >= 3 * flips(answer.predicted) and lag(0.7, 0.4) <= 5
    assert (answer.predicted == labels[:8, None]).mean() >= (z.argmax(-1) == labels[:8, None]).mean()


# The fit


def test_the_gradient_is_the_slope():
    z, labels = noisy(paths=3, frames=20)
    inputs = features(observe(z, Command()), z)
    target = np.broadcast_to(labels[:, None], z.shape[:2])
    streams, w = _Streams(z, z, inputs, target, 0.7, 0.4), np.array([0.3, -1.0, 0.5, -2.0])
    _, gradient = streams.nll(w)
    numeric = [(streams.nll(w + d)[0] - streams.nll(w - d)[0]) / 2e-6 for d in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(gradient, numeric, atol=1e-7)


def test_the_fit_says_what_the_runtime_does():
    z, labels = noisy()
    found = fit(z, None, labels)
    stream = KnobStream(wrap.classifier(command=found.command, knobs=found.knobs))
    assert (stream.zeta, stream.omega_n) == found.knobs
    answers = [stream.step(z[:, t]) for t in range(z.shape[1])]
    predicted = np.stack([a.label for a in answers], 1)
    p = np.stack([a.probabilities for a in answers], 1)
    assert flips(predicted) == pytest.approx(found.flips)
    assert -np.log(np.take_along_axis(p, labels[:, None, None], 2)).mean() == pytest.approx(found.nll)


def test_the_fit_helps_on_streams_it_has_not_seen():
    z, labels = noisy(0)
    found = fit(z, None, labels, max_lag=5)
    assert found.nll < found.nll_before and found.lag <= 5
    other, their_labels = noisy(1)
    answer, _ = respond(wrap.branches_of(other, found.command), Settings(zeta=found.zeta, omega_n=found.omega_n))
    assert flips(other.argmax(-1)) >= 3 * flips(answer.predicted)
    assert (answer.predicted == their_labels[:, None]).mean() > (other.argmax(-1) == their_labels[:, None]).mean()


def test_labels_that_change_often_ask_for_faster_knobs():
    rng = np.random.default_rng(0)
    labels = np.repeat(rng.integers(0, 4, (8, 24)), 5, axis=1)  # a new scene every five frames
    z = rng.normal(0, 1.5, (8, 120, 4)) + 4.0 * np.eye(4)[labels]
    restless = fit(z, None, labels, max_lag=20)
    still_z, still_labels = noisy(classes=4)
    assert restless.lag < fit(still_z, None, still_labels, max_lag=20).lag


def test_a_dynamic_branch_that_knows_better_is_let_through():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 4, 10)
    truth = 3.0 * np.eye(4)[labels][:, None] + rng.normal(0, 0.3, (10, 60, 4))
    useless = rng.normal(0, 1, (10, 60, 4))
    open_, shut = fit(useless, truth, labels), fit(truth, useless, labels)
    gates = [
        c.command(observe(s, c.command), d).mean() for c, s, d in ((open_, useless, truth), (shut, truth, useless))
    ]
    assert gates[0] > 0.5 and gates[1] < -0.5


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(ZETAS), st.sampled_from(OMEGAS))
def test_lag_is_the_measured_one(zeta, omega_n):
    stream = KnobStream(wrap.two_branch(), zeta, omega_n)
    zero, one = np.zeros(2), np.array([1.0, 0.0])
    stream.step((zero, zero, np.float64(0)))
    frames = 0
    while stream.step((one, one, np.float64(0))) and stream.state_dict()["memory"][0, 0, 0] < 0.63:
        frames += 1
    assert lag(zeta, omega_n) == frames


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"z_static": np.zeros((3, 4))}, r"\(R, T, K\)"),
        ({"z_dyn": np.zeros((2, 5, 4))}, "one shape"),
        ({"labels": np.array([0, 9])}, "labels"),
        ({"labels": np.array([0.0, 1.0])}, "labels"),
        ({"labels": np.array([0, 1, 2])}, "labels"),
        ({"max_lag": -1.0}, "max_lag"),
        ({"z_static": np.full((2, 5, 3), np.nan)}, "finite"),
    ],
)
def test_a_fit_on_nonsense_is_refused(change, cause):
    good = {"z_static": np.random.default_rng(0).normal(0, 1, (2, 5, 3)), "z_dyn": None, "labels": np.array([0, 1])}
    fit(**good)
    with pytest.raises(ValueError, match=cause):
        fit(**{**good, **change})


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: wrap.classifier(knobs=(0.7,)), r"knobs is \(0\.7,\), expected \(zeta, omega_n\)"),
        (lambda: KnobStream(wrap.two_branch()).step(()), "two branches gave a tuple"),
        (lambda: wrap.branches_of(np.zeros((2, 0, 3))), r"shape \(2, 0, 3\)"),
        (lambda: wrap.branches_of(np.array([[[0.0, np.nan]]])), "logits must be finite"),
        (lambda: theory.regime(np.array([0.5, 2.0])), r"zeta must be one number, got shape \(2,\)"),
        (lambda: KnobStream(wrap.classifier()).load_state_dict({"version": np.array("x")}), "version x, expected"),
    ],
)
def test_what_cannot_be_used_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()
