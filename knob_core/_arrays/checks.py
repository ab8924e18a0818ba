"""What every public function asks of its arguments: real, finite, in range, of a known shape.

Errors are ValueError and name the argument, the value and what is allowed. Tensors are recognised without importing
torch; their values are read only where that is free: on the CPU, and not while a graph is being traced or compiled.
"""

from __future__ import annotations

import functools
import math
import sys
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, overload

import numpy as np

if TYPE_CHECKING:
    import torch
    from typing_extensions import TypeIs

# The same formulas serve arrays and tensors: the result is of the kind of the data.
A = TypeVar("A", np.ndarray, "torch.Tensor")
Array: TypeAlias = "np.ndarray | torch.Tensor"
Knob: TypeAlias = "float | np.ndarray | torch.Tensor"
PerStream: TypeAlias = "float | np.ndarray"  # one number for all streams, or (N,)


def is_tensor(x: Any) -> TypeIs[torch.Tensor]:
    tensor = getattr(sys.modules.get("torch"), "Tensor", None)  # another thread may be in the middle of importing torch
    return tensor is not None and isinstance(x, tensor)


def namespace(*arrays: Any) -> Any:
    """torch where one of the arrays is a tensor, NumPy otherwise."""
    return sys.modules["torch"] if any(map(is_tensor, arrays)) else np


def readable(tensor: Any) -> bool:
    """Whether a look at its values costs nothing and breaks nothing."""
    torch = sys.modules["torch"]
    return tensor.is_cpu and not torch.compiler.is_compiling() and not torch.jit.is_tracing()


LARGEST = 1e100  # size of a logit or a command: beyond it sums and products of a few of them overflow


def unmasked(name: str, x: Any) -> Any:
    """What is no masked array: its mask would be lost on the way, and what was masked count as seen."""
    if isinstance(x, np.ma.MaskedArray):
        raise ValueError(f"{name} has {np.ma.count_masked(x)} masked values, expected an array without a mask")
    return x


def as_array(name: str, x: Any) -> np.ndarray:
    """An array, a tensor on any device, or a list, as an array of the same numbers."""
    x = unmasked(name, x)
    try:
        if is_tensor(x):
            x = x.detach().cpu()
            x = (x.double() if x.is_floating_point() else x).numpy()  # NumPy has no bfloat16
        return np.asarray(x)
    except (TypeError, ValueError, RuntimeError) as error:  # tensors that are no arrays, lists of different lengths
        raise ValueError(f"{name} is a {type(x).__name__}, expected an array ({error})") from None


def real_numbers(name: str, x: Any) -> np.ndarray:
    """An array, tensor or list of real numbers as float64; bools are none."""
    x = as_array(name, x)
    if x.dtype.kind not in "fiu":
        raise ValueError(f"{name} has dtype {x.dtype}, expected real numbers")
    with np.errstate(over="ignore"):
        return x.astype(np.float64)


def require_size(name: str, x: np.ndarray) -> None:
    """Refuse finite numbers above LARGEST in size; NaN and infinities are for others to judge."""
    if x.dtype.kind != "f" or x.dtype.itemsize < 8:  # no such number is as large
        return
    too_large = np.abs(x) > LARGEST
    if too_large.any() and (too_large := too_large & np.isfinite(x)).any():
        raise ValueError(f"{name} is {first_bad(x, ~too_large)}, expected numbers of at most {LARGEST:g} in size")


def first_bad(x: np.ndarray, good: np.ndarray) -> str:
    """The first value that is not good, with its index: what an error message shows."""
    index = tuple(int(i) for i in np.argwhere(~good)[0])
    return f"{x[index]}" + (f" at index {index}" if index else "")


@overload
def real_array(name: str, x: torch.Tensor, *, min_ndim: int = 0, finite: bool = True) -> torch.Tensor: ...
@overload
def real_array(name: str, x: Any, *, min_ndim: int = 0, finite: bool = True) -> np.ndarray: ...
def real_array(name: str, x: Any, *, min_ndim: int = 0, finite: bool = True) -> Array:
    """A floating-point array or tensor with at least min_ndim axes and at least one element; by default finite."""
    if is_tensor(x := unmasked(name, x)):
        if not x.dtype.is_floating_point:
            raise ValueError(f"{name} must be a real floating-point array, got dtype {x.dtype}")
    else:
        x = np.asarray(x)
        if x.dtype.kind != "f":
            raise ValueError(f"{name} must be a real floating-point array, got dtype {x.dtype}")
        if x.dtype == np.float16:
            x = x.astype(np.float32)
    if x.ndim < min_ndim:
        raise ValueError(f"{name} must have at least {min_ndim} axes, got shape {tuple(x.shape)}")
    if 0 in x.shape:
        raise ValueError(f"{name} must not be empty, got shape {tuple(x.shape)}")
    if finite:
        require_finite(name, x)
    return x


