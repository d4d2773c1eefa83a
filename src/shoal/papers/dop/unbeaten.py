"""Every cell of Table II that shoal's dop does not beat, and why, computed from the rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..base import Row
from .data import Candidate
from .experiments import REPAIRED, likeliest
from .printed import DIGITS, NCP, SETTINGS, Setting, label


def unbeaten(candidates: list[Candidate], files: list[Row], table: list[Row]) -> list[Row]:
    """Return one row for every file and setting where dop's NCP is not below the printed one."""
    chosen = likeliest(files)
    rows = []
    for candidate in candidates:
        for setting, printed in zip(SETTINGS, NCP[candidate.dataset]["Proposed"], strict=True):
            cells = _cells(table, candidate.file, setting)
            ours = cells[REPAIRED]
            if ours < printed - DIGITS:
                continue
            row: Row = {"dataset": candidate.dataset, "file": candidate.file, "setting": label(setting)}
            row |= {"printed": printed, REPAIRED: ours, "least possible": least_ncp(candidate, setting)}
            best = min(cells, key=lambda name: cells[name])
            row |= {"best of shoal": best, "its NCP": cells[best]}
            row["why"] = _why(row, chosen[candidate.dataset], files, table)
            rows.append(row)
    return rows


def _cells(table: list[Row], file: str, setting: Setting) -> dict[str, float]:
    wanted = label(setting)
    return {row["method"]: row["ncp"] for row in table if row["file"] == file and row["setting"] == wanted}


def _why(row: Row, chosen: str, files: list[Row], table: list[Row]) -> str:
    """Return the reason of one cell in words, every number in it measured."""
    if row[REPAIRED] <= DIGITS and row["printed"] <= DIGITS:
        return "both are 0, the least there is"
    if row["least possible"] > row["printed"] + DIGITS:
        return "no partition of this file that keeps (k, l) reaches the printed figure"
    reasons = []
    if row["file"] != chosen:
        equal = next(found["cells equal"] for found in files if found["file"] == chosen)
        there = next(
            found["ncp"]
            for found in table
            if (found["file"], found["setting"], found["method"]) == (chosen, row["setting"], REPAIRED)
        )
        reasons.append(
            f"not the paper's file: its Mondrian figures point to {chosen} ({equal} of {len(SETTINGS)} cells "
            f"equal), where dop has {there:.4f}"
        )
    if row["its NCP"] > row["printed"] + DIGITS:
        reasons.append(f"none that was run here reaches it: the best is {row['best of shoal']}")
    elif row["best of shoal"] != REPAIRED:
        reasons.append(f"{row['best of shoal']} reaches it, which may part equal records")
    return "; ".join(reasons) or "greedy cuts miss it: a better partition may exist"


def least_ncp(candidate: Candidate, setting: Setting) -> float:
    """Return an NCP that no partition of the file is below.

    A record shares its class with k - 1 others, one with another sensitive value where l is 2 or more;
    what it loses is at least the loss of the pair with the farthest of them, and so at least that of the
    (k - 1)-th nearest record and of the nearest with another sensitive value.
    """
    k, l = setting  # noqa: E741
    sensitive, _ = candidate.encoded.column_codes(candidate.sensitive)
    n = candidate.encoded.records
    total = 0.0
    for i in range(n):
        pair = _pair_losses(candidate, i)
        least = float(np.partition(pair, k - 1)[k - 1])  # the record itself is at 0
        if l > 1:
            least = max(least, float(pair[sensitive != sensitive[i]].min()))
        total += least
    return total / n


def _pair_losses(candidate: Candidate, i: int) -> NDArray[np.float64]:
    """Return the loss of a class of record `i` and each other record, mean over columns."""
    codes = candidate.encoded.codes
    total = np.zeros(candidate.encoded.records)
    for j, column in enumerate(candidate.encoded.quasi):
        other, own, null = codes[:, j], codes[i, j], column.size
        if column.positions is None:
            loss = (other != own) / max(column.size - 1, 1)
        else:
            places = np.append(column.positions, 0.0)
            loss = np.abs(places[other] - places[own])
        total += np.where((other == null) != (own == null), 1.0, loss)
    return total / len(candidate.encoded.quasi)
