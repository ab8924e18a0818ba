"""The fit of Knob to labelled streams: never worse than nothing, never worse for a looser limit."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from knob_core.wrap.command import Command

from knob_core import wrap
from knob_core._arrays.ruled_out import finite
from knob_core.memories import Attentive
from knob_core.rivals import RIVALS
from knob_core.runtime import KnobStream
from knob_core.settings import Settings, from_toml, to_toml
from knob_core.wrap import fitting
from knob_core.wrap.attentive_fit import Labelled, Setting, fit_nll
from knob_core.wrap.fitting import Fit, fit, lag


def changing(seed: int = 0, paths: int = 10, frames: int = 120, classes: int = 4, every: int = 30, noise: float = 1.8):
    """Noisy logits whose class changes every so often; labels (R, T)."""
    rng = np.random.default_rng(seed)
    labels = np.repeat(rng.integers(0, classes, (paths, frames // every)), every, axis=1)
    return rng.normal(0, noise, (paths, frames, classes)) + 3.0 * np.eye(classes)[labels], labels


@pytest.fixture(scope="module")
def found() -> Fit:
    return fit(*_args(changing()), max_delay=3, rivals={"ema-logits": RIVALS["ema-logits"]})


def _args(made: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, None, np.ndarray]:
    return made[0], None, made[1]


@pytest.mark.slow
def test_it_helps_on_streams_it_has_not_seen(found: Fit) -> None:
    z, labels = changing(1)
    ours = found.settings.weights.run_logits(z, *found.knobs).z
    streams = Labelled(z, labels)
    assert streams.nll(ours) < streams.nll(z) - 0.1
    assert (ours.argmax(-1) == labels).mean() > (z.argmax(-1) == labels).mean() + 0.1
    assert found.helps and found.flips < found.flips_before / 3 and found.delay <= 3


@pytest.mark.slow
def test_the_table_has_ours_off_and_the_rivals(found: Fit) -> None:
    assert [row.name for row in found.table] == ["attentive memory", "off", RIVALS["ema-logits"].NAME]
    ours, off, _ = found.table
    assert ours.nll < off.nll and ours.excess_flips < off.excess_flips
    assert "Attentive memory: NLL" in found.words and "excess flips" in str(found)


@pytest.mark.slow
def test_the_settings_file_runs_what_was_fitted(found: Fit) -> None:
    z, labels = changing()
    stream = KnobStream(wrap.classifier(), settings=from_toml(to_toml(found.settings)))
    p = np.stack([stream.step(z[:, t]).probabilities for t in range(z.shape[1])], 1)
    nll = -np.log(np.take_along_axis(p, labels[..., None], 2)).mean()
    assert nll == pytest.approx(found.nll, abs=1e-9)


@pytest.mark.slow
def test_a_looser_limit_never_fits_worse() -> None:
    made = changing(2, paths=6, every=20)
    fits = [fit(*_args(made), max_delay=limit, rivals={}) for limit in (0.5, 1.5, 4.0, np.inf)]
    nlls = [one.nll for one in fits]
    assert all(b <= a + 1e-12 for a, b in itertools.pairwise(nlls)), nlls
    assert all(one.nll <= one.nll_before for one in fits)


@pytest.mark.parametrize("gains, taken", [([0.3, 0.2, 0.3, 0.2], 1), ([0.9, -0.1, 0.3, -0.1], 0), ([-0.2] * 4, 0)])
def test_another_start_is_taken_where_it_is_clearly_better(
    monkeypatch: pytest.MonkeyPatch, gains: list[float], taken: int
) -> None:
    """The other one is likelier by so many nats on each of four streams: in all, in some by luck, in none."""
    z, labels = np.zeros((4, 10, 2)), np.zeros((4, 10), int)
    z[:, :, 0] = np.arange(1.0, 5.0)[:, None]  # tells which stream it is
    other = Setting(1.0, 0.2, Attentive(a=0.0, b=0.0))
    monkeypatch.setattr(fitting, "OTHERS", (other,))
    monkeypatch.setattr(fitting, "fit_nll", lambda streams, start: (start, 0.0))
    monkeypatch.setattr(Setting, "run", lambda self, z, u: z * (1.0 if self is other else -1.0))

    def nll(self: Labelled, answer: np.ndarray) -> float:
        (stream,) = self.z[:, 0, 0].astype(int)  # one at a time
        return 1.0 - (gains[stream - 1] if answer[0, 0, 0] > 0 else 0.0)

    monkeypatch.setattr(Labelled, "nll", nll)
    assert fitting._best_start(Labelled(z, labels)) is (fitting.GENERAL, other)[taken]


def test_too_little_to_be_cut_in_two_is_fitted_from_the_general_start() -> None:
    z, labels = np.zeros((1, 3, 2)), np.zeros((1, 3), int)
    assert fitting._best_start(Labelled(z, labels)) is fitting.GENERAL


def test_a_start_is_judged_by_streams_that_it_was_not_fitted_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """One start learns its streams by heart, the other one learns little: the second one is taken."""
    z, labels = changing(paths=6, frames=60)
    by_heart, modest = Setting(1.0, 0.4, fitting.FROM), Setting(1.0, 0.5, fitting.FROM)
    seen: list[bytes] = []

    def fitted(streams: Labelled, start: Setting) -> tuple[Setting, float]:
        seen[:] = [streams.z[row].tobytes() for row in range(len(streams.z))]
        return start, 0.0

    def nll(self: Labelled, answer: np.ndarray) -> float:
        assert not any(row.tobytes() in seen for row in self.z)
        quick = np.array_equal(answer, by_heart.run(self.z, None))
        return 0.5 if quick else 0.4

    monkeypatch.setattr(fitting, "GENERAL", by_heart)
    monkeypatch.setattr(fitting, "OTHERS", (modest,))
    monkeypatch.setattr(fitting, "fit_nll", fitted)
    monkeypatch.setattr(Labelled, "nll", nll)
    assert fitting._best_start(Labelled(z, labels)) is modest


def test_the_prior_weighs_less_where_more_is_counted() -> None:
    z, labels = changing(5)
    streams, start = Labelled(z, labels), Setting(1.0, 0.4, Attentive(a=0.0, b=2.0))
    by_stretches, by_frames = (fit_nll(streams, start, ("t_0",), observations=n) for n in (None, streams.frames))
    assert by_frames[1] < by_stretches[1]  # nearer to the lowest NLL
    assert by_frames[0].weights.t_0 > by_stretches[0].weights.t_0 > 0  # and further from the start


def test_a_stretch_counts_once_however_long_it_is() -> None:
    labels = np.array([[0, 0, 1, 1, 1, -1, 1, 0], [-1, 2, 2, 2, 2, 2, 2, 2]])
    assert Labelled(np.zeros((2, 8, 3)), labels).stretches == 5  # 0, 1, 1 after what is unknown, 0; 2


def test_where_nothing_helps_it_says_so_and_stays_off() -> None:
    """Frames that have nothing to do with each other, and a model that is calibrated: memory can only harm."""
    rng = np.random.default_rng(0)
    z = rng.normal(0, 1.5, (12, 80, 3))
    p = np.exp(z) / np.exp(z).sum(-1, keepdims=True)
    labels = (p.cumsum(-1) > rng.random((12, 80, 1))).argmax(-1)  # drawn from the model's own probabilities
    nothing = fit(z, None, labels, rivals={})
    assert nothing.nll <= nothing.nll_before
    if not nothing.helps:
        assert not nothing.settings.on and "Nothing helps" in nothing.words
    ours, off = nothing.table
    assert nothing.helps == (ours.nll < off.nll)


@pytest.mark.slow
def test_one_stream_and_unknown_labels_are_enough() -> None:
    z, labels = changing(3, paths=1, frames=600)
    labels[:, 100:140] = -1
    alone = fit(z, None, labels, rivals={})
    assert alone.nll < alone.nll_before


def test_streams_without_any_label_are_left_out_of_the_judging() -> None:
    z, labels = changing(3, paths=3, frames=60)
    labels[1] = -1
    found = fit(z, None, labels, rivals={})
    assert all(np.isfinite(row.nll) for row in found.table)
    assert found.table[1].nll == pytest.approx(Labelled(z, labels).nll(z))  # off


@pytest.mark.slow
def test_two_branches_without_a_command_are_judged_as_the_runtime_mixes_them() -> None:
    z, labels = changing(paths=4, frames=60)
    z_dyn = np.random.default_rng(5).normal(0, 2, z.shape) + 2.0 * np.eye(4)[labels]
    command = Command(weights=(1.0, -2.0, 1.0, -3.0))
    off = fit(z, z_dyn, labels, rivals={}, command=command).table[1]
    stream = KnobStream(wrap.two_branch(command=command), settings=Settings(on=False))
    p = np.stack([stream.step((z[:, t], z_dyn[:, t])).probabilities for t in range(z.shape[1])], 1)
    assert off.nll == pytest.approx(-np.log(np.take_along_axis(p, labels[..., None], 2)).mean(), abs=1e-9)


@pytest.mark.slow
def test_a_command_is_used_where_there_is_one() -> None:
    """u* tells which frames are good; a fit that may use it does better than one that may not."""
    z, labels = changing(4, noise=1.0)
    rng = np.random.default_rng(0)
    bad = rng.random(labels.shape) < 0.4
    z[bad] = rng.normal(0, 4.0, (int(bad.sum()), z.shape[-1]))
    u = np.where(bad, -2.0, 2.0)
    with_u, without = fit(z, z, labels, u_star=u, rivals={}), fit(z, None, labels, rivals={})
    assert with_u.nll < without.nll - 0.02
    assert with_u.settings.weights.u_mean == pytest.approx(u.mean())


def test_likelihood_and_prior_together_have_a_slope_of_zero_where_the_fit_ends() -> None:
    z, labels = changing(5)
    streams, start = Labelled(z, labels), Setting(1.0, 0.4, Attentive(a=0.0, b=2.0))

    def cost(setting: Setting) -> float:
        away = np.log(setting.omega_n / start.omega_n) ** 2 + setting.weights.t_0**2
        return streams.nll(setting.run(z, None)) + away / (2 * streams.stretches)

    best, nll = fit_nll(streams, start, ("omega_n", "t_0"), iterations=200)
    assert nll == streams.nll(best.run(z, None)) < streams.nll(start.run(z, None))
    for name in ("omega_n", "t_0"):
        for factor in (0.97, 1.03):
            moved = best.put(**{name: best.get(name) * factor})
            assert cost(moved) >= cost(best) - 1e-6


def test_a_fit_can_be_ended_at_any_time() -> None:
    """Also in the long parts that tell no progress."""
    asked = iter(range(20))
    told: list[float] = []
    z = np.random.default_rng(0).normal(size=(4, 30, 3))
    with pytest.raises(StopIteration):
        fit(z, None, np.arange(4) % 3, progress=lambda part, what: told.append(part), go_on=lambda: next(asked))
    assert told == [0.0]


def test_lag_is_the_frames_of_a_step() -> None:
    assert lag(1.0, 2.0) == 1.0  # 1 - (1 + 2) ... the bilinear step: .5 after one frame, .75 after two
    assert lag(1.0, 1e-6) == np.inf


@pytest.mark.parametrize("mask", [-np.inf, -1e9])
def test_a_class_that_is_ruled_out_is_taken_as_the_stream_takes_it(mask: float) -> None:
    """A model that masks a class with -inf ran, and could not be fitted."""
    z, labels = changing(paths=4, frames=60)
    z[..., 3] = np.where((labels != 3) & (np.random.default_rng(0).random(labels.shape) < 0.3), mask, z[..., 3])
    masked, low = (fit(*_args((x, labels)), rivals={}) for x in (z, finite(z)))
    assert masked == low and np.isfinite(masked.nll)


@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"z_static": np.zeros((3, 4))}, r"\(R, T, K\)"),
        ({"z_dyn": np.zeros((2, 5, 4))}, "one shape"),
        ({"labels": np.array([0, 9])}, "labels"),
        ({"labels": np.array([0.0, 1.0])}, "labels"),
        ({"labels": np.array([0, 1, 2])}, "labels"),
        ({"max_delay": -1.0}, "max_delay"),
        ({"max_delay": "3"}, "max_delay is '3', expected a number of frames > 0"),
        ({"max_delay": np.array([1.0, 2.0])}, "max_delay is array"),
        ({"seed": -1}, "seed is -1, expected a whole number >= 0"),
        ({"seed": 1.5}, "seed is 1.5"),
        ({"command": "x"}, "command is 'x', expected a Command or None"),
        ({"u_star": np.zeros(2)}, "u_star"),
        ({"u_star": np.full((2, 5), 1e6)}, "u_star has mean 1e[+]06"),
        ({"z_static": np.full((2, 5, 3), np.nan)}, "finite"),
        (
            {"z_static": np.full((2, 5, 3), 1e300)},
            "z_static is 1e[+]300 at index .* at most 1e[+]100",
        ),
        ({"z_static": np.full((2, 5, 3), "1")}, "z_static has dtype <U1, expected real numbers"),
        ({"z_static": np.full((2, 5, 3), 1j)}, "z_static has dtype complex128"),
        ({"z_static": np.ma.masked_equal(np.ones((2, 5, 3)), 1)}, "z_static has 30 masked values"),
        ({"z_dyn": np.full((2, 5, 3), 1 / 3)}, "z_dyn look like probabilities"),
        ({"labels": np.array([[0, 0, -1, -1, -1], [-1] * 5])}, "labels in one of its halves"),
    ],
)
def test_a_fit_on_nonsense_is_refused(change: dict, cause: str) -> None:
    good = {"z_static": np.random.default_rng(0).normal(0, 1, (2, 5, 3)), "z_dyn": None, "labels": np.array([0, 1])}
    with pytest.raises(ValueError, match=cause):
        fit(**{**good, **change})
