"""What the paper on random aggregation measured, and what its sentences need beside it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import product

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ... import datasets
from ...algorithms.bottom_up import BottomUp
from ...algorithms.parts import ByParts
from ...algorithms.top_down import TopDown
from ...embedding import Embedding
from ...encoding import encode
from ...metrics.linkage import link
from ...noise import Draws, Extent, between, wrapped_around
from ...partitions import Partition
from ...policy import Policy
from ...progress import Run
from ..base import Row

TABLES = {"breast-cancer-wisconsin": ("id", "class"), "pima": ("outcome",)}
RHOS = (0.0, 0.5, 0.8, 1.0)
RANDOM = "random"  # the noise of Song et al., beside the values of rho

Matrix = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Prepared:
    """One of the paper's tables as numbers scaled to [0, 1] (Eq. 7), float64[d, n]."""

    name: str
    scaled: Matrix
    points: Matrix  # the same on the grid of algorithms
    read: tuple[int, int]  # records and columns of the file

    def partition(self, algorithm: ByParts, k: int, seed: int) -> Partition:
        """Return the classes an algorithm makes."""
        return Partition.from_labels(algorithm.group(self.points, k, Run(seed)))


def prepare(name: str) -> Prepared:
    """Return a table of the paper without its identifier and its class, records with nulls left out."""
    table = datasets.load(name)
    numeric = table.drop_columns(list(TABLES[name]))
    complete = numeric.filter(_complete(numeric))
    policy = Policy(quasi=dict.fromkeys(complete.column_names, "numeric"))
    values = np.array([column.to_numpy() for column in complete.columns], dtype=np.float64)
    low, high = values.min(axis=1, keepdims=True), values.max(axis=1, keepdims=True)
    points = Embedding.of(encode(complete, policy.resolved(complete)), "min-max").points
    return Prepared(name, (values - low) / (high - low), points, table.shape)


def _complete(table: pa.Table) -> pa.Array:
    mask = pc.is_valid(table.column(0))
    for column in table.columns[1:]:
        mask = pc.and_(mask, pc.is_valid(column))
    return mask


def class_means(values: Matrix, partition: Partition) -> Matrix:
    """Return float64[d, n]: the mean of the class of every record."""
    sizes = np.bincount(partition.labels)
    return np.array(
        [(np.bincount(partition.labels, weights=row) / sizes)[partition.labels] for row in values]
    )


def publish(values: Matrix, partition: Partition, rho: float | str, draws: Draws) -> Matrix:
    """Return float64[d, n]: what is published, for a rho of Algorithm 4 or the noise of Song et al."""
    found = []
    starts = partition.offsets[:-1]
    for row, mean in zip(values, class_means(values, partition), strict=True):
        ordered = row[partition.order]
        low = np.minimum.reduceat(ordered, starts)[partition.labels]
        high = np.maximum.reduceat(ordered, starts)[partition.labels]
        extent, drawn = Extent(low, high, mean), draws.take(len(row))
        found.append(
            wrapped_around(row, extent, drawn) if isinstance(rho, str) else between(extent, rho, drawn)
        )
    return np.array(found)


def losses(values: Matrix, published: Matrix) -> tuple[float, float]:
    """Return (SSE / SST, the same with distances as they are: Eq. 1 to 3 as printed), in percent."""
    error = ((values - published) ** 2).sum(axis=0)
    total = ((values - values.mean(axis=1, keepdims=True)) ** 2).sum(axis=0)
    return 100 * float(error.sum() / total.sum()), 100 * float(np.sqrt(error).sum() / np.sqrt(total).sum())


def partitions(tables: list[Prepared], ks: tuple[int, ...], seeds: int, parts: int) -> list[Row]:
    """Time and loss of top-down against bottom-up (figures 4 and 5), one row a run."""
    kinds = {"top-down": TopDown, "bottom-up": BottomUp}
    rows = []
    for table, k, (name, kind), seed in product(tables, ks, kinds.items(), range(seeds)):
        algorithm = kind(variant="paper", parts=parts)
        if k == ks[0] and seed == 0:
            table.partition(algorithm, k, seed)  # compiled before it is timed
        began = time.process_time()
        made = table.partition(algorithm, k, seed)
        spent = time.process_time() - began
        squared, plain = losses(table.scaled, class_means(table.scaled, made))
        row = {"table": table.name, "k": k, "algorithm": name, "seed": seed, "seconds": spent}
        sizes = made.sizes
        in_range = bool(sizes.min() >= k and sizes.max() < 2 * k)
        rows.append({**row, "il": squared, "il_norm": plain, "sizes_in_range": in_range})
    return rows


def noise(tables: list[Prepared], ks: tuple[int, ...], draws: int, parts: int) -> list[Row]:
    """Loss and linkage over rho and k (figures 6 and 7): means over draws, with their standard errors."""
    rows = []
    for table, k in product(tables, ks):
        made = [table.partition(TopDown(variant="paper", parts=parts), k, seed) for seed in range(draws)]
        for rho in (*RHOS, RANDOM):
            measured = np.array([_drawn(table, made[i], rho, i) for i in range(draws)])
            row: Row = {"table": table.name, "k": k, "rho": rho, "draws": draws}
            errors = measured.std(axis=0, ddof=1) / np.sqrt(draws)
            for at, name in enumerate(("il", "il_norm", "dld", "near", "far")):
                row[name], row[f"{name}_error"] = float(measured[:, at].mean()), float(errors[at])
            rows.append(row)
    return rows


