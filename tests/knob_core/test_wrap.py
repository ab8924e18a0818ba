"""Your own model behind a knob: two branches, one classifier, or bare logits; and the fit on a small labelled set."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from knob_core import checkpoint, theory, wrap
from knob_core.assets import ASSETS
from knob_core.data import load_sample
from knob_core.fitting import fit
from knob_core.measures.stability import flips
from knob_core.memories import Attentive
from knob_core.response import respond
from knob_core.runtime import KnobStream
from knob_core.schedules import SCHEDULES
from knob_core.settings import Settings
from knob_core.streams import ControlledStream
from knob_core.wrap.probabilities import ProbabilitiesWarning


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
    wanted, _ = respond(wrap.branches_of(z), chosen, wrap.classifier().method)
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


def test_two_branches_give_their_own_command():
    rng = np.random.default_rng(0)
    z_static, z_dyn = rng.normal(0, 2, (2, 4, 7))
    own = KnobStream(wrap.two_branch(), settings=Settings(omega_n=2.0, memory="plain")).step(
        (z_static, z_dyn, np.full(4, 9.0))
    )
    assert (own.g > 0.9).all()
    one = KnobStream(wrap.two_branch()).step((z_static[0], z_dyn[0], np.float64(9.0)))
    np.testing.assert_array_equal(
        one.probabilities,
        KnobStream(wrap.two_branch()).step((z_static[:1], z_dyn[:1], np.full(1, 9.0))).probabilities[0],
    )


@pytest.mark.parametrize(
    ("source", "frames", "cause"),
    [
        (wrap.two_branch(), (np.zeros((1, 3)), np.zeros((1, 3))), r"2 arrays, expected \(z_static, z_dyn, u_star\)"),
        (wrap.two_branch(), (np.zeros((1, 3)),) * 4, "4 arrays, expected"),
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
    with pytest.raises(ValueError, match=r"\(R, T, K\)"):
        wrap.branches_of(np.zeros((3, 4)))


def test_a_single_classifier_has_no_gate():
    z, _ = noisy(paths=2, frames=20)
    stream = KnobStream(wrap.classifier())
    for t in range(20):
        answer = stream.step(z[:, t])
        assert not answer.g.any() and not answer.u.any() and not answer.u_star.any()
        np.testing.assert_array_equal(answer.t_eff, 1.0)


def test_a_flickering_classifier_becomes_calm_and_better():
    z, labels = noisy()
    answer, _ = respond(wrap.branches_of(z), Settings(omega_n=0.05))
    assert flips(z.argmax(-1)) >= 3 * flips(answer.predicted)
    assert (answer.predicted == labels[:, None]).mean() > (z.argmax(-1) == labels[:, None]).mean()


def test_a_real_classifier_flips_three_times_less_on_the_spike_stream():
    """The shipped static model as anybody's classifier; with its own weights. `make bench` has the whole table."""
    path = ASSETS / "checkpoints" / "static-s0.safetensors"
    if not path.is_file():
        pytest.skip("needs the shipped static checkpoint: train it with `python -m train.fit`, then `train.ship`")
    model = checkpoint.load(path)
    images, labels, _ = load_sample()
    stream = ControlledStream(images[:8], SCHEDULES["spikes"](150), "shot_noise")
    with torch.inference_mode():
        z = np.stack([model.predict(frame).double().numpy() for frame in stream.steps()], 1)  # (R, T, K)
    answer, _ = respond(wrap.branches_of(z), Settings(), attentive=model.attentive)
    assert flips(z.argmax(-1)) >= 3 * flips(answer.predicted)
    assert (answer.predicted == labels[:8, None]).mean() >= (z.argmax(-1) == labels[:8, None]).mean()


# The fit: tests/knob_core/test_fitting.py


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: wrap.classifier(knobs=(0.7,)), r"knobs is \(0\.7,\), expected \(zeta, omega_n\)"),
        (lambda: KnobStream(wrap.two_branch()).step(()), "two branches gave 0 arrays"),
        (lambda: wrap.branches_of(np.zeros((2, 0, 3))), r"shape \(2, 0, 3\)"),
        (lambda: wrap.branches_of(np.array([[[0.0, np.nan]]])), "logits must be finite"),
        (lambda: theory.regime(np.array([0.5, 2.0])), r"zeta must be one number, got shape \(2,\)"),
        (lambda: KnobStream(wrap.classifier()).load_state_dict({"version": np.array("x")}), "version x, expected"),
    ],
)
def test_what_cannot_be_used_is_named(call, named):
    with pytest.raises(ValueError, match=named):
        call()


@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_probabilities_are_not_taken_for_logits(scale: float) -> None:
    """p_max of .9 would be shown as .2; a stream is warned about once, an array is refused."""
    p = scale * np.random.default_rng(0).dirichlet(np.ones(5), (4, 20))
    stream = KnobStream(wrap.classifier())
    with pytest.warns(ProbabilitiesWarning, match="look like p.* frames add up to 1") as said:
        for t in range(20):
            stream.step(p[:, t])
    assert len(said) == 1
    for refused in (lambda: wrap.branches_of(p), lambda: fit(p, np.zeros(4, int), rivals={})):
        with pytest.raises(ValueError, match="expected logits, the numbers before softmax"):
            refused()


def test_logits_are_not_taken_for_probabilities(recwarn: pytest.WarningsRecorder) -> None:
    stream = KnobStream(wrap.classifier())
    stream.step(np.array([1.0, 0.0]))  # adds up to 1
    for z in np.random.default_rng(0).random((50, 2)):
        stream.step(z)
    assert not [warning for warning in recwarn if warning.category is ProbabilitiesWarning]


