"""refine: takes any partition and lowers its loss by small rearrangements that keep every promise.

A few neighbouring classes are taken apart, their records grouped anew, greedily from another seed, and the
result is kept if it loses no more. Millions of such moves are made, each on its own handful of records.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .embedding import Embedding
from .encoding import Encoded
from .errors import ParameterError, PolicyUnsatisfiable
from .params import Choice, Flag, Integer, Optional, Parameterised, Real, param
from .partitions import Partition
from .policy import Policy
from .progress import Run, Stage

if TYPE_CHECKING:
    from .kernels.k_member_index import Columns
    from .kernels.refining import Classes, Graph
    from .kernels.space import Space
    from .kernels.squaring import Points

LOSSES = ("gcp", "lm", "il", "sse")
MOVES_PER_RECORD = 40  # of a run without a budget

_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(s|sec|m|min|h)?\s*")
_SECONDS = {None: 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_BATCH = 40_000  # records moved between two looks at the clock, about
_BATCH_COOLING = 2000  # the same while a temperature falls, which is set between two looks
_PARALLEL = 1000  # records of a round; below, starting the threads takes longer than the work
_PARTS = 16  # heaps that the sets of a round are dealt into, for threads to take
_PARALLEL_ROWS = 1 << 14
_FRESH = (
    1.2  # a start that loses so much more, but whose classes are local, is worth more; by bench/refine.py
)
_TEMPERATURE = 2.5  # for squared errors; by bench/refine.py --loss sse
_SINGLE = 300  # records tried one by one for every move, for squared errors without promises beside k
_COOLING = 0.02  # of the first temperature is left at the end
_COLD = 0.95  # of the budget; the rest only goes downhill
_LINE_STEPS = 1 << 20  # of the widest coordinate, where near points are looked for
_SQUARES = 1 << 50  # whole units of all squared distances from the mean of the table
_LONG_MOVES = 20  # a record
_LONG_SECONDS = 1e-4
_STALE = 200  # moves for every class without any gain, after which nothing more is expected
_FORBIDDEN = 1 << 27  # cost of a cell above its `most_level`
_LEAVES = 40  # of the tree of rows that a search for neighbours looks at


@dataclass(frozen=True)
class Refine(Parameterised):
    """How a partition is refined.

    Parameters
    ----------
    loss : "gcp", "lm", "il" or "sse"
        What becomes less, named as the metric: shoal's loss; the same with 0 or 1 for categories without
        hierarchy; Byun's information loss, by height in the hierarchy; or the squared error of class means,
        of points as microaggregation sees them (`shoal.embedding`).
    seconds : float, optional
        Stop after this time.
    moves : int, optional
        Stop after this many moves. Without either, 40 moves a record.
    neighbours : int
        How many nearest rows count as near.
    classes : int
        Classes that one move takes apart, at most.
    tries : int
        Groupings tried in each move, of which the best is kept.
    temperature : float, optional
        Accept also what loses more: this many mean losses of a record at first, one time in e, and less and
        less towards the end of the budget; the best partition met is kept. 2.5 for "sse" when not given,
        nothing for the others, which have plateaus to walk on.
    afresh : bool, optional
        Start from the whole table divided into blocks, instead of the classes given. Decided by what either
        loses when not given.
    threads : int, optional
        All cores when not given. The result is the same for any number.

    Examples
    --------
    >>> Refine.of("2m"), Refine.of(True), Refine.of(False)
    (Refine(seconds=120.0), Refine(), None)
    """

    name: ClassVar[str] = "refine"
    summary: ClassVar[str] = "lowers the loss of a partition by small rearrangements that keep every promise"

    loss: str = param(Choice(LOSSES), "what becomes less, named as the metric", default="gcp")
    seconds: float | None = param(Optional(Real(0, open_low=True)), "stop after this time", default=None)
    moves: int | None = param(Optional(Integer(0)), "stop after this many moves", default=None)
    neighbours: int = param(Integer(2, 1000), "how many nearest rows count as near", default=24)
    classes: int = param(Integer(2, 8), "classes that one move takes apart, at most", default=3)
    tries: int = param(Integer(1, 100), "groupings tried in each move", default=2)
    temperature: float | None = param(
        Optional(Real(0)), "losses accepted at first, in mean losses of a record; cools down", default=None
    )
    afresh: bool | None = param(
        Optional(Flag()), "start from the whole table divided; by their losses when none", default=None
    )
    threads: int | None = param(Optional(Integer(1)), "threads; all cores when none", default=None)

    @classmethod
    def of(cls, asked: Any) -> Refine | None:
        """Return what `refine=` means: True, a time such as "30s" or "2m", seconds, or a `Refine`."""
        if asked is None or asked is False:
            return None
        if asked is True:
            return cls()
        if isinstance(asked, cls):
            return asked
        if isinstance(asked, int | float):
            return cls(seconds=asked)
        found = _DURATION.fullmatch(asked) if isinstance(asked, str) else None
        if found is None:
            raise ParameterError(
                "'refine' must be true, a time, or a shoal.Refine", hint='Such as: refine="30s".'
            )
        return cls(seconds=float(found[1]) * _SECONDS[found[2]])

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={value!r}" for key, value in self.to_dict().items())
        return f"Refine({shown})"


@dataclass(frozen=True, slots=True)
class Refinement:
    """What refining a partition came to. Holds no cell values.

    Attributes
    ----------
    refine : Refine
        With `afresh` as it was decided.
    before, after : float
        The loss, as a mean over all cells, each column by its weight.
    moves : int
        Moves made. The parameters of `refine`, with this number, make the same partition again.
    ended : str
        "budget", "time", "interrupted", "nothing to gain", or why nothing was done.
    curve : tuple of (moves, seconds, loss)
    """

    refine: Refine
    before: float
    after: float
    moves: int
    ended: str
    curve: tuple[tuple[int, float, float], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return {
            "parameters": self.refine.to_dict(),
            "loss": self.refine.loss,
            "before": self.before,
            "after": self.after,
            "moves": self.moves,
            "ended": self.ended,
            "curve": [list(point) for point in self.curve],
        }


def refined(partition: Partition, encoded: Encoded, policy: Policy, run: Run, refine: Refine) -> Partition:
    """Return a partition with no more loss that keeps the policy as well; notes in `run` how it went.

    Interrupted (Ctrl-C), it returns the best partition so far. Promises that are no thresholds over a class
    are checked at the end: where the refined classes break them and repairing takes more than was gained,
    the partition stays as it was. So does a full-domain generalization.
    """
    if partition.uniform or partition.classes == 0:
        run.notes["refinement"] = Refinement(refine, 0.0, 0.0, 0, "full-domain: nothing was done").to_dict()
        return partition
    try:
        search = _Search(partition, encoded, policy, refine)
    except KeyboardInterrupt:
        run.notes["refinement"] = Refinement(refine, 0.0, 0.0, 0, "interrupted before it began").to_dict()
        return partition
    with run.progress.stage(f"refining ({refine.loss})", total=search.steps) as stage:
        search.run(run.seed, stage)
    found = _repaired(partition.relabelled(search.classes.label), encoded, policy, run)
    ended, after = search.ended, search.before
    if found is not None and search.loss_of(found) < search.before:
        partition, after = found, search.loss_of(found)
    elif search.total < search.before:
        ended += "; a promise that is checked at the end would have cost more than was gained"
    cells = search.cells
    run.notes["refinement"] = Refinement(
        replace(refine, afresh=search.afresh),
        search.before / cells,
        after / cells,
        search.moves,
        ended,
        tuple(search.curve),
    ).to_dict()
    return partition


def _repaired(partition: Partition, encoded: Encoded, policy: Policy, run: Run) -> Partition | None:
    """Return the partition repaired until it keeps all of the policy, None where that cannot be done."""
    from .enforce import enforce
    from .levels import check_most

    try:
        repaired = enforce(partition, encoded, policy, run)
        check_most(repaired, encoded)
    except PolicyUnsatisfiable:
        return None
    return repaired


class _Search:
    """One run of the local search over a partition."""

    def __init__(self, partition: Partition, encoded: Encoded, policy: Policy, refine: Refine) -> None:
        from .kernels.refining import Plan

        self.refine = refine
        self.afresh = bool(refine.afresh)
        self.costs = (
            _SquaredError(encoded) if refine.loss == "sse" else _Costs(encoded, partition, refine.loss)
        )
        self.rules = policy.compile(encoded, partition.labels >= 0)
        self.sensitive = encoded.flat_sensitive()
        self.cells = self.costs.cells
        self.before = self.loss_of(partition)
        self.graph: Graph = self.costs.graph(refine.neighbours, self.threads > 1)
        self.classes: Classes = self._start(partition)
        k, most = self.rules.k, refine.classes
        room = min(max(3 * k * most, 128), 32 * k)
        self.total = int(self.classes.cost.sum()) + self.costs.fixed(partition.suppressed)
        sets = min(max(int((self.classes.size > 0).sum()) // (2 * most), 1), 4096)
        self.plan = Plan(sets, room, most, refine.tries, 0.0, 0)
        self.best = self.total, self.classes.label.copy()
        self.moves, self.ended = 0, ""
        self.curve: list[tuple[int, float, float]] = []

    @property
    def threads(self) -> int:
        """Threads to work with."""
        import numba

        most: int = numba.get_num_threads()
        return most if self.refine.threads is None else min(self.refine.threads, most)

    @property
    def budget(self) -> int | None:
        """Moves to make; None where time decides."""
        if self.refine.moves is None and self.refine.seconds is None:
            return MOVES_PER_RECORD * self.costs.records
        return self.refine.moves

    @property
    def steps(self) -> int:
        """Length of the progress bar: moves, or milliseconds."""
        if self.refine.seconds is not None:
            return int(1000 * self.refine.seconds)
        return self.budget or 0

    def loss_of(self, partition: Partition) -> int:
        """Return the loss of a partition, computed from scratch."""
        return self.costs.loss_of(partition)

    def _start(self, partition: Partition) -> Classes:
        """Return the classes to start from: those of the partition, the large ones divided.

        Or the whole table divided, unless that loses more: repairing can leave very large classes. Given
        time, also where it loses a little more: the last classes of a greedy algorithm take what the others
        have left, from all over the table, which small moves mend slowly; divided, all classes are local.
        """
        whole = Partition.from_labels(np.where(partition.labels < 0, -1, 0))
        if self.refine.afresh is not None:
            return self._divided(whole if self.refine.afresh else partition)
        given, fresh = self._divided(partition), self._divided(whole)
        limit = given.cost.sum() * (_FRESH if self._long else 1.0)
        self.afresh = bool(fresh.cost.sum() <= limit)
        return fresh if self.afresh else given

    @property
    def _long(self) -> bool:
        """Whether the budget is long enough for a start to catch up that loses a little more."""
        if self.refine.seconds is not None:
            return self.refine.seconds >= _LONG_SECONDS * self.costs.records
        return (self.budget or 0) >= _LONG_MOVES * self.costs.records

    def _divided(self, partition: Partition) -> Classes:
        """Return the classes of a partition, the large ones divided into blocks of neighbouring records."""
        from .kernels.dividing import divide
        from .kernels.refining import make_classes

        costs, order = self.costs, partition.order
        order = order[np.lexsort([self.graph.row[order], partition.labels[order]])]
        given = (costs.values, costs.columns, self.rules, self.sensitive)
        labels, made = divide(order, partition.offsets, *given)
        cut = Partition.from_labels(labels)
        return make_classes(cut.labels, costs.by_class(cut), max(made, len(order) // self.rules.k) + 1)

    def run(self, seed: int, stage: Stage) -> None:
        """Make moves until the budget is spent, the time is over, nothing can be gained or Ctrl-C."""
        self.plan = self.plan._replace(seed=seed)
        self._batch(0)  # compiles, off the clock
        batch = _BATCH_COOLING if self.refine.loss == "sse" else _BATCH
        rounds = max(batch // max(self.rules.k, 5) // self.plan.sets, 1)
        began, told, stale = time.monotonic(), 0, 0
        try:
            while not self.ended:
                seconds = time.monotonic() - began
                step = int(1000 * seconds) if self.refine.seconds is not None else self.moves
                stage.advance(min(step, self.steps) - told)
                told = min(step, self.steps)
                self._note(seconds)
                if self.refine.seconds is not None and seconds >= self.refine.seconds:
                    self.ended = "time"
                elif self.budget is not None and self.moves >= self.budget:
                    self.ended = "budget"
                else:
                    self._cool(step / max(self.steps, 1))
                    made, change = self._batch(rounds)
                    self._keep_best()
                    stale = 0 if change < 0 else stale + made
                    if made == 0 or stale > _STALE * len(self.classes.first):
                        self.ended = "nothing more found"
        except KeyboardInterrupt:
            self.ended = "interrupted"
        self.total, labels = min(self.best, (self.total, self.classes.label), key=lambda found: found[0])
        self.classes.label[:] = labels
        self._note(time.monotonic() - began)

    def _cool(self, done: float) -> None:
        """Set the temperature for the share of the budget that is spent."""
        asked = self.refine.temperature
        if asked is None:
            asked = _TEMPERATURE if self.refine.loss == "sse" else 0.0
        mean = int(self.classes.cost.sum()) / max(int(self.classes.size.sum()), 1)
        warm = asked * mean * _COOLING**done if done < _COLD else 0.0
        self.plan = self.plan._replace(temperature=warm)

    def _keep_best(self) -> None:
        """Remember the partition if none before lost less; while nothing warms, the last one is the best."""
        if self.plan.temperature > 0 and self.total < self.best[0]:
            self.best = self.total, self.classes.label.copy()

    def _note(self, seconds: float) -> None:
        """Add a point to the loss curve, twice as seldom whenever there are many."""
        point = (self.moves, round(seconds, 3), self.total / self.cells)
        if self.curve and self.curve[-1][0] == self.moves:
            return
        if len(self.curve) > 1 and not self.ended and self.moves < 1.1 * self.curve[-1][0]:
            return
        self.curve.append(point)

    def _batch(self, rounds: int) -> tuple[int, int]:
        """Make the moves of some rounds; return (moves, change of the loss)."""
        from .kernels import annealing, refining

        label = self.classes.label
        losing = self.classes.cost[label] > 0
        losing[label < 0] = False
        graph = self.graph._replace(costly=np.flatnonzero(losing).astype(np.int32))
        sets = refining.make_sets(self.plan)
        given = (self.classes, graph, self.costs.columns, self.rules, self.sensitive, self.plan, sets, rounds)
        if self.threads > 1 and self.plan.sets * self.rules.k >= _PARALLEL:
            made, change = _with_threads(self.threads, refining.refine_parallel, *given, _PARTS)
        else:
            made, change = refining.refine(*given)
        if self.refine.loss == "sse" and self.rules.plain:
            change += annealing.anneal(self.classes, graph, self.plan, self.rules.k, _SINGLE * made)
        self.moves += made
        self.total += change
        return made, change


def _with_threads(threads: int, kernel: Any, *given: Any) -> Any:
    """Call a parallel kernel with so many threads."""
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(threads)
    try:
        return kernel(*given)
    finally:
        numba.set_num_threads(before)


class _Costs:
    """What classes cost, in whole units, under the loss that is to become less."""

    def __init__(self, encoded: Encoded, partition: Partition, loss: str) -> None:
        from .algorithms.row_index import search_columns, search_values
        from .kernels.k_member_index import FLAT
        from .kernels.space import SET, UNIT

        space = _levelled(encoded.space(heights=loss == "il"), encoded, partition)
        self.columns: Columns = search_columns(space)
        if loss == "lm":
            flat = self.columns.kind == SET
            self.columns.kind[flat] = FLAT
            self.columns.step[flat] = self.columns.full[flat]
        self.values = np.ascontiguousarray(search_values(encoded.codes, space))
        starred = [c.tree is None and partition.level(j) > 0 for j, c in enumerate(encoded.quasi)]
        self.values[:, starred] = 0
        weights = np.array([column.spec.weight for column in encoded.quasi])
        self.records = encoded.records
        self.full = int(np.rint(UNIT * weights).sum())
        self.starred = int(np.rint(UNIT * weights[starred]).sum())
        self.cells = max(self.full * encoded.records, 1)

    def fixed(self, suppressed: int) -> int:
        """Return the loss that no rearrangement changes."""
        return suppressed * self.full + (self.records - suppressed) * self.starred

    def loss_of(self, partition: Partition) -> int:
        """Return the loss of a partition."""
        return int(self.by_class(partition).sum()) + self.fixed(partition.suppressed)

    def by_class(self, partition: Partition) -> NDArray[np.int64]:
        """Return the loss of every class of a partition, all its records together."""
        from .kernels.refining import class_losses

        found: NDArray[np.int64]
        found = class_losses(self.values, self.columns, partition.order, partition.offsets)
        return found

    def graph(self, neighbours: int, threads: bool) -> Graph:
        """Return which rows are near each other."""
        from .kernels.k_member_index import Index, build_tree, measure_all
        from .kernels.nearness import nearest_rows, nearest_rows_parallel
        from .kernels.refining import Graph

        first, row = _distinct(self.values)
        order, (begin, end, left, right, parent), leaf = build_tree(self.values[first], self.columns)
        slots, boxes = np.arange(len(order)), (len(begin), self.values.shape[1])
        index = Index(
            values=np.ascontiguousarray(self.values[first][order]),
            head=slots,
            stop=slots + 1,
            leaf=leaf,
            queue=slots,
            begin=begin,
            end=end,
            left=left,
            right=right,
            parent=parent,
            low=np.zeros(boxes, dtype=np.int64),
            high=np.zeros(boxes, dtype=np.int64),
            nulls=np.zeros(boxes, dtype=np.int8),
            least=np.zeros(len(begin), dtype=np.int64),
        )
        measure_all(index, self.columns)
        parallel = threads and len(order) >= _PARALLEL_ROWS
        search = nearest_rows_parallel if parallel else nearest_rows
        near = search(index, self.columns, min(neighbours, len(order)), _LEAVES)
        slot = np.empty(len(order), dtype=np.int32)
        slot[order] = slots
        row_slot = slot[row]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(row_slot, minlength=len(order)))])
        records = np.argsort(row_slot, kind="stable").astype(np.int32)
        nobody = np.zeros(0, dtype=np.int32)
        return Graph(self.values, row_slot, near, offsets.astype(np.int64), records, nobody, *self.points())

    def points(self) -> Points:
        """Return the records as points: none, but for squared errors."""
        from .kernels.squaring import Points

        return Points(np.zeros((0, 0)), 0.0)


class _SquaredError(_Costs):
    """The squared error of class means, of all squared distances from the mean of the table.

    Near records are found, and large classes divided, by the sum of the distances along the coordinates.
    """

    def __init__(self, encoded: Encoded) -> None:
        from .kernels.k_member_index import Columns
        from .kernels.space import LINE

        self.embedded = Embedding.of(encoded).points
        low = self.embedded.min(axis=1, keepdims=True)
        widest = float((self.embedded - low).max(initial=0.0))
        step = _LINE_STEPS / widest if widest > 0 else 0.0
        self.values = np.ascontiguousarray(np.rint((self.embedded - low) * step).T.astype(np.int32))
        d, nothing = len(self.embedded), np.zeros(0, dtype=np.int32)
        one = np.ones(d, dtype=np.int64)
        full = one * _LINE_STEPS
        start = np.zeros(d + 1, dtype=np.int64)
        kind = np.full(d, LINE, dtype=np.int8)
        self.columns = Columns(kind, one, full, full, start, start[:-1], nothing, nothing)
        self.records = encoded.records
        self.around = self.embedded - self.embedded.mean(axis=1, keepdims=True)
        self.total = float((self.around**2).sum())
        self.cells = _SQUARES

    def fixed(self, suppressed: int) -> int:
        """Return the loss that no rearrangement changes: the mean share of those who are suppressed."""
        return int(self.cells * suppressed / self.records)

    def points(self) -> Points:
        """Return the records as points."""
        from .kernels.squaring import Points

        scale = self.cells / self.total if self.total > 0 else 0.0
        return Points(np.ascontiguousarray(self.around.T), scale)

    def by_class(self, partition: Partition) -> NDArray[np.int64]:
        """Return the squared error of every class."""
        from .kernels.squaring import class_squares

        found: NDArray[np.int64] = class_squares(self.points(), partition.order, partition.offsets)
        return found


def _distinct(values: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a record of every distinct row, and the row of every record."""
    order = np.lexsort(values.T)
    changed = np.ones(len(order), dtype=np.bool_)
    changed[1:] = (values[order[1:]] != values[order[:-1]]).any(axis=1)
    row = np.empty(len(order), dtype=np.int64)
    row[order] = np.cumsum(changed) - 1
    return order[changed].astype(np.int64), row


def _levelled(space: Space, encoded: Encoded, partition: Partition) -> Space:
    """Return the geometry in which nothing costs less than at the levels of the partition.

    Nor may a class rise above a column's `most_level`: it would cost more than anything else could gain.
    """
    from .kernels.space import LINE

    node, node_cost, geometry = space.node.copy(), space.node_cost.copy(), space.geometry.copy()
    for j, column in enumerate(encoded.quasi):
        least = partition.level(j)
        if column.tree is None:
            if least > 0:
                geometry[j] = LINE
            continue
        begin, size = int(space.tree_start[j]), int(space.size[j])
        for level in range(column.tree.levels):
            here = slice(begin + level * size, begin + (level + 1) * size)
            if level < least:
                there = slice(begin + least * size, begin + (least + 1) * size)
                node[here], node_cost[here] = space.node[there], space.node_cost[there]
            elif level > column.highest:
                node_cost[here] = _FORBIDDEN
    return space._replace(node=node, node_cost=node_cost, geometry=geometry)
