"""What the paper prints: its scenarios and Tables 12 to 14, all on Facebook."""

from __future__ import annotations

from typing import NamedTuple


class Scenario(NamedTuple):
    """A setting of Table 11, with the l of section 5."""

    name: str
    k: int
    t: float
    l: int  # noqa: E741  (the paper's letter)


class Cells(NamedTuple):
    """One column of Tables 12 to 14; seconds are printed for the first scenario only, without a unit."""

    classes: int
    cavg: float
    adr: float
    p_ka: int
    p_tc: int
    seconds: float | None = None


SCENARIOS = (Scenario("simple", 4, 0.7, 3), Scenario("medium", 6, 0.5, 4), Scenario("strict", 8, 0.3, 6))
RECORDS = 347
SWEEP = Scenario("sweep", 6, 0.0, 4)  # section 5.4, over t
TS = (0.3, 0.4, 0.5, 0.6, 0.7)

NAMES = ("gcaa", "klt3l", "kfcfa", "p-sensitive", "fuzzy-k-member")  # GCAA, KLT3L, KFCFA, PSKA, FKMC
TABLES: dict[str, dict[str, Cells]] = {
    "simple": {
        "gcaa": Cells(70, 1.239, 0.0197, 0, 0, 16),
        "klt3l": Cells(16, 5.42, 0.07, 0, 0, 2.3),
        "kfcfa": Cells(49, 1.77, 0.005, 0, 0, 46),
        "p-sensitive": Cells(18, 4.81, 0.001, 0, 17, 3.1),
        "fuzzy-k-member": Cells(86, 1.008, 0.001, 0, 71, 3.4),
    },
    "medium": {
        "gcaa": Cells(43, 1.344, 0.0242, 0, 0),
        "klt3l": Cells(12, 4.81, 0.046, 0, 0),
        "kfcfa": Cells(49, 1.18, 0.021, 0, 0),
        "p-sensitive": Cells(17, 3.40, 0.001, 0, 17),
        "fuzzy-k-member": Cells(57, 1.01, 0.001, 0, 37),
    },
    "strict": {
        "gcaa": Cells(25, 1.735, 0.0268, 0, 0),
        "klt3l": Cells(4, 10.84, 0.091, 0, 0),
        "kfcfa": Cells(31, 1.399, 0.027, 0, 0),
        "p-sensitive": Cells(10, 4.33, 0.001, 0, 10),
        "fuzzy-k-member": Cells(43, 1.0081, 0.001, 0, 43),
    },
}
TABLE_NUMBER = {"simple": 12, "medium": 13, "strict": 14}