@pytest.mark.parametrize(
    ("z", "cause"),
    [
        (np.array([["1", "2"]]), "dtype <U1"), (np.array([[1.0, None]]), "dtype object"),
        (np.array([[1.0, 2j]]), "dtype complex128"), (np.ma.masked_equal([[1.0, 2.0]], 2.0), "1 masked values"),
        (np.array([["2020", "2021"]], "M8[Y]"), "dtype datetime64"),
    ],
)  # fmt: skip
def test_what_are_no_real_numbers_are_no_logits(z: np.ndarray, cause: str) -> None:
    with pytest.raises(ValueError, match=f"logits has .*{cause}"):
        KnobStream(wrap.classifier(lambda frames: z, frame_ndim=1)).step(np.zeros((1, 1)))


@pytest.mark.parametrize("dtype", [torch.complex64, torch.bool])
def test_tensors_of_other_kinds_are_no_logits_either(dtype: torch.dtype) -> None:
    with pytest.raises(ValueError, match=f"logits has dtype {str(dtype).removeprefix('torch.')}, expected real"):
        KnobStream(wrap.classifier()).step(torch.ones(1, 3, dtype=dtype))


def test_what_is_masked_is_not_seen() -> None:
    """NumPy's conversions drop a mask without a word: class 1 would win."""
    with pytest.raises(ValueError, match="frames has 1 masked values"):
        KnobStream(wrap.classifier()).step(np.ma.masked_equal([1.0, 9.0, 0.0], 9.0))


@pytest.mark.parametrize("rows", [1, 4])
def test_a_model_gives_one_row_a_frame(rows: int) -> None:
    stream = KnobStream(wrap.classifier(lambda frames: np.zeros((rows, 3)), frame_ndim=1))
    with pytest.raises(ValueError, match=f"logits for {rows} frames, expected 2"):
        stream.step(np.zeros((2, 5)))


@pytest.mark.parametrize("size", [1.1e100, -1e291, 1e308])
def test_giant_logits_are_refused_and_leave_nothing_behind(size: float) -> None:
    """They overflow behind a switch: with the memory off a stream answered, and was NaN once it was on."""
    stream, other = (KnobStream(wrap.classifier(), settings=Settings(memory="off")) for _ in range(2))
    for each in (stream, other):
        each.step([1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"logits is .* at index \(0, 1\), expected numbers of at most 1e\+100"):
        stream.step([0.0, size, 1.0])
    stream.memory = other.memory = "attentive"
    np.testing.assert_array_equal(stream.step([1.0, 2.0, 3.0]).probabilities, other.step([1.0, 2.0, 3.0]).probabilities)


@pytest.mark.parametrize("memory", ["attentive", "plain", "off"])
@pytest.mark.parametrize("temperature", [0.05, 20.0])
def test_the_largest_logits_leave_no_nan_behind_any_switch(memory: str, temperature: float) -> None:
    weights = Attentive(t_0=25.0, b=5.0, tau=1e-3, eps=0.0)
    stream = KnobStream(wrap.two_branch(), settings=Settings(temperature=temperature, weights=weights, omega_n=100.0))
    for sign in (1.0, -1.0, 1.0):
        z = np.array([sign, -sign, 0.0]) * 1e100
        stream.memory = memory  # type: ignore[assignment]
        for each in (z, np.arange(3.0)):
            answer = stream.step((each, -each, sign * 1e100))
            assert np.isfinite(answer.probabilities).all() and np.isfinite(answer.g).all()
        for other in ("plain", "attentive", "off"):
            stream.memory = other  # type: ignore[assignment]
            assert np.isfinite(stream.step((np.arange(3.0), np.ones(3), 0.0)).probabilities).all()
    stream.load_state_dict(stream.state_dict())


def test_probabilities_are_told_after_other_frames_and_in_either_branch(recwarn: pytest.WarningsRecorder) -> None:
    one, two = KnobStream(wrap.classifier()), KnobStream(wrap.two_branch())
    p = np.array([0.1, 0.7, 0.2])
    for z in [np.zeros(3), *[p] * 8]:
        one.step(z)
        two.step((z, np.array([-5.0, 3.0, 1.0]), 0.0))
    said = [str(warning.message) for warning in recwarn if warning.category is ProbabilitiesWarning]
    assert [text.partition(" look")[0] for text in said] == ["logits", "z_static"]


@pytest.mark.parametrize(
    ("make", "cause"),
    [
        (lambda: wrap.classifier(knobs=5), "knobs is 5, expected"),
        (lambda: wrap.two_branch(knobs={1.0, 2.0}), "knobs is {1.0, 2.0}, expected"),
        (lambda: wrap.classifier(attentive={"a": 1.0}), "attentive is .*, expected an Attentive or None"),
        (lambda: Settings(memory=np.array(["plain", "off"])), "memory is array"),
        (lambda: Settings(mode=np.zeros(0)), "mode is array"),
    ],
)
def test_arguments_of_another_kind_are_refused_by_name(make, cause: str) -> None:
    """They ended in errors of Python's or NumPy's own, or were taken for nothing given."""
    with pytest.raises(ValueError, match=cause):
        make()


def test_masked_knobs_and_places_are_refused() -> None:
    """A masked knob was 0, or the number under its mask; masked places were stepped."""
    stream = KnobStream(wrap.classifier(), streams=2)
    stream.step(np.zeros((2, 3)))
    for value in (np.ma.masked, np.ma.array(2.0, mask=True)):
        with pytest.raises(ValueError, match="zeta has 1 masked values"):
            stream.zeta = value
    with pytest.raises(ValueError, match="ids has 1 masked values"):
        stream.step(np.zeros((2, 3)), ids=np.ma.array([0, 1], mask=[False, True]))
    assert stream.zeta == Settings().zeta
