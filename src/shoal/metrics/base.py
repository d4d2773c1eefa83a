"""What a metric is: a number (or one per column) computed from the encoded table and its partition."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..packed import count_codes
from ..params import Parameterised
from ..partitions import Partition
from .cells import ClassValues, class_values

if TYPE_CHECKING:
    from ..models.statistics import ClassStatistics
    from ..policy import Policy
    from ..recode import Published
    from .covers import Cover, Covers
    from .hulls import Hulls

T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class Measured:
    """What a metric may look at; what several metrics need is computed once and kept here."""

    encoded: Encoded
    partition: Partition
    covers: Covers
    policy: Policy
    published: Published | None = None
    frugal: bool = False  # make again what several metrics need where it is large, and hold less at a time
    _kept: dict[str, Any] = field(default_factory=dict)

    @property
    def records(self) -> int:
        """Number of records, suppressed ones included."""
        return self.partition.records

    @property
    def suppressed(self) -> int:
        """Number of suppressed records."""
        return self.partition.suppressed

    @cached_property
    def hulls(self) -> Hulls:
        """What every class covers, all columns at once: 16 bytes a class and column."""
        from .hulls import Hulls

        return Hulls.of(self.encoded, self.partition)

    @cached_property
    def loss(self) -> NDArray[np.float64]:
        """What each record of a class loses in each column, float64[g, q]."""
        return self.hulls.loss()

    @cached_property
    def statistics(self) -> ClassStatistics:
        """What the privacy models read."""
        from ..models.statistics import class_statistics

        return class_statistics(self.encoded, self.partition)

    def keep(self, key: str, make: Callable[[], T], *, large: bool = True) -> T:
        """Return what `make` makes, made once for each `key`; what is `large` is not kept if frugal."""
        if self.frugal and large:
            return make()
        if key not in self._kept:
            self._kept[key] = make()
        found: T = self._kept[key]
        return found

    def class_values(self, name: str) -> ClassValues:
        """Return how often each value of a sensitive column or quasi-identifier occurs in each class."""
        codes, size = self.encoded.column_codes(name)
        return self.keep(f"class values of {name}", lambda: class_values(codes, size, self.partition))

    def value_counts(self, j: int) -> NDArray[np.int64]:
        """Return how many records have each code of a quasi-identifier, null being the last."""

        def count() -> NDArray[np.int64]:
            size = self.encoded.quasi[j].size + 1
            return count_codes(self.encoded.stored(j), size)

        return self.keep(f"value counts of {j}", count, large=False)

    def most_frequent(self, name: str) -> NDArray[np.int64]:
        """Return how often each class's most frequent value of a column occurs in it."""
        from ..kernels.class_values import most_frequent

        codes, size = self.encoded.column_codes(name)
        return most_frequent(codes, size, self.partition.order, self.partition.offsets)

    def by_column(self, by_cell: Callable[[Cover], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return float64[q]: mean over records of a loss per cell of each column, 1 if suppressed."""
        covers = [self.covers[j] for j in range(len(self.encoded.quasi))]
        total = np.array([float(cover.hulls.sizes @ by_cell(cover)) for cover in covers])
        found: NDArray[np.float64] = (total + self.suppressed) / self.records
        return found

    def mean_by_column(self, by_class: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return float64[q]: mean over records of a loss per class and column, 1 if suppressed."""
        total: NDArray[np.float64] = self.partition.sizes @ by_class + self.suppressed
        return total / self.records


@dataclass(frozen=True)
class Metric(Parameterised):
    """A metric; its parameters are its fields.

    Class attributes
    ----------------
    name, summary, formula, reference : str
        The registered name, one sentence, the definition, and the publication it comes from. In formulas
        n is the number of records, z of suppressed ones, q of quasi-identifiers, g of classes; E is a class
        and size(E) its number of records.
    needs : str
        What has to be there for the metric to have a meaning, as a phrase.
    better : "higher" or "lower"
    low, high : float
        The range.
    span : str
        The range in words, where it depends on the table.
    costly : bool
        Whether it takes much longer than a few passes over the records; left out where tables are large.
    """

    formula: ClassVar[str] = ""
    reference: ClassVar[str] = ""
    needs: ClassVar[str] = "a partition"
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    costly: ClassVar[bool] = False
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = float("inf")
    span: ClassVar[str] = ""

    @classmethod
    def range_words(cls) -> str:
        """Return the range in words.

        Examples
        --------
        >>> from shoal import registry
        >>> registry.get("metrics", "gcp").range_words(), registry.get("metrics", "il").range_words()
        ('0 to 1', '0 to n * q')
        """
        return cls.span or f"{cls.low:g} to {cls.high:g}"

    def applies(self, measured: Measured) -> bool:
        """Return whether the metric has a meaning for this table and policy."""
        return True

    @abstractmethod
    def compute(self, measured: Measured) -> float | dict[str, float]:
        """Return the value, or one value per column."""
