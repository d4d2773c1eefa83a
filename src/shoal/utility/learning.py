"""Learning: how well models trained on the published table predict a column of the original records.

Records are split first. Models are trained once on the published records of one part and once on its original
records, and both are tested on original records of the other part. Guessing the most frequent value is the
baseline that any model has to beat.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..distinct import distinct
from ..errors import MissingExtra, ParameterError, PolicyError, UnknownName
from ..inference import complete_from
from ..schema import Column, Kind, Role
from .bars import Bars
from .lines import Line
from .spreads import Spread

if TYPE_CHECKING:
    from ..policy import Policy

_MOST_RECORDS = 30_000  # to train on, and to test on
_MOST_VALUES = 10  # of a target; rarer ones count as one
_TESTED = 0.3
_LEAST = 20  # records of a part


@dataclass(frozen=True, slots=True)
class Score:
    """How well one kind of model predicts, trained on the published and on the original records.

    Attributes
    ----------
    model : str
    published, original, majority : float
        Accuracy on original records.
    published_f1, original_f1 : float
        Mean F1 over the target's values.
    published_auc, original_auc : float or None
        Area under the curve, of one value against the rest and averaged.
    kept : float or None
        The part of what can be learned beyond guessing that the published table still teaches:
        (published - majority) / (original - majority); None where the original teaches nothing.
    """

    model: str
    published: float
    original: float
    majority: float
    published_f1: float
    original_f1: float
    published_auc: float | None
    original_auc: float | None

    @property
    def kept(self) -> float | None:
        """What the published table still teaches of what the original does."""
        learned = self.original - self.majority
        return (self.published - self.majority) / learned if learned > 1e-9 else None


@dataclass(frozen=True, slots=True)
class Learning:
    """How well a column can be predicted.

    Attributes
    ----------
    target : str
    values : int
        Values that the models tell apart.
    trained, tested : int
        Records.
    held_out : bool
        Whether the tested people were kept apart from those trained on. False where it is not known which
        published record is whose: scores are then a little too good, on both sides.
    sampled : bool
        Whether records were drawn because there are more.
    scores : tuple of Score
    """

    target: str
    values: int
    trained: int
    tested: int
    held_out: bool
    sampled: bool
    scores: tuple[Score, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the scores as plain values."""
        scores = [{**asdict(score), "kept": score.kept} for score in self.scores]
        return {**asdict(self), "scores": scores}


@dataclass(frozen=True, slots=True, eq=False)
class Tables:
    """The two tables, and which original row each published one was made from, where that is known."""

    original: pa.Table
    published: pa.Table
    rows: NDArray[np.int64] | None


def check_target(target: str, tables: Tables, policy: Policy) -> None:
    """Raise unless a column is in both tables as it was, and there is something to predict it with."""
    known = [name for name in tables.original.column_names if name in tables.published.column_names]
    roles = {column.name: column.role for column in policy.schema.columns}
    if target not in known:
        raise UnknownName.nearest("published column", target, known)
    if roles.get(target) in (Role.QUASI, Role.IDENTIFIER):
        raise PolicyError(
            f"{target!r} is no target: the release changes it",
            hint="Name a sensitive column, or one that the policy does not name.",
        )
    try:
        import sklearn  # noqa: F401
    except ImportError:
        raise MissingExtra.of("training models", "ml") from None


def learn(
    target: str,
    tables: Tables,
    lines: Sequence[Line],
    spreads: Sequence[Spread],
    bars: Sequence[Bars],
    seed: int = 0,
) -> Learning:
    """Return how well a column can be predicted from the quasi-identifiers, before and after.

    Numbers and ranks enter as the middle of their cell, categories as the part of the cell that lies in each
    bar. Logistic regression and gradient boosting (60 trees a class, 64 bins), else as in scikit-learn.
    """
    quasi = [j for j, line in enumerate(lines) if line.quasi]
    was = _Features([lines[j].codes for j in quasi], [_original_rows(lines[j], bars[j]) for j in quasi])
    now = _Features(
        [spreads[j].cell_of for j in quasi], [_published_rows(lines[j], spreads[j], bars[j]) for j in quasi]
    )
    answers, shown, values = _answers(target, tables)
    split = _split(answers, shown, tables.rows, seed)
    scores = []
    truth = answers[split.tested]
    seen, top = np.unique(answers[split.original], return_counts=True)
    majority = float((truth == seen[top.argmax()]).mean())
    for name, make in _models(seed):
        measured = [
            _score(make(), part.take(rows), found[rows], was.take(split.tested), truth)
            for part, rows, found in ((now, split.published, shown), (was, split.original, answers))
        ]
        (a, af, au), (b, bf, bu) = measured
        scores.append(Score(name, a, b, majority, af, bf, au, bu))
    held_out = tables.rows is not None
    sizes = len(split.published), len(split.tested)
    return Learning(target, values, *sizes, held_out, split.sampled, tuple(scores))


