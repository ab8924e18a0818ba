"""Loops that numba compiles on their first call, with a NumPy form that runs where numba is missing.

    @compiled(numpy_form)      # same arguments, same results: the readable definition, and the tests' oracle
    def _loops(z, out): ...    # plain loops over arrays and numbers

The NumPy form is vectorised over streams, the loops go value by value. Importing numba takes a third of a second, so it
waits for the first call; the machine code is kept beside the source file and found again by the next process.
Loops may call other functions marked `@compiled()` of the same file: numba notices a change of that file only.
"""

from __future__ import annotations

import functools
import importlib.util
import types
from collections.abc import Callable
from typing import Any


@functools.cache
def available() -> bool:
    """Whether numba is installed; looked up once."""
    return importlib.util.find_spec("numba") is not None


class Compiled:
    """A function with two forms: `loops` for numba and `numpy_form` for everywhere else."""

    def __init__(self, loops: Callable[..., Any], numpy_form: Callable[..., Any] | None, fma: bool = False) -> None:
        functools.update_wrapper(self, loops)
        self.loops, self.numpy_form, self.fma = loops, numpy_form, fma
        self._machine_code: Callable[..., Any] | None = None

    def __call__(self, *arguments: Any) -> Any:
        if not available():
            return (self.numpy_form or self.loops)(*arguments)
        return self.machine_code()(*arguments)

    def machine_code(self) -> Callable[..., Any]:
        """numba's form of the loops, made on the first call."""
        if self._machine_code is None:
            import numba

            fast = {"contract"} if self.fma else False  # all of fastmath would cut digits
            compile_ = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=fast)
            self._machine_code = compile_(self._with_inner_machine_code())
        return self._machine_code

    def _with_inner_machine_code(self) -> Callable[..., Any]:
        """The loops, seeing the machine code of those marked functions that they call: numba knows no other kind."""
        code, names = self.loops.__code__, self.loops.__globals__
        inner = {name: names[name] for name in code.co_names if isinstance(names.get(name), Compiled)}
        for name, function in inner.items():
            if function.loops.__code__.co_filename != code.co_filename:
                raise ValueError(f"{name} must stand in the file of {code.co_name}, or numba misses its changes")
        seen = {**names, **{name: function.machine_code() for name, function in inner.items()}}
        rebuilt = types.FunctionType(code, seen, self.loops.__name__, self.loops.__defaults__)
        return functools.update_wrapper(rebuilt, self.loops)


def compiled(
    numpy_form: Callable[..., Any] | None = None, fma: bool = False
) -> Callable[[Callable[..., Any]], Compiled]:
    """Mark loops for compilation; without a NumPy form they run as plain Python where numba is missing.

    With `fma` the processor may round a * b + c once instead of twice: faster, and other last bits on other machines.
    """
    return lambda loops: Compiled(loops, numpy_form, fma)
