"""What the report's words and columns mean; one visible list."""

from __future__ import annotations

from collections.abc import Iterable

from knob_core.methods import METHODS

WORDS = {
    "Reset Mode": "every picture by itself: the gate starts at rest and makes one step, as in the paper's tables; it "
    "shrinks u*, and so brings the gate near 0.5",
    "settled gate": "the gate after it has followed a picture for long, g = sigmoid(u*)",
    "normalised": "Reset Mode with its one step in units of the step at the trained knobs, as the console has it for "
    "our models: at those knobs it is the settled gate, through which u* was trained; turned down it shrinks u* too",
    "Avg-C, Err-C": "accuracy in percent, mean over severities 1 to 5, then over corruptions; 100 less that",
    "ECE_deb": "gap between confidence and accuracy (15 bins of equal counts), less what chance adds",
    "NLL, Brier": "mean of -log p(true class), in nats; mean squared error of the probabilities, summed over classes",
    "T_eff": "effective temperature, at least 1: margin of the surer branch / margin of the mix (E-1)",
    "CSR": "the same as a ratio of confidences, at most 1 (E-1)",
    "OA": "oracle advantage: the dynamic branch has the lower cross-entropy (E-2)",
    "GCA": "gradient advantage: opening the gate a little would lower the loss of the mix (E-2)",
    "AUC": "chance that a picture with the advantage has a higher gate than one without; 0.5 is a guess",
    "Π": "polarisation: mean distance of the gate from 0.5",
    "E-1, E-2, E-3": "the paper's probes: fusion as a temperature; what the gate learns; step response and Bode plot",
    "excess flips": "changes of the answer per 100 frames, less one for each change of class that the answer follows",
    "delay": "frames from a cut until the new class is shown and stays for five frames",
}


def section(measured: Iterable[str]) -> list[str]:
    """The methods that were measured, by their keys, and the words."""
    methods = [f"- **{METHODS[key].name}**: {METHODS[key].words}" for key in measured]
    return ["## Words", "\n".join([*methods, *(f"- **{word}**: {meaning}" for word, meaning in WORDS.items())])]
