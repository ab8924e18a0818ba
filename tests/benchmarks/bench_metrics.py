"""What calibration and fusion cost on 100,000 samples of ten classes, on one thread.

Times are CPU time of this thread, best of several turns taken alternately, so that a busy machine hits all alike.
"""

from __future__ import annotations

import calibration
import numpy as np
import torch
from scipy import special
from timing import alternately

import knob_core._torchvision  # noqa: F401  (torchmetrics imports torchvision, which needs its operators declared)
from knob_core import fusion, metrics

SAMPLES, CLASSES, BATCH = 100_000, 10, 500


def logits() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    return (3 * rng.normal(size=(SAMPLES, CLASSES))).astype(np.float32), rng.integers(0, CLASSES, SAMPLES)


def calibrate(z: np.ndarray, labels: np.ndarray) -> tuple[metrics.Reliability, float]:
    table = metrics.reliability_table(*metrics.top_label_of_logits(z, labels))
    return table, table.ece_debiased()


def test_calibration_against_torchmetrics_and_uncertainty_calibration() -> None:
    """Ours is given all logits at once, as the app holds them; torchmetrics the same, and as a loader feeds it."""
    from torchmetrics.classification import MulticlassCalibrationError
    from torchmetrics.functional.classification import multiclass_calibration_error

    torch.set_num_threads(1)
    z, labels = logits()
    tensors = torch.tensor(z), torch.tensor(labels)
    few = special.softmax(z[:2000].astype(np.float64), -1), labels[:2000]

    def as_a_loader_feeds_it() -> torch.Tensor:
        metric = MulticlassCalibrationError(num_classes=CLASSES, n_bins=15)
        for batch in zip(*(t.split(BATCH) for t in tensors), strict=True):
            metric.update(*batch)
        return metric.compute()

    best = alternately(
        {
            "ours": lambda: calibrate(z, labels),
            "at once": lambda: multiclass_calibration_error(*tensors, CLASSES, n_bins=15),
            "in batches": as_a_loader_feeds_it,
        },
        turns=15,
    )
    sampled = alternately(
        {
            "theirs": lambda: calibration.get_top_calibration_error(*few, p=1),
            "ours": lambda: metrics.ece_debiased(*few),
        },
        turns=3,
    )
    at_once, in_batches = best["at once"] / best["ours"], best["in batches"] / best["ours"]
    drawn = sampled["theirs"] / sampled["ours"]
    print(f"\n{SAMPLES:,} x {CLASSES} logits: ECE_deb and reliability table in {best['ours'] * 1e3:.1f} ms")
    print(f"  against torchmetrics' calibration error, all at once    {at_once:6.1f} x faster")
    print(f"  against the same, fed in batches of {BATCH}                 {in_batches:6.1f} x faster")
    print(f"  against uncertainty-calibration's debiased one (2,000)  {drawn:6.0f} x faster")
    assert in_batches >= 5
    assert at_once >= 2  # the softmax alone is half of ours: ten exponentials a sample


def test_the_live_calibration_page_fits_into_a_fraction_of_a_core() -> None:
    """Eight times a second, 95,000 samples: all that moves when the knob does."""
    rng = np.random.default_rng(1)
    z_static, z_dyn = (3 * rng.normal(size=(2, 95_000, CLASSES))).astype(np.float32)
    g, labels = rng.random(95_000), rng.integers(0, CLASSES, 95_000)
    z_fuse = fusion.fuse(z_static, z_dyn, g)
    probs = metrics.softmax(z_fuse)
    best = alternately(
        {
            "a plain softmax in NumPy": lambda: special.softmax(z_fuse, -1),
            "fuse": lambda: fusion.fuse(z_static, z_dyn, g),
            "diagnose (margins, T_eff, CSR)": lambda: fusion.diagnose(z_static, z_dyn, g),
            "softmax": lambda: metrics.softmax(z_fuse),
            "nll": lambda: metrics.nll(probs, labels),
            "brier": lambda: metrics.brier(probs, labels),
            "reliability and ECE_deb": lambda: calibrate(z_fuse, labels),
        },
        turns=7,
    )
    print("\n95,000 x 10 logits")
    plain = best["a plain softmax in NumPy"]
    for name, seconds in best.items():
        print(f"  {name:32} {seconds * 1e3:6.1f} ms   {seconds / plain:5.2f} of a plain softmax")
    page = sum(
        best[name] for name in ("diagnose (margins, T_eff, CSR)", "softmax", "nll", "brier", "reliability and ECE_deb")
    )
    print(f"  {'all of them, once':32} {page * 1e3:6.1f} ms   {page / plain:5.2f}")
    assert page <= 3 * plain
