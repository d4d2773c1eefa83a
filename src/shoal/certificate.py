"""The certificate: a loss that no partition of a table into classes of k records can undercut.

What a release loses is easily measured; how much of it was unavoidable is not. `certify` answers with a lower
bound that holds for every partition into classes of at least k records, suppressed records included.
``docs/explanation/certificate.md`` proves every step.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .algorithms.distinct import distinct_rows
from .encoding import Encoded, QuasiColumn
from .errors import UnknownName

if TYPE_CHECKING:
    from .kernels.gauge import Gauge

LOSSES = ("gcp", "lm", "il-normalised")
SQUARES = "il-sse"

_FEW = 256  # distinct rows; up to here nothing is compiled
_STEPS = (
    1 << 15
)  # looks at a row that plain Python takes about as long for as compiled code for a large table
_THOROUGH = 1 << 11  # distinct rows; above, only the nearest records are looked at, and no sets of them
_EFFORT = 1 << 20  # rows looked at while sets are compared
_SCANNED = 1 << 34  # cells that comparing every row with every other may go through
_VISITS = 2_500_000  # pairs of neighbours looked at while prices are raised, about
_BOXES = (48, 128, 1 << 24)  # visited for each row of a larger table: at least, at most, and for all together
_KEPT = 64  # tables, losses and k whose bound is remembered
_ROUNDING = 1e-12  # of every sum of losses is given up to rounding, many times what it can amount to


@dataclass(frozen=True, slots=True)
class Certificate:
    """A lower bound on the loss of every partition of one table into classes of at least k records.

    Attributes
    ----------
    loss : str
        The metric it bounds, on the same scale.
    k : int
    bound : float
        No partition loses less, whichever records it suppresses of those that it may.
    how : str
        Which of the bounds of ``docs/explanation/certificate.md`` it is.
    """

    loss: str
    k: int
    bound: float
    how: str

    def gap(self, achieved: float) -> float:
        """Return the share of a loss that could still be avoidable; 0 where it is proved to be the least.

        Examples
        --------
        >>> Certificate("gcp", 5, 0.03, "least classes").gap(0.04)
        0.25
        """
        return gap_of(self.bound, achieved)


def gap_of(bound: float, achieved: float) -> float:
    """Return ``1 - bound / achieved``, 0 where that is nothing but rounding, or nothing is lost."""
    share = 1 - bound / achieved if achieved > 0 else 0.0
    return share if share > 1e-9 else 0.0


def certify(
    encoded: Encoded, k: int, loss: str = "gcp", *, suppressed: int | None = None, threads: bool = True
) -> Certificate:
    """Return a lower bound on what any partition of a table into classes of `k` or more records loses.

    Parameters
    ----------
    encoded : Encoded
        The integer view of a table.
    k : int
        The least size of a class.
    loss : "gcp", "lm", "il-normalised" or "il-sse"
        The metric to bound.
    suppressed : int, optional
        Records that may be suppressed at most; any number when not given.
    threads : bool
        Whether a large table may be worked on by several threads. False where the caller itself is one of
        several Python threads. The result is the same.

    Examples
    --------
    The cheapest partner of the last record is 30 years younger, so both lose at least 30 / 33 in age; each
    other record has a partner a year away. Spread over 10 cells, no partition into pairs loses less:

    >>> import shoal
    >>> policy = shoal.Policy(quasi={"age": "numeric", "job": "categorical"})
    >>> encoded = shoal.encode({"age": [20, 21, 22, 23, 53], "job": ["a", "a", "a", "b", "b"]}, policy)
    >>> round(certify(encoded, 2).bound, 4)
    0.1909
    """
    if loss == SQUARES:
        return _certify_squares(encoded, k, suppressed)
    if loss not in LOSSES:
        raise UnknownName.nearest("loss with a bound", loss, [*LOSSES, SQUARES])
    rows = rows_of(encoded, loss)
    key = _fingerprint(rows, k, suppressed != 0)
    found = _REMEMBERED.get(key)
    if found is None:
        found = _exactly(encoded, rows, k, loss, suppressed != 0) or _total(rows, k, threads)
        _REMEMBERED.put(key, found)
    return Certificate(loss, k, found.total * (1 - _ROUNDING) / (encoded.records * rows.columns), found.how)


def _certify_squares(encoded: Encoded, k: int, suppressed: int | None) -> Certificate:
    """Return a lower bound on the squared error of class means, in percent of the total."""
    from .squared_certificate import centred_points, squared_bound

    points = centred_points(encoded)
    digest = hashlib.blake2b(repr((k, suppressed, points.shape)).encode(), digest_size=32)
    digest.update(points.data)
    found = _REMEMBERED.get(digest.digest())
    if found is None:
        found = _Total(*squared_bound(points, k, suppressed))
        _REMEMBERED.put(digest.digest(), found)
    whole = float(np.nansum(points**2))
    bound = 100 * found.total * (1 - _ROUNDING) / whole if whole > 0 else 0.0
    return Certificate(SQUARES, k, bound, found.how)


class _Total(NamedTuple):
    """What all records lose at least, all columns together."""

    total: float
    how: str


class _Memory:
    """The bounds found last: several algorithms on one table are compared with the same one."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._found: OrderedDict[bytes, _Total] = OrderedDict()
        self._lock = Lock()

    def get(self, key: bytes) -> _Total | None:
        with self._lock:
            found = self._found.get(key)
            if found is not None:
                self._found.move_to_end(key)
            return found

    def put(self, key: bytes, found: _Total) -> None:
        with self._lock:
            self._found[key] = found
            if len(self._found) > self._most:
                self._found.popitem(last=False)


