"""How values and labels are written in published cells: plain where that is unmistakable, quoted elsewhere.

A published text cell is one of: ``*`` (says nothing), ``[low, high]``, ``{a, b}``, ``"a JSON text"``, or the
value as it is. A value that would read as one of the others is quoted as in JSON.
"""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

STAR = "*"
OPENS_LIKE_A_CELL = r'^["{\[]|^\*$'
BREAKS_A_LIST = r'[,{}\[\]"]|^\s|\s$|^\*?$'


def is_text(kind: pa.DataType) -> bool:
    """Return whether values of a type are texts themselves, which could look like a cell."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def value_texts(values: pa.Array) -> pa.Array:
    """Return values as texts: shortest digits, no decimals for whole numbers, ISO 8601 for dates.

    Moments that are all midnights are written as days.

    Examples
    --------
    >>> import pyarrow as pa
    >>> value_texts(pa.array([20.0, 0.1, None])).to_pylist()
    ['20', '0.1', None]
    """
    if pa.types.is_timestamp(values.type):
        days = values.cast(pa.date32(), safe=False)
        if pc.all(pc.equal(days.cast(values.type), values)).as_py() is not False:
            return days.cast(pa.string())
        seconds = values.cast(pa.timestamp("s", values.type.tz), safe=False)
        whole = pc.all(pc.equal(seconds.cast(values.type), values)).as_py()
        return pc.replace_substring(
            (seconds if whole else values).cast(pa.string()), " ", "T", max_replacements=1
        )
    if pa.types.is_date64(values.type):
        return values.cast(pa.date32()).cast(pa.string())
    return values if pa.types.is_string(values.type) else values.cast(pa.string())


def quoted(texts: pa.Array, pattern: str) -> pa.Array:
    """Return texts with those that match a pattern written as JSON texts.

    Examples
    --------
    >>> import pyarrow as pa
    >>> quoted(pa.array(["plain", "*", "[a"]), OPENS_LIKE_A_CELL).to_pylist()
    ['plain', '"*"', '"[a"']
    """
    where = pc.fill_null(pc.match_substring_regex(texts, pattern), False)
    if not pc.any(where).as_py():
        return texts
    strange = [json.dumps(text, ensure_ascii=False) for text in texts.filter(where).to_pylist()]
    return pc.replace_with_mask(texts, where, pa.array(strange, type=texts.type))


def node_texts(labels: tuple[str, ...], root: int) -> list[str]:
    """Return the texts of a hierarchy's nodes: their labels, quoted where one could be taken for ``*``."""
    return [
        json.dumps(label, ensure_ascii=False) if label.startswith('"') or _poses(label, node, root) else label
        for node, label in enumerate(labels)
    ]


def _poses(label: str, node: int, root: int) -> bool:
    return label == STAR and node != root


def marked(cells: pa.Array, *, mixed: NDArray[np.bool_], empty: NDArray[np.bool_]) -> pa.Array:
    """Return the cells of classes with ``*`` where null is mixed with values, and null where all is null."""
    nothing = pa.scalar(None, type=cells.type)
    cells = pc.if_else(pa.array(empty), nothing, cells)
    return pc.if_else(pa.array(mixed), pa.scalar(STAR, type=cells.type), cells)
