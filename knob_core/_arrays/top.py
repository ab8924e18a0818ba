"""The largest and second largest class of many short rows, quickly.

k = argmax z,  j = argmax of z without k; the lower class wins a tie.
NumPy reduces a last axis of ten slowly; with classes first every operation runs over all samples at once.
"""

from __future__ import annotations

import numpy as np

from knob_core._arrays.checks import A, is_tensor

FEW = 32  # up to this many classes, and from MANY rows on, going class by class is the faster way
MANY = 256


def classes_first(z: np.ndarray) -> np.ndarray:
    """(K, ...) from (..., K), in one block; free where z is already a view of such an array."""
    return np.ascontiguousarray(np.moveaxis(z, -1, 0))


def first_equal(z: np.ndarray, top: np.ndarray) -> np.ndarray:
    """For z (K, ...), the lowest class that equals top (...): count the classes before it."""
    if len(z) > FEW:
        return (z == top).argmax(0)
    before = np.ones(top.shape, bool)
    k = np.zeros(top.shape, np.uint8)
    for z_c in z[:-1]:
        before &= z_c != top
        k += before
    return k.astype(np.intp)


def top1(z: A) -> A:
    """k (...), from z (..., K)."""
    if is_tensor(z) or not _class_by_class(z):
        return z.argmax(-1)
    z = classes_first(z)
    return first_equal(z, z.max(0))


def top2(z: A) -> tuple[A, A]:
    """(k, j), each (...), from z (..., K), K >= 2."""
    if is_tensor(z):
        k = z.argmax(-1)
        return k, z.scatter(-1, k[..., None], -float("inf")).argmax(-1)
    if not _class_by_class(z):
        k, classes = z.argmax(-1), z.shape[-1]
        rest = z.reshape(-1, classes).copy()
        rest[np.arange(len(rest)), k.ravel()] = -np.inf
        return k, rest.argmax(-1).reshape(k.shape)
    z = classes_first(z)
    k = first_equal(z, z.max(0))
    z = z.reshape(len(z), -1).copy()  # (K, N)
    z[k.ravel(), np.arange(z.shape[1])] = -np.inf
    return k, first_equal(z, z.max(0)).reshape(k.shape)


def _class_by_class(z: np.ndarray) -> bool:
    classes = z.shape[-1]
    return classes <= FEW and z.size >= MANY * classes


def pick(z: A, k: A) -> A:
    """z[..., k]: one class of each row."""
    if is_tensor(z):
        return z.gather(-1, k[..., None])[..., 0]  # take_along_dim would fix an exported graph's batch size
    if z.ndim == 2:
        return z[np.arange(len(z)), k]  # a third of the time of take_along_axis
    return np.take_along_axis(z, k[..., None], -1)[..., 0]