class _Features:
    """Records as vectors: one row for each code or cell of every column, put together when asked for."""

    def __init__(self, places: list[NDArray[Any]], rows: list[NDArray[np.float64]]) -> None:
        self.places, self.rows = places, rows

    def take(self, records: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return float64[records, features]."""
        parts = [row[place[records]] for row, place in zip(self.rows, self.places, strict=True)]
        return np.concatenate(parts, axis=1)


def _original_rows(line: Line, bar: Bars) -> NDArray[np.float64]:
    """Return float64[codes + 1, features] of a column of the original."""
    if line.ordered:
        return _with_null(np.append(line.places, np.nan), line)
    found: NDArray[np.float64] = np.eye(len(bar.labels) + 1)[bar.group, :-1]
    return found


def _published_rows(line: Line, spread: Spread, bar: Bars) -> NDArray[np.float64]:
    """Return float64[cells, features] of a published column."""
    return _with_null(spread.middles(), line) if line.ordered else bar.shares(spread)


def _with_null(middles: NDArray[np.float64], line: Line) -> NDArray[np.float64]:
    """Return the middle, on a scale of the column's range, and whether there is none."""
    low, high = line.ends
    scaled = (middles - low) / (high - low if high > low else 1.0)
    return np.stack([np.nan_to_num(scaled, nan=0.5), np.isnan(middles)], axis=1).astype(np.float64)


def _answers(target: str, tables: Tables) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return the target of every original and every published record as a class; -1 for null."""
    both = pa.chunked_array(
        [*_chunks(tables.original.column(target)), *_chunks(tables.published.column(target))]
    )
    spec = complete_from(Column(target, Role.OTHER), both)
    codes, values = distinct(both, spec)
    n = tables.original.num_rows
    if spec.kind is Kind.NUMERIC and len(values) > _MOST_VALUES:
        numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        present = codes[:n][codes[:n] >= 0]
        middle = float(np.median(numbers[present]))
        classes = (numbers > middle).astype(np.int64)
    else:
        counts = np.bincount(codes[:n][codes[:n] >= 0], minlength=len(values))
        rank = np.empty(len(values), dtype=np.int64)
        rank[np.argsort(-counts, kind="stable")] = np.arange(len(values))
        classes = np.minimum(rank, _MOST_VALUES - 1)
    found = np.append(classes, -1)[codes]
    present = np.unique(found[:n][found[:n] >= 0])
    if len(present) < 2:
        raise ParameterError(f"the target {target!r} has one value only: there is nothing to predict")
    return found[:n], found[n:], len(present)


def _chunks(column: pa.ChunkedArray) -> list[pa.Array]:
    """Return a column's parts as plain texts, numbers or dates."""
    kind = column.type
    plain = column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column
    if pa.types.is_large_string(plain.type) or plain.type == pa.string_view():
        plain = plain.cast(pa.string())
    return list(plain.chunks)


@dataclass(frozen=True, slots=True, eq=False)
class _Split:
    published: NDArray[np.int64]
    original: NDArray[np.int64]
    tested: NDArray[np.int64]
    sampled: bool


def _split(
    answers: NDArray[np.int64], shown: NDArray[np.int64], rows: NDArray[np.int64] | None, seed: int
) -> _Split:
    """Return the records to train on, published and original, and the original ones to test on."""
    rng = np.random.default_rng(seed)
    known = rng.permutation(np.flatnonzero(answers >= 0))
    tests = known[: round(_TESTED * len(known))]
    if rows is None:
        published = rng.permutation(np.flatnonzero(shown >= 0))
        trained = known
    else:
        trained = known[len(tests) :]
        place = np.full(len(answers), -1, dtype=np.int64)
        place[rows] = np.arange(len(rows))
        published = place[trained]
        published = published[published >= 0]
        published = published[shown[published] >= 0]
    if min(len(tests), len(published)) < _LEAST:
        raise ParameterError(f"fewer than {_LEAST} records to train or to test on")
    sampled = max(len(tests), len(trained)) > _MOST_RECORDS
    return _Split(published[:_MOST_RECORDS], trained[:_MOST_RECORDS], tests[:_MOST_RECORDS], sampled)


def _models(seed: int) -> list[tuple[str, Callable[[], Any]]]:
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.linear_model import LogisticRegression

    def boosting() -> Any:
        return HistGradientBoostingClassifier(max_iter=60, learning_rate=0.15, max_bins=64, random_state=seed)

    return [
        ("logistic regression", lambda: LogisticRegression(max_iter=300)),
        ("gradient boosting", boosting),
    ]


def _score(
    model: Any,
    features: NDArray[np.float64],
    answers: NDArray[np.int64],
    asked: NDArray[np.float64],
    truth: NDArray[np.int64],
) -> tuple[float, float, float | None]:
    """Return (accuracy, mean F1, area under the curve) of a model trained on some records, on others."""
    from sklearn.metrics import accuracy_score, f1_score, roc_auc_score
    from threadpoolctl import threadpool_limits

    if len(np.unique(answers)) < 2:
        guess = np.full(len(truth), answers[0])
        return float(accuracy_score(truth, guess)), float(f1_score(truth, guess, average="macro")), None
    # One thread: on a busy machine several of OpenMP's wait for each other and take thirty times as long.
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")  # of convergence: scores on unseen records say what matters
        model.fit(features, answers)
        guess = model.predict(asked)
        chances = model.predict_proba(asked)
        area = None
        present = np.unique(truth)
        if np.array_equal(present, model.classes_):
            area = (
                float(roc_auc_score(truth, chances[:, 1]))
                if len(present) == 2
                else float(roc_auc_score(truth, chances, multi_class="ovr"))
            )
    return float(accuracy_score(truth, guess)), float(f1_score(truth, guess, average="macro")), area
