"""What encoding means, in plain Python: codes are ranks among the distinct values, null comes last."""

from __future__ import annotations

import math
from typing import Any


def is_null(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def encode(values: list[Any], order: list[Any] | None = None) -> tuple[list[int], list[Any]]:
    """Return (code of every value, the distinct values in order)."""
    present = {value for value in values if not is_null(value)}
    ranked = sorted(present) if order is None else [value for value in order if value in present]
    code = {value: rank for rank, value in enumerate(ranked)}
    return [len(ranked) if is_null(value) else code[value] for value in values], ranked
