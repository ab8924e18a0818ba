"""Pictures that a service decodes look as an upload shows them."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image

from knob_core.serving.decode import decoded


def test_sixteen_bits_of_grey_are_scaled_and_not_cut_off() -> None:
    grey = np.array([[0, 257, 25700], [32896, 51400, 65535]], np.uint16)
    file = io.BytesIO()
    Image.fromarray(grey).save(file, "PNG")
    assert Image.open(io.BytesIO(file.getvalue())).mode == "I;16"
    assert decoded(file.getvalue()).tolist() == [[[x] * 3 for x in row] for row in [[0, 1, 100], [128, 200, 255]]]
