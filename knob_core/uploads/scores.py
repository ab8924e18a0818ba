"""Numbers a class and frame as logits: checked, and where they are probabilities, their logarithms.

p = softmax(z) does not change when z is replaced by log p, so log p are logits of the same answers.
"""

from __future__ import annotations

import numpy as np

from knob_core._arrays.probabilities import whole_of
from knob_core._arrays.ruled_out import FAR, finite
from knob_core.uploads.limits import MAX_PATH_VALUES

LARGEST = 1e6  # more than any logit
LEAST = 1e-6  # a probability below it counts as this much


def as_logits(name: str, key: str, z: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """Logits (R, T, K) from finite numbers or -inf, in their place, and a sentence for everything that was changed."""
    ruled_out = np.isneginf(z)  # (R, T, K)
    require_finite(name, key, z, ruled_out)
    if ruled_out.any():
        return _raised(name, key, z, ruled_out)
    if (whole := whole_of(z)) is not None:
        what = "probabilities (frames add up to 1)" if whole == 1 else "percentages (frames add up to 100)"
        note = f"The numbers in {key} are {what}: logarithms of probabilities are the logits, "
        np.divide(z, whole, out=z)
        np.log(np.maximum(z, LEAST, out=z), out=z)
        return z, (f"{note}with {LEAST:g} for what is less.",)
    if z.min() >= 0 and z.max() <= 1:
        return z, (f"All numbers in {key} lie between 0 and 1, but frames do not add up to 1: are these logits?",)
    return z, ()


def require_finite(name: str, key: str, x: np.ndarray, allowed: np.ndarray | None = None) -> None:
    """Refuse NaN, infinities and giants by their place, but for those `allowed`."""
    bad = ~np.isfinite(x) if allowed is None else ~np.isfinite(x) & ~allowed
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad)[0])
        raise ValueError(f"{name}: {key} is {x[index]} at index {index}, expected finite numbers")
    judged = True if allowed is None else ~allowed
    if (largest := max(x.max(initial=0, where=judged), -x.min(initial=0, where=judged))) > LARGEST:
        raise ValueError(f"{name}: {key} goes up to {largest:g}, expected at most 1e6: these are no logits")


def _raised(name: str, key: str, z: np.ndarray, ruled_out: np.ndarray) -> tuple[np.ndarray, tuple[str, ...]]:
    """-inf as the runtime takes it."""
    if (all_out := ruled_out.all(axis=-1)).any():
        index = tuple(int(i) for i in np.argwhere(all_out)[0])
        raise ValueError(f"{name}: {key} is -inf for every class at index {index}, expected a number for one at least")
    note = (
        f"{int(ruled_out.sum()):,} of {z.size:,} numbers in {key} are -inf: they become {FAR:g} less than the smallest "
    )
    some = max(1, MAX_PATH_VALUES // z[0].size)  # streams at a time: `finite` holds several copies
    for at in range(0, len(z), some):
        z[at : at + some] = finite(z[at : at + some])
    return z, (f"{note}other logit of their frame.",)