def require_finite(name: str, x: Array) -> None:
    if is_tensor(x):
        if not readable(x):
            return
        x = x.detach().double().numpy()
    with np.errstate(over="ignore", invalid="ignore"):
        if np.isfinite(x.sum()):  # one pass without a temporary; a NaN or infinity cannot hide in a sum
            return
    good = np.isfinite(x)
    if not good.all():
        raise ValueError(f"{name} must be finite, got {first_bad(x, good)}")


def shown(value: Any) -> str:
    """A value from outside as an error names it: no longer than one can read; Python refuses to write giant numbers."""
    try:
        text = repr(value)
    except ValueError:
        return "a number of more than 4,300 digits"
    return text if len(text) <= 80 else f"{text[:50]}...{text[-25:]}"


def whole_number(name: str, value: Any, low: int, high: int | None = None) -> int:
    """A whole number, Python's or NumPy's, from low to high; a bool is none."""
    whole = isinstance(value, (int, np.integer)) and not isinstance(value, bool)
    if not whole or value < low or (high is not None and value > high):
        allowed = f">= {low}" if high is None else f"in [{low}, {high}]"
        raise ValueError(f"{name} is {shown(value)}, expected a whole number {allowed}")
    return int(value)


def knob(name: str, x: Any, low: float, *, above: bool, high: float = math.inf) -> Any:
    """A knob as np.float64, float array or tensor; x > low where above, else x >= low. Plain integers are fine."""
    allowed = f"finite and {'>' if above else '>='} {low:g}" + (f" and <= {high:g}" if high < math.inf else "")
    if is_tensor(x):
        x = real_array(name, x, finite=False)
        values = x.detach().double().numpy() if readable(x) else None
    else:
        if np.ndim(x) == 0:
            if np.asarray(x).dtype.kind not in "fiu":
                raise ValueError(f"{name} must be a number, {allowed}, got {x!r}")
            x = np.float64(x)
            if math.isfinite(x) and (x > low if above else x >= low) and x <= high:
                return x
            raise ValueError(f"{name} must be {allowed}, got {x}")
        values = x = real_array(name, x, finite=False).astype(np.float64)
    if values is not None:
        good = np.isfinite(values) & (values > low if above else values >= low) & (values <= high)
        if not good.all():
            raise ValueError(f"{name} must be {allowed}, got {first_bad(values, good)}")
    return x


def knobs(zeta: Any, omega_n: Any, dt: Any) -> tuple[Any, Any, Any]:
    """zeta >= 0, omega_n > 0 (rad/frame), dt > 0 (frames)."""
    return (
        knob("zeta", zeta, 0.0, above=False),
        knob("omega_n", omega_n, 0.0, above=True),
        knob("dt", dt, 0.0, above=True),
    )


def together(*arrays: Any) -> tuple[Any, ...]:
    """All as tensors on one device where one is a tensor, data in the widest of their types; unchanged otherwise.

    A 0-d knob follows the data to their device and keeps its own digits; data are never moved.
    """
    tensors = [x for x in arrays if is_tensor(x)]
    if not tensors:
        return arrays
    torch = sys.modules["torch"]
    data = [x for x in tensors if x.ndim] or tensors
    device, dtype = data[0].device, functools.reduce(torch.promote_types, (x.dtype for x in data))
    for x in data:
        if x.device != device and x.ndim:
            raise ValueError(f"all tensors must be on one device, got {device} and {x.device}")
    return tuple(
        x.to(device, dtype if x.ndim else x.dtype) if is_tensor(x) else torch.as_tensor(x, dtype=dtype, device=device)
        for x in arrays
    )


def for_torch(x: Any) -> np.ndarray:
    """An array of bytes or floats as torch can take it: in C order, of native bytes, and its own to write to."""
    x = np.asarray(unmasked("frames", x))
    if x.dtype != np.uint8 and (x.dtype.kind != "f" or x.dtype.itemsize > 8):
        raise ValueError(f"frames have dtype {x.dtype}, expected uint8 or floats of at most 64 bits")
    return np.require(x, x.dtype.newbyteorder("="), ["C", "W"])