_REMEMBERED = _Memory(_KEPT)


def _fingerprint(rows: Rows, k: int, dropping: bool) -> bytes:
    """Return a digest of everything the bound depends on; nothing of the table can be told from it."""
    digest = hashlib.blake2b(
        repr((k, dropping, rows.fixed, rows.columns, rows.values.shape)).encode(), digest_size=32
    )
    for part in (*rows.gauge, rows.values, rows.weight):
        digest.update(np.ascontiguousarray(part).data)
    return digest.digest()


def _exactly(encoded: Encoded, rows: Rows, k: int, loss: str, dropping: bool) -> _Total | None:
    """Return the least loss there is where only one column loses anything, None where it is not found."""
    if len(rows.values) != 1:
        return None
    from .one_column import solve_column

    solved = solve_column(encoded, k, loss, dropping=dropping)
    if solved is None:
        return None
    fixed = rows.fixed * encoded.records
    return _Total(solved.cost + fixed, "exact, one column")


def _total(rows: Rows, k: int, threads: bool) -> _Total:
    """Return the bound of all records together, not looked up."""
    found = _bound(rows, k, threads)
    fixed = rows.fixed * int(rows.weight.sum())
    return _Total(float(found.costs @ rows.weight[found.rows]) + fixed, found.how)


class _Bound(NamedTuple):
    """What each row is sure to lose, or what it may be charged: see the sections of the same name."""

    rows: NDArray[np.int64]
    costs: NDArray[np.float64]
    how: str


def _bound(rows: Rows, k: int, threads: bool) -> _Bound:
    """Return what all records lose at least in the columns that are not fixed."""
    q, count = rows.values.shape
    if count <= _FEW:
        return _searched(rows, k, _without_compiling(count))
    if count * count * q > _SCANNED:
        return _nearest(rows, k, threads)
    return _searched(rows, k, _compiled(count))


class _Search(NamedTuple):
    """How the bound of a table is found that is small enough to compare every row with every other."""

    make_boxes: Callable[..., Any]
    nearest: Callable[..., Any]
    least: Callable[..., Any]
    limit: Callable[..., Any]
    raised: Callable[..., Any]
    effort: int  # rows looked at for each row while sets are compared; 0 for the nearest records
    visits: int  # pairs of neighbours looked at while prices are raised, about


def _compiled(count: int) -> _Search:
    """Return the search for a table with this many distinct rows."""
    from .kernels.box_tree import make_boxes
    from .kernels.least_class import least_costs, nearest_costs
    from .kernels.prices import price_limit, raise_prices

    effort = _EFFORT // count if count <= _THOROUGH else 0
    return _Search(make_boxes, nearest_costs, least_costs, price_limit, raise_prices, effort, _VISITS)


