"""What the paper itself prints: Table I, Table II and the settings between them."""

from __future__ import annotations

Setting = tuple[int, int]  # k and l

SETTINGS: tuple[Setting, ...] = ((1, 1), (2, 2), (5, 2), (10, 2))

#: Table I: total attributes of each data set.
ATTRIBUTES = {"Bank Marketing": 17, "Heart Disease": 14, "Student Performance": 33}

#: Table II: NCP by data set and method, in the order of `SETTINGS`.
NCP: dict[str, dict[str, tuple[float, ...]]] = {
    "Bank Marketing": {
        "Mondrian": (0.2054, 0.4572, 0.3959, 0.4477),
        "Proposed": (0.0000, 0.3659, 0.2790, 0.3744),
    },
    "Heart Disease": {
        "Mondrian": (0.0308, 0.2488, 0.3250, 0.4193),
        "Proposed": (0.0000, 0.1683, 0.2718, 0.3652),
    },
    "Student Performance": {
        "Mondrian": (0.2115, 0.2348, 0.2834, 0.3496),
        "Proposed": (0.0000, 0.0416, 0.1226, 0.2075),
    },
}

DIGITS = 5e-5  # half of the last digit that is printed


def label(setting: Setting) -> str:
    """Return a setting as the paper writes it."""
    return f"({setting[0]}, {setting[1]})"


def at(dataset: str, method: str, setting: Setting) -> float:
    """Return one cell of Table II."""
    return NCP[dataset][method][SETTINGS.index(setting)]
