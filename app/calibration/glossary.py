"""The calibration page's technical words, explained."""

from __future__ import annotations

WORDS = {  # jargon: what it means
    "Confidence": "the probability that the model gives to the class it names (p_max).",
    "Calibration": (
        "of all the times it says 80 %, it is right 80 % of the time. Below the diagonal it promises too much."
    ),
    "ECE": "expected calibration error: the mean gap between confidence and accuracy over 15 bins of equal counts, "
    "debiased: a perfect model on so few predictions would not show zero by chance, and that part is taken off.",
    "NLL and Brier": "proper scores: better when the model is right more often and when its confidence is honest.",
    "Agree, disagree": "whether the robust and the sharp branch name the same class for a picture.",
    "T_eff": "effective temperature: the surer branch's margin divided by the mix's, between the two classes that the "
    "mix finds likeliest. Along that pair it is never below 1; with each branch's own two classes it could be.",
    "CSR": "confidence-shrinkage ratio: the same as a share of confidence, never above 1.",
    "ρ": "Spearman's rank correlation of the medians with severity: 1 means that they rise together at every step.",
    "Temperature scaling": "the usual remedy: divide all logits by one number that was fitted on held-out pictures. "
    "It knows nothing of the picture at hand; a gate does.",
    "Reset Mode": "every picture by itself: the gate makes one step from rest. A stream settles at the command.",
}
