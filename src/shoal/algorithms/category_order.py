"""Orders for categories that have none, so that they can be cut and measured like numbers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded, QuasiColumn

ORDERS = ("alphabetical", "appearance", "frequency", "similarity")
_ROUNDS = 30  # of alternating means; the order hardly changes after a few


def ordered_codes(encoded: Encoded, how: str) -> NDArray[np.int32]:
    """Return the codes with the categories of columns without hierarchy renumbered; null keeps its code.

    Parameters
    ----------
    encoded : Encoded
    how : str
        "alphabetical"; "appearance" in the table; "frequency", most frequent first; or "similarity":
        categories whose records are alike in the other columns stand near each other.

    Examples
    --------
    >>> import pyarrow as pa, shoal
    >>> policy = shoal.Policy(quasi={"job": "categorical"})
    >>> encoded = shoal.encode(pa.table({"job": ["smith", "cook", "cook"]}), policy)
    >>> ordered_codes(encoded, "appearance").ravel().tolist()
    [0, 1, 1]
    """
    codes = encoded.codes.copy(order="F")
    loose = [j for j, column in enumerate(encoded.quasi) if column.positions is None and column.tree is None]
    if how == "alphabetical" or not loose:
        return codes
    quantified = similarity_scores(encoded) if how == "similarity" else []
    for j in loose:
        column, found = encoded.quasi[j], encoded.codes[:, j]
        if how == "appearance":
            scores = np.full(column.size + 1, encoded.records)
            np.minimum.at(scores, found, np.arange(encoded.records))
        elif how == "frequency":
            scores = -np.bincount(found, minlength=column.size + 1)
        else:
            scores = quantified[j]
        rank = np.empty(column.size + 1, dtype=np.int32)
        rank[np.argsort(scores[: column.size], kind="stable")] = np.arange(column.size, dtype=np.int32)
        rank[column.size] = column.size
        codes[:, j] = rank[found]
    return codes


def similarity_scores(encoded: Encoded) -> list[NDArray[np.float64]]:
    """Return one number per code and column: the first dimension of an analysis of homogeneity.

    Every record's score is the mean of the scores of its cells, and a category's the mean of its records', in
    turn (Gifi 1990). Columns with positions keep their order: their scores are a line through the origin. The
    scores of the first round are those of the codes themselves, so nothing is left to chance.
    """
    n, q = encoded.codes.shape
    counts = [np.bincount(encoded.codes[:, j], minlength=c.size + 1) for j, c in enumerate(encoded.quasi)]
    scores = [_standardised(_places(column), counts[j]) for j, column in enumerate(encoded.quasi)]
    lines = [column.positions is not None for column in encoded.quasi]
    slopes = np.ones(q)
    base = [column.copy() for column in scores]
    for _ in range(_ROUNDS):
        record = np.zeros(n)
        for j in range(q):
            record += scores[j][encoded.codes[:, j]]
        record -= record.mean()
        spread = float(np.sqrt(np.mean(record**2)))
        if spread == 0.0:
            break
        record /= spread
        for j in range(q):
            sums = np.bincount(encoded.codes[:, j], weights=record, minlength=len(counts[j]))
            if lines[j]:
                slopes[j] = float(base[j] @ sums) / n
                scores[j] = base[j] * slopes[j]
            else:
                scores[j] = sums / np.maximum(counts[j], 1)
    return scores


def _places(column: QuasiColumn) -> NDArray[np.float64]:
    """Return where each code of a column lies, on [0, 1]; null in the middle."""
    if column.positions is not None:
        return np.append(column.positions, 0.5)
    return np.append(np.arange(column.size) / max(column.size - 1, 1), 0.5)


def _standardised(values: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    total = max(int(counts.sum()), 1)
    centred = values - float(values @ counts) / total
    spread = float(np.sqrt(float(centred**2 @ counts) / total))
    return np.asarray(centred / spread if spread > 0 else centred * 0.0)