def _without_compiling(count: int) -> _Search:
    """Return the search for a table with so few distinct rows that compiling would take longer."""
    from .kernels.interpreted import interpreted
    from .kernels.prices import PARTED

    found = _compiled(count)
    doubled = (_STEPS // count**2).bit_length() - 1  # each column by which classes are told apart does
    raised = interpreted(found.raised, PARTED=min(max(doubled, 0), PARTED))
    return _Search(
        interpreted(found.make_boxes),
        interpreted(found.nearest),
        interpreted(found.least),
        interpreted(found.limit),
        raised,
        _STEPS // count,
        _VISITS,
    )


def _searched(rows: Rows, k: int, search: _Search) -> _Bound:
    """Return the prices of a table of which every row is compared with every other."""
    tree = search.make_boxes(rows.gauge, rows.values, rows.weight)
    count, ceiling = len(rows.weight), float(len(rows.values))
    if search.effort > 0:
        costs = search.least(rows.gauge, tree, k, (count, search.effort), ceiling, (0, count))
    else:
        costs = search.nearest(rows.gauge, tree, k, ceiling)
    if k <= 1 or not costs.any():
        return _Bound(tree.row, costs, "least classes" if search.effort > 0 else "nearest records")
    limit = search.limit(rows.gauge, tree, search.visits, ceiling)
    return _Bound(tree.row, search.raised(rows.gauge, tree, k, costs, limit), "prices")


def _nearest(rows: Rows, k: int, threads: bool) -> _Bound:
    """Return the bound of the nearest records of a large table, each looked for in a few boxes."""
    from .kernels.box_tree import make_boxes
    from .kernels.least_class import least_costs, least_costs_parallel

    tree = make_boxes(rows.gauge, rows.values, rows.weight)
    count, ceiling = len(rows.weight), float(len(rows.values))
    work = (max(_BOXES[0], min(_BOXES[1], _BOXES[2] // count)), 0)
    if threads:
        costs = least_costs_parallel(rows.gauge, tree, k, work, ceiling)
    else:
        costs = least_costs(rows.gauge, tree, k, work, ceiling, (0, count))
    return _Bound(tree.row, costs, "nearest records")


class Rows(NamedTuple):
    """The distinct rows of a table as a loss sees them.

    Attributes
    ----------
    gauge : Gauge
        The columns that lose anything.
    values : float64[q, rows]
    weight : int64[rows]
        Records with each of these rows.
    fixed : int
        Number of columns in which every cell loses 1, whatever the classes.
    columns : int
        Number of columns, those included.
    """

    gauge: Gauge
    values: NDArray[np.float64]
    weight: NDArray[np.int64]
    fixed: int
    columns: int


def rows_of(encoded: Encoded, loss: str) -> Rows:
    """Return the distinct rows of a table, each column at its least level or above."""
    from .kernels.gauge import FAR

    free = [j for j, column in enumerate(encoded.quasi) if not column.starred(column.lowest)]
    columns = [encoded.quasi[j] for j in free]
    first, row = distinct_rows(encoded)
    weight = np.bincount(row, minlength=len(first)).astype(np.int64)
    values = np.empty((len(free), len(first)))
    for at, (j, column) in enumerate(zip(free, columns, strict=True)):
        codes = encoded.column(j)[first]
        values[at] = codes if column.positions is None else np.append(column.positions, FAR)[codes]
    return Rows(_gauge(columns, loss), values, weight, len(encoded.quasi) - len(free), len(encoded.quasi))


def _gauge(columns: list[QuasiColumn], loss: str) -> Gauge:
    """Return what kernels need to know of these columns."""
    from .kernels.gauge import FAR, Gauge
    from .kernels.space import LINE, SET, TREE

    kinds = [LINE if c.positions is not None else SET if c.tree is None else TREE for c in columns]
    trees = [_levels(column, loss) for column in columns]
    flat = [nodes.ravel() for nodes, _ in trees]
    return Gauge(
        kind=np.array(kinds, dtype=np.int8),
        step=np.array([1.0 / max(c.size - 1, 1) if loss == "gcp" else 1.0 for c in columns]),
        null=np.array([FAR if c.positions is not None else float(c.size) for c in columns]),
        size=np.array([c.size for c in columns], dtype=np.int64),
        levels=np.array([len(nodes) for nodes, _ in trees], dtype=np.int64),
        start=np.concatenate([[0], np.cumsum([len(nodes) for nodes in flat])])[:-1].astype(np.int64),
        node=np.concatenate([np.zeros(0, np.int32), *flat]).astype(np.int32),
        cost=np.concatenate([np.zeros(0), *(costs.ravel() for _, costs in trees)]),
    )


def _levels(column: QuasiColumn, loss: str) -> tuple[NDArray[np.int32], NDArray[np.float64]]:
    """Return the node of each leaf at every level a column may be published at, and what showing it costs."""
    if column.tree is None:
        return np.zeros((0, 0), np.int32), np.zeros((0, 0))
    nodes = column.tree.nodes[column.lowest :]
    by_node = column.tree.node_height_losses() if loss == "il-normalised" else column.tree.node_losses()
    return nodes, by_node[nodes]
