"""Import torchvision where its compiled operators are absent.

PyPI's torchvision is built against CUDA; on a CPU-only torch its import fails because two detection operators were
never registered. Knob uses neither, so their schemas alone are declared, and only where the plain import fails.
"""

from __future__ import annotations

import sys

import torch

_SCHEMA = "(Tensor dets, Tensor scores, float iou_threshold) -> Tensor"
_declared: list[torch.library.Library] = []  # a library's schemas live as long as the object does


def _declare_missing_operators() -> None:
    library = torch.library.Library("torchvision", "DEF")
    library.define("nms" + _SCHEMA)
    library.define("qnms" + _SCHEMA)
    _declared.append(library)


try:
    import torchvision
except RuntimeError as error:
    if "torchvision::" not in str(error):
        raise
    for name in [name for name in sys.modules if name.split(".")[0] == "torchvision"]:
        del sys.modules[name]  # the failed import left half a package behind
    _declare_missing_operators()
    import torchvision

__all__ = ["torchvision"]
