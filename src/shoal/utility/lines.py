"""Line: a column's values as places on a line, where original values and published cells can be compared.

Numbers and dates lie at their number; ordered categories at their rank; categories at their code, which with
a hierarchy is the leaf's place in depth-first order, so that every node covers a stretch. Where all values
are whole, each is as wide as one: lengths of stretches then count values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..cell_texts import value_texts
from ..encoding import Encoded, QuasiColumn, SensitiveColumn, numbers_of
from ..hierarchies.tree import Tree
from ..schema import Column, Form, Kind

_NONE = np.zeros(0)
_GENERALISED = (Form.AUTO, Form.INTERVAL, Form.SET, Form.ANCESTOR, Form.BOUNDS)


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """One column of the original on its line.

    Attributes
    ----------
    spec : Column
    values : pyarrow.Array
        The value of each code; null is not among them.
    codes : int32[n]
        The code of every record of the original; ``len(values)`` is null.
    places : float64[values]
        Where each value lies; NaN for a leaf of a hierarchy that does not occur among numbers.
    half : float
        Half the width of a value: 0.5 where all places are whole, else 0.
    tree : Tree, optional
    measured : bool
        Whether places are numbers or moments, rather than ranks or codes.
    quasi : bool
        Whether its published cells are generalised; else they are values.
    """

    spec: Column
    values: pa.Array
    codes: NDArray[np.int32]
    places: NDArray[np.float64]
    half: float
    tree: Tree | None
    measured: bool
    quasi: bool

    @property
    def name(self) -> str:
        """The column's name."""
        return self.spec.name

    @property
    def ordered(self) -> bool:
        """Whether nearness on the line means anything."""
        return self.spec.kind is not Kind.CATEGORICAL

    @property
    def generalised(self) -> bool:
        """Whether a published cell shows what its class covers, rather than a number for all of it."""
        return self.quasi and self.spec.form in _GENERALISED

    @property
    def nodes(self) -> bool:
        """Whether published cells are labels of its hierarchy."""
        return self.quasi and self.tree is not None and self.spec.form in (Form.AUTO, Form.ANCESTOR)

    @property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest place."""
        if not len(self.places) or np.isnan(self.places).all():
            return 0.0, 0.0
        return float(np.nanmin(self.places)), float(np.nanmax(self.places))

    @property
    def counts(self) -> NDArray[np.int64]:
        """Records of the original by code; the last are the nulls."""
        return np.bincount(self.codes, minlength=len(self.values) + 1)

    def texts(self) -> list[str]:
        """Return the text of each value, as published cells spell it."""
        found: list[str] = value_texts(self.values).to_pylist()
        return found

    def places_of(self, values: pa.Array) -> NDArray[np.float64]:
        """Return where values lie that were read from cells, NaN for those that are not on the line."""
        if self.measured:
            return self._numbers(values)
        texts = values if pa.types.is_string(values.type) else value_texts(values)
        known = pc.index_in(texts, value_set=pa.array(self.texts(), type=texts.type))
        found: NDArray[np.float64] = known.cast(pa.float64()).to_numpy(zero_copy_only=False)
        return np.append(self.places, np.nan)[np.where(np.isnan(found), -1, found).astype(np.int64)]

    def _numbers(self, values: pa.Array) -> NDArray[np.float64]:
        """Return numbers and dates on the scale of the original's type."""
        if self.spec.kind is Kind.NUMERIC:
            numbers = values.cast(pa.float64(), safe=False)
        else:
            target = self.values.type if pa.types.is_temporal(self.values.type) else pa.timestamp("us")
            if pa.types.is_string(values.type) and pa.types.is_date(target):
                values = values.cast(pa.timestamp("us"))  # also reads a day with a time
            moments = values.cast(target, safe=False)
            numbers = pa.array(_filled(moments, self.spec), mask=moments.is_null().to_numpy(False))
        found: NDArray[np.float64] = numbers.to_numpy(zero_copy_only=False)
        return found


def _filled(moments: pa.Array, spec: Column) -> NDArray[np.float64]:
    """Return moments as numbers, whatever stands where they are null."""
    epoch = pa.scalar(0, pa.int32() if pa.types.is_date32(moments.type) else pa.int64()).cast(moments.type)
    numbers = numbers_of(moments.fill_null(epoch), spec)
    assert numbers is not None
    return numbers


def lines_of(encoded: Encoded) -> tuple[Line, ...]:
    """Return the lines of all quasi-identifiers, then of all sensitive columns.

    Examples
    --------
    >>> import pyarrow as pa, shoal
    >>> policy = shoal.Policy(quasi={"age": "numeric"}, sensitive={"flu": "categorical"})
    >>> age, flu = lines_of(shoal.encode(pa.table({"age": [30, 20], "flu": ["yes", None]}), policy))
    >>> age.places.tolist(), age.half, flu.codes.tolist(), flu.quasi
    ([20.0, 30.0], 0.5, [0, 1], False)
    """
    quasi = [_quasi_line(column, encoded.column(j)) for j, column in enumerate(encoded.quasi)]
    rest = [_plain_line(column, encoded.sensitive_column(j)) for j, column in enumerate(encoded.sensitive)]
    return (*quasi, *rest)


def _quasi_line(column: QuasiColumn, codes: NDArray[np.int32]) -> Line:
    numbers = column.numbers if column.kind in (Kind.NUMERIC, Kind.DATE) else None
    return _line(Line(column.spec, column.values, codes, _NONE, 0.0, column.tree, False, True), numbers)


def _plain_line(column: SensitiveColumn, codes: NDArray[np.int32]) -> Line:
    values = column.values.drop_null()
    numeric = column.spec.kind in (Kind.NUMERIC, Kind.DATE) and column.tree is None
    numbers = numbers_of(values, column.spec) if numeric else None
    return _line(Line(column.spec, values, codes, _NONE, 0.0, column.tree, False, False), numbers)


def _line(line: Line, numbers: NDArray[np.float64] | None) -> Line:
    """Return a line with its values put in their places."""
    places = np.arange(len(line.values), dtype=np.float64) if numbers is None else numbers
    present = places[~np.isnan(places)]
    whole = bool((present == np.rint(present)).all())
    return replace(line, places=places, half=0.5 if whole else 0.0, measured=numbers is not None)
