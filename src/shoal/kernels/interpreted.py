"""Kernels as plain Python: slow, but nothing has to be compiled, which takes longer than any tiny table."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


def interpreted(kernel: Any, **constants: Any) -> Callable[..., Any]:
    """Return a kernel that is not compiled, nor are those it calls; module constants may be replaced."""
    return _twin(kernel, constants, {})


def _twin(kernel: Any, constants: dict[str, Any], made: dict[Any, FunctionType]) -> FunctionType:
    """Return the function of a kernel among globals that hold the functions of the others."""
    if kernel not in made:
        function = kernel.py_func
        around = {**function.__globals__, **constants}
        made[kernel] = FunctionType(
            function.__code__, around, function.__name__, function.__defaults__, function.__closure__
        )
        for name, value in around.items():
            if name in function.__code__.co_names and hasattr(value, "py_func"):
                around[name] = _twin(value, constants, made)
    return made[kernel]
