"""Convex fusion of two branches' logits, and what it does to confidence.

z_fuse = g z_dyn + (1 - g) z_static;  T_eff = max(m_static, m_dyn) / m_fuse,  CSR = s(m_fuse) / s(max(m_static, m_dyn))
(paper, section 3.3), with every margin m = z[k] - z[j] along one pair: the *fused* top class k and runner-up j. Then
m_fuse = g m_dyn + (1 - g) m_static exactly, so T_eff >= 1 and CSR <= 1 for every sample. With each branch's own top-2
that is false: [10, 9, 0] and [10, 0, 9] both have a margin of 1, and at g = 0.5 the fused margin is 5.5.

Shapes: z is (..., K), g is (...) in [0, 1]; NumPy or torch; results have the logits' dtype.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Generic

import numpy as np

from knob_core._arrays import checks as check
from knob_core._arrays.checks import A, Knob, is_tensor, namespace
from knob_core._arrays.top import pick, top1, top2


@dataclass(frozen=True)
class Fusion(Generic[A]):
    """Everything fusion says about each sample; all (...) but z_fuse (..., K)."""

    z_fuse: A
    top: A  # fused top class k
    runner_up: A  # fused second class j
    m_static: A
    m_dyn: A
    m_fuse: A
    t_eff: A
    csr: A


def _branches(z_static: A, z_dyn: A, classes: int = 1) -> tuple[A, A]:
    z_static, z_dyn = check.together(
        check.real_array("z_static", z_static, min_ndim=1), check.real_array("z_dyn", z_dyn, min_ndim=1)
    )
    if z_static.shape != z_dyn.shape:
        raise ValueError(
            f"z_static and z_dyn must have one shape, got {tuple(z_static.shape)} and {tuple(z_dyn.shape)}"
        )
    if z_static.shape[-1] < classes:
        raise ValueError(f"z_static must have at least {classes} classes on its last axis, got {z_static.shape[-1]}")
    return z_static, z_dyn


def _gate(g: Knob, like: A) -> A:
    checked = check.knob("g", g, 0.0, above=False, high=1.0)
    if is_tensor(like):
        given = namespace(like).as_tensor(checked, dtype=like.dtype, device=like.device)
    else:
        given = np.asarray(checked.detach().cpu() if is_tensor(checked) else checked, like.dtype)
    try:
        return namespace(like).broadcast_to(given, like.shape[:-1])
    except (ValueError, RuntimeError):
        raise ValueError(f"g must broadcast to shape {tuple(like.shape[:-1])}, got {tuple(given.shape)}") from None


def fuse(z_static: A, z_dyn: A, g: Knob) -> A:
    """z_fuse (..., K): g = 1 is the dynamic branch, g = 0 the static one, both exactly."""
    z_static, z_dyn = _branches(z_static, z_dyn)
    return mix(z_static, z_dyn, _gate(g, z_static))


def mix(z_static: A, z_dyn: A, g: A) -> A:
    """`fuse` for arrays of one dtype that are known to be good: nothing is checked."""
    if is_tensor(g):
        return namespace(g).lerp(z_static, z_dyn, g.unsqueeze(-1))
    z_fuse = g[..., None] * z_dyn
    z_fuse += (1 - g)[..., None] * z_static
    return z_fuse


def diagnose(z_static: A, z_dyn: A, g: Knob) -> Fusion[A]:
    """Fusion with margins, T_eff and CSR in one pass."""
    z_static, z_dyn = _branches(z_static, z_dyn, classes=2)
    return _diagnosed(z_static, z_dyn, _gate(g, z_static))


def shrinkage(z_static: A, z_dyn: A, g: A) -> tuple[A, A]:
    """(T_eff, CSR) of arrays of one dtype that are known to be good: nothing is checked."""
    fused = _diagnosed(z_static, z_dyn, g)
    return fused.t_eff, fused.csr


def _diagnosed(z_static: A, z_dyn: A, g: A) -> Fusion[A]:
    z_fuse = mix(z_static, z_dyn, g)
    k, j = top2(z_fuse)
    m_static = pick(z_static, k) - pick(z_static, j)
    m_dyn = pick(z_dyn, k) - pick(z_dyn, j)
    m_max = namespace(g).maximum(m_static, m_dyn).clip(0)
    m_fuse = namespace(g).minimum(g * m_dyn + (1 - g) * m_static, m_max).clip(0)  # rounding must not break the bounds
    t_eff, csr = margin_temperature(m_max, m_fuse), margin_csr(m_max, m_fuse)
    return Fusion(z_fuse, k, j, m_static, m_dyn, m_fuse, t_eff, csr)


def margins(z_static: A, z_dyn: A, g: Knob) -> tuple[A, A, A]:
    """(m_static, m_dyn, m_fuse), each (...), along the fused top-2."""
    fused = diagnose(z_static, z_dyn, g)
    return fused.m_static, fused.m_dyn, fused.m_fuse


def own_margin(z: A) -> A:
    """A single branch's margin along its own top-2, (...): what fusion is *not* bounded by."""
    z = check.real_array("z", z, min_ndim=1)
    if z.shape[-1] < 2:
        raise ValueError(f"z must have at least 2 classes on its last axis, got {z.shape[-1]}")
    k, j = top2(z)
    return pick(z, k) - pick(z, j)


def margin_temperature(m_max: A, m_fuse: A) -> A:
    """m_max / m_fuse; a fused tie (m_fuse = 0) is infinitely hot, or 1 where both branches tie as well."""
    xp = namespace(m_max)
    tie = m_fuse == 0
    with np.errstate(over="ignore"):  # a margin of 1e-40 is a tie in all but name
        t = m_max / xp.where(tie, 1.0, m_fuse)
    return xp.where(tie & (m_max > 0), math.inf, xp.where(tie, 1.0, t))


def margin_csr(m_max: A, m_fuse: A) -> A:
    """s(m_fuse) / s(m_max), s the logistic function; both margins are >= 0."""
    xp = namespace(m_max)
    return ((1 + xp.exp(-m_max)) / (1 + xp.exp(-m_fuse))).clip(max=1)


def effective_temperature(z_static: A, z_dyn: A, g: Knob) -> A:
    """T_eff (...) >= 1. It is huge where m_fuse is near 0: summarise it with medians and quantiles."""
    return diagnose(z_static, z_dyn, g).t_eff


def csr(z_static: A, z_dyn: A, g: Knob) -> A:
    """The confidence-shrinkage ratio (...) <= 1."""
    return diagnose(z_static, z_dyn, g).csr


def agreement(z_static: A, z_dyn: A) -> A:
    """(...) bool: both branches have the same top class."""
    z_static, z_dyn = _branches(z_static, z_dyn)
    return top1(z_static) == top1(z_dyn)


def top2_preserved(z_static: A, z_dyn: A) -> A:
    """(...) bool: both branches have the same top class and runner-up, and so has every fusion of them."""
    (k_static, j_static), (k_dyn, j_dyn) = (top2(z) for z in _branches(z_static, z_dyn, classes=2))
    return (k_static == k_dyn) & (j_static == j_dyn)