def _drawn(table: Prepared, made: Partition, rho: float | str, seed: int) -> tuple[float, ...]:
    """Return both losses, and the linkage of all records, of those near the centroid and of the others."""
    published = publish(table.scaled, made, rho, Draws.seeded(seed))
    centre = class_means(table.scaled, made)
    credits = link(table.scaled, published)
    away = ((table.scaled - centre) ** 2).sum(axis=0)
    near = away <= np.median(away)
    return (
        *losses(table.scaled, published),
        float(credits.mean()),
        float(credits[near].mean()),
        float(credits[~near].mean()),
    )


def part_counts(tables: list[Prepared], counts: tuple[int, ...], k: int, seeds: int) -> list[Row]:
    """Time and loss of top-down over the number of parts c."""
    rows = []
    for table, parts in product(tables, counts):
        spent, found = [], []
        for seed in range(seeds):
            began = time.process_time()
            made = table.partition(TopDown(variant="paper", parts=parts), k, seed)
            spent.append(time.process_time() - began)
            found.append(losses(table.scaled, class_means(table.scaled, made))[0])
        row = {"table": table.name, "parts": parts, "k": k, "il": float(np.mean(found))}
        rows.append({**row, "il_spread": float(np.ptp(found)), "seconds": float(np.mean(spent))})
    return rows


def seedings(tables: list[Prepared], parts: int, runs: int) -> list[Row]:
    """Iterations and error of c-means from drawn centres (c-means++) and from even ones."""
    from ...kernels import k_means

    rows: list[Row] = []
    for table, (name, squared) in product(tables, {"c-means++": False, "c-means": None}.items()):
        points = table.points
        for run in range(runs):
            draws = np.random.default_rng(run).random(parts)
            if squared is None:
                records = np.random.default_rng(run).choice(points.shape[1], parts, replace=False)
                centres = np.ascontiguousarray(points[:, records].T)
            else:
                centres = k_means.seed_centres(points, draws, squared)
            labels = np.zeros(points.shape[1], dtype=np.int32)
            iterations = 0
            k_means.assign(points, centres, labels)
            while k_means.move_centres(points, labels, centres):
                k_means.assign(points, centres, labels)
                iterations += 1
            error = float(((points - centres[labels].T) ** 2).sum())
            row = {"table": table.name, "seeding": name, "run": run}
            rows.append({**row, "iterations": iterations, "error": error})
    return rows


def attacks(tables: list[Prepared], k: int, classes: int) -> list[Row]:
    """Guess the last member of a class from the k - 1 others and what is published, cell by cell.

    The attacker takes the number under which the published ones are most likely. A guess without the
    publication (the mean of the known members) is the error to beat.
    """
    rows = []
    for table, rho in product(tables, RHOS):
        made = table.partition(TopDown(variant="paper", parts=1), k, 0)
        published = publish(table.scaled, made, rho, Draws.seeded(1))
        errors, blind = [], []
        for c in range(min(classes, made.classes)):
            members = made.members(c)
            for row, shown in zip(table.scaled, published, strict=True):
                known, hidden = row[members[1:]], row[members[0]]
                errors.append(abs(_guess(known, shown[members], rho) - hidden))
                blind.append(abs(float(known.mean()) - hidden))
        row = {"table": table.name, "rho": rho, "k": k, "error": float(np.mean(errors))}
        rows.append({**row, "blind": float(np.mean(blind)), "exact": float(np.mean(np.array(errors) < 1e-9))})
    return rows


def _guess(known: Matrix, shown: Matrix, rho: float) -> float:
    """Return the most likely hidden member: under even noise, the one with the narrowest range that fits."""
    size = len(shown)
    if rho == 0:
        return float(size * shown[0] - known.sum())
    candidates = np.linspace(0, 1, 2001)
    mean = (known.sum() + candidates) / size
    least = mean + rho * (np.minimum(known.min(), candidates) - mean)
    greatest = mean + rho * (np.maximum(known.max(), candidates) - mean)
    slack = 1e-3  # candidates are a grid
    fits = (shown.min() >= least - slack) & (shown.max() <= greatest + slack)
    if not fits.any():
        return float(known.mean())
    width = np.where(fits, greatest - least, np.inf)
    best = width <= width.min() + 1e-12
    return float(candidates[best].mean())


def neighbours(draws: int) -> list[Row]:
    """Two tables that differ in one record: how often one gives what the other never can."""
    first, second = np.array([[0.0, 2.0, 4.0]]), np.array([[0.0, 2.0, 100.0]])
    together = Partition.single(3)
    rows = []
    for rho in RHOS:
        outputs = [publish(second, together, rho, Draws.seeded(i))[0] for i in range(draws)]
        mean = float(first.mean())
        low, high = mean + rho * (first.min() - mean), mean + rho * (first.max() - mean)
        shown = np.concatenate(outputs)
        rows.append({"rho": rho, "impossible": float(((shown < low) | (shown > high)).mean())})
    return rows


def exchangeability(tables: list[Prepared], k: int, draws: int) -> list[Row]:
    """Whether what is published of a record tells which member of its class it is."""
    rows = []
    noises: tuple[float | str, ...] = (*RHOS[1:], RANDOM)
    for table, rho in product(tables, noises):
        made = table.partition(TopDown(variant="paper", parts=1), k, 0)
        centre = class_means(table.scaled, made)
        off = (table.scaled - centre).ravel()
        found = [
            float(
                np.corrcoef(off, (publish(table.scaled, made, rho, Draws.seeded(i)) - centre).ravel())[0, 1]
            )
            for i in range(draws)
        ]
        error = float(np.std(found, ddof=1) / np.sqrt(draws))
        rows.append({"table": table.name, "rho": rho, "correlation": float(np.mean(found)), "error": error})
    return rows
