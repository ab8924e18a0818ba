"""Reset Mode over many predictions at once: what the knobs do to confidence, fast enough for a drag.

g = sigmoid(reset_gain u*),  z_fuse = z_static + g (z_dyn - z_static),  p_max = 1 / sum exp(z_fuse - max z_fuse)
Everything is `knob_core.fusion` and `knob_core.metrics` in float32, with classes first and in pieces that stay in a
core's cache; tests hold it to them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from knob_core import fusion, methods, metrics
from knob_core._arrays.top import classes_first, first_equal
from knob_core.metrics.reliability import bin_by_mass, folded_normal_mean

PIECE = 8192  # samples at a time


@dataclass(frozen=True)
class Predictions:
    """What no knob changes, of M = C cells x N samples."""

    z_static: np.ndarray  # (K, M) float32
    difference: np.ndarray  # (K, M) z_dyn - z_static
    u_star: np.ndarray  # (M,)
    labels: np.ndarray  # (M,)
    agree: np.ndarray  # (M,) bool: both branches have the same top class
    cells: int  # C

    def __len__(self) -> int:
        return len(self.labels)


@dataclass(frozen=True)
class Fused:
    """What the model says of every prediction under one gate; all (M,)."""

    confidence: np.ndarray  # p_max
    correct: np.ndarray  # bool
    nll: np.ndarray  # -log p[label]
    brier: np.ndarray
    t_eff: np.ndarray
    csr: np.ndarray


@dataclass(frozen=True)
class Scores:
    """Means over predictions."""

    accuracy: float
    ece_deb: float
    nll: float
    brier: float


def prepare(z_static: np.ndarray, z_dyn: np.ndarray, u_star: np.ndarray, labels: np.ndarray) -> Predictions:
    """From branches (C, N, K), commands (C, N) and labels (N,), all finite."""
    if z_static.ndim != 3 or z_static.shape != z_dyn.shape or u_star.shape != z_static.shape[:2]:
        raise ValueError(f"z_static, z_dyn, u_star must be (C, N, K), (C, N, K), (C, N), got {z_static.shape}, "
                         f"{z_dyn.shape}, {u_star.shape}")  # fmt: skip
    cells, samples, classes = z_static.shape
    if not z_static.size:
        raise ValueError(f"z_static must have at least one cell, sample and class, got shape {z_static.shape}")
    if labels.shape != (samples,) or not (labels.min() >= 0 and labels.max() < classes):
        raise ValueError(f"labels must be ({samples},) in [0, {classes - 1}], got shape {labels.shape}")
    static = classes_first(z_static.reshape(-1, classes).astype(np.float32, copy=False))
    dyn = classes_first(z_dyn.reshape(-1, classes).astype(np.float32, copy=False))
    agree = first_equal(static, static.max(0)) == first_equal(dyn, dyn.max(0))
    u_star = u_star.reshape(-1).astype(np.float32)
    return Predictions(static, dyn - static, u_star, np.tile(labels, cells), agree, cells)


def reset_gate(
    u_star: np.ndarray, method: str, zeta: float, omega_n: float, on: bool = True, reference: float | None = None
) -> np.ndarray:
    """g (M,) of a method after one frame from rest; off, or without dynamics, the command itself.

    `reference` is the kappa at which a model's Reset Mode is normalised (`knob_core.gates`); None: the literal form.
    """
    kind = methods.get(method).gate.normalised(reference)
    gain, share, rest = (kind if on else kind.without_inertia).one_step(zeta, omega_n)
    g = u_star * -np.float32(gain)
    with np.errstate(over="ignore"):  # exp(90) is infinite in float32, and 1 / infinity the right gate
        np.exp(g, out=g)
    g += 1
    np.reciprocal(g, out=g)
    return g if share == 1 else rest + np.float32(share) * (g - np.float32(rest))


def fuse_all(predictions: Predictions, g: np.ndarray, temperature: float = 1.0) -> Fused:
    """Every prediction under a gate g (M,); the fused logits are divided by `temperature`, margins are not."""
    p, m = predictions, len(predictions)
    out = Fused(*(np.empty(m, bool if i == 1 else np.float32) for i in range(6)))
    classes = len(p.z_static)
    z_piece, e_piece = (np.empty((classes, PIECE), np.float32) for _ in range(2))
    for start in range(0, m, PIECE):
        part = slice(start, min(start + PIECE, m))
        n = part.stop - start
        z, e, g_part, columns = z_piece[:, :n], e_piece[:, :n], g[part], np.arange(n)
        static, difference, labels = p.z_static[:, part], p.difference[:, part], p.labels[part]
        np.multiply(difference, g_part, out=z)
        z += static
        top = z.max(0)
        k = first_equal(z, top)
        z_label = z[labels, columns]
        np.subtract(z, top, out=e)
        if temperature != 1.0:
            e *= np.float32(1 / temperature)
        np.exp(e, out=e)
        total, p_label = e.sum(0), e[labels, columns]
        out.confidence[part] = 1 / total
        out.correct[part] = k == labels
        out.nll[part] = np.log(total) - (z_label - top) * np.float32(1 / temperature)
        np.multiply(e, e, out=e)
        out.brier[part] = 1 + (e.sum(0) / total - 2 * p_label) / total
        z[k, columns] = -np.inf
        j = first_equal(z, z.max(0))
        m_static = static[k, columns] - static[j, columns]
        m_dyn = m_static + difference[k, columns] - difference[j, columns]
        m_max = np.maximum(m_static, m_dyn).clip(0)
        m_fuse = np.minimum(g_part * m_dyn + (1 - g_part) * m_static, m_max).clip(0)
        out.t_eff[part] = fusion.margin_temperature(m_max, m_fuse)
        out.csr[part] = fusion.margin_csr(m_max, m_fuse)
    return out


def scores(fused: Fused) -> Scores:
    """The four numbers of a set of predictions."""
    table = metrics.reliability_table(fused.confidence, fused.correct)
    means = (float(values.mean(dtype=np.float64)) for values in (fused.nll, fused.brier))
    return Scores(float(fused.correct.mean()), table.ece_debiased(), *means)


def cell_scores(confidence: np.ndarray, correct: np.ndarray, bins: int = 15) -> tuple[np.ndarray, np.ndarray]:
    """(accuracy, debiased ece), each (C,), of confidences and successes (C, N): all cells at once."""
    n = confidence.shape[1]
    key = np.sort(np.abs(confidence.astype(np.float32)).view(np.uint32) << np.uint32(1) | correct, axis=1)
    c = (key >> np.uint32(1)).view(np.float32).astype(np.float64)
    hit = (key & np.uint32(1)).astype(np.float64)
    small, larger = divmod(n, bins)
    if not small:
        return hit.mean(1), np.array([_one(*pair, bins) for pair in zip(confidence, correct, strict=True)])
    sizes = np.array([small + (b < larger) for b in range(bins)])
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    f, a = (np.add.reduceat(values, starts, axis=1) / sizes for values in (c, hit))
    expected = folded_normal_mean((f - a).ravel(), np.sqrt(a * (1 - a) / sizes).ravel()).reshape(f.shape)
    ece = (2 * np.abs(f - a) - expected) @ (sizes / n)
    cuts = starts[1:]
    for cell in np.flatnonzero((c[:, cuts - 1] == c[:, cuts]).any(1)):  # equal values must not be parted
        ece[cell] = _one(confidence[cell], correct[cell], bins)
    return hit.mean(1), ece


def _one(confidence: np.ndarray, correct: np.ndarray, bins: int) -> float:
    return bin_by_mass(confidence, correct, bins).ece_debiased()
