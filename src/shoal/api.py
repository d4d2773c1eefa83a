"""The public calls that make releases: they compose the stages and hold no logic of their own.

read -> encode -> compile -> partition -> enforce -> recode -> verify -> measure; no step is skipped. The
stages are in `stages`; the calls that only look at tables, in `examining`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Literal

from .errors import ParameterError
from .examining import attack, audit, report, risk, verify
from .policy import Policy, short_policy
from .progress import Progress, Run
from .stages import (
    Prepared,
    enforced,
    informed,
    make_algorithm,
    partition_prepared,
    prepare,
    release_prepared,
    suited,
)

if TYPE_CHECKING:
    import os

    from .comparing import Comparison
    from .encoding import Encoded
    from .exploration import Exploration
    from .partitions import Partition
    from .refine import Refine
    from .release import FileRelease, Release

__all__ = [
    "Prepared",
    "anonymize",
    "anonymize_file",
    "attack",
    "audit",
    "compare",
    "encode",
    "explore",
    "make_algorithm",
    "partition",
    "partition_prepared",
    "prepare",
    "release_prepared",
    "report",
    "risk",
    "suited",
    "verify",
]

_SHORT = ("quasi", "sensitive", "identifiers", "weight", "k", "l", "t", "suppression", "suppressed")


def anonymize(
    data: Any,
    policy: Policy | None = None,
    *,
    algorithm: str = "auto",
    refine: bool | str | float | Refine | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    key: bytes | None = None,
    noise_seed: int | None = None,
    **options: Any,
) -> Release:
    """Return a verified release of a table.

    Parameters
    ----------
    data : pandas or polars DataFrame, pyarrow Table, or anything with the Arrow capsule
    policy : Policy, optional
        Or its ingredients as keywords: `quasi`, `sensitive`, `identifiers`, `k`, `l`, `t`, `suppression`.
    algorithm : str
        A name out of ``shoal.algorithms()``.
    refine : bool, str or Refine, optional
        Lower the loss of the partition further: True for a budget that suits the table, a time such as
        "30s" or "2m", or a `shoal.Refine`. Ctrl-C ends it, and what was reached by then is released.
    seed : int
        Decides ties and random choices of the partition.
    progress : Progress, optional
        Told about every stage.
    key : bytes, optional
        Secret for pseudonyms; never stored.
    noise_seed : int, optional
        Where columns are published with noise: draws it again the same. Whoever knows it can take the noise
        away; without it, the noise comes from the operating system.
    **options
        The policy's ingredients when `policy` is not given, and the algorithm's own parameters.

    Raises
    ------
    PolicyUnsatisfiable
        When no partition within the suppression limit keeps the policy.
    VerificationFailed
        When the published table does not keep it: a defect of shoal; nothing is returned.

    Examples
    --------
    >>> import shoal
    >>> table = {"age": [31, 34, 36, 52, 55, 58], "disease": ["flu", "cold", "flu", "cold", "flu", "cold"]}
    >>> release = shoal.anonymize(table, quasi=["age"], sensitive=["disease"], k=3, l=2)
    >>> release.evidence.holds, release.table["age"][0]
    (True, '[31, 36]')
    """
    policy, parameters = _split(policy, options)
    chosen, refining = make_algorithm(algorithm, parameters), _refine(refine)
    run = Run(seed, progress or Progress())
    with run.progress.stage("encoding"):
        prepared = prepare(data, policy)
    chosen = suited(chosen, prepared.encoded.records)
    classes = partition_prepared(prepared, chosen, run, refining)
    return release_prepared(prepared, classes, chosen, run, key=key, noise_seed=noise_seed)


def anonymize_file(
    source: Any,
    out: str | os.PathLike[str],
    policy: Policy | None = None,
    *,
    algorithm: str = "auto",
    refine: bool | str | float | Refine | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    key: bytes | None = None,
    order: Literal["shuffle", "keep"] = "shuffle",
    **options: Any,
) -> FileRelease:
    """Write a verified release of a table that need not fit into memory.

    The source is read block by block. Only the codes of quasi-identifiers and sensitive columns are held; all
    other columns pass through, in a shuffled order, at the end. What is published is what `anonymize` would
    publish of the same table.

    Parameters
    ----------
    source : path, address of a table, or what `shoal.io.blocks.open_blocks` returns
        A Parquet, CSV or Arrow file, or a table in a database, read inside one transaction.
    out : path, or address of a table
        The ending says the format; what stands there stays until the verified release takes its place.
    policy, algorithm, refine, seed, progress, key, **options
        As for `anonymize`. Columns published with noise need a table in memory.
    order : "shuffle" or "keep"
        Row order links records to their source, so records are shuffled with entropy that is stored nowhere.

    Raises
    ------
    DataError
        When the source cannot be read, or changes while it is.
    PolicyUnsatisfiable, VerificationFailed, WriteError
        As for `anonymize` and `Release.write`.

    Examples
    --------
    >>> import pathlib, tempfile, shoal
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "in.csv").write_text("age,note\\n20,a\\n21,b\\n60,c\\n61,d\\n")
    >>> shoal.anonymize_file(folder / "in.csv", folder / "out.csv", quasi=["age"], k=2, algorithm="mondrian")
    FileRelease(holds, records=4, classes=2, gcp=0.0244)
    """
    from .engines.encoding import prepare_blocks
    from .engines.loading import DatabaseTarget, close_blocks, release_into_database
    from .engines.publishing import check_streamable
    from .engines.streaming import Target, release_blocks
    from .io import databases
    from .io.blocks import open_blocks

    policy, parameters = _split(policy, options)
    chosen, refining = make_algorithm(algorithm, parameters), _refine(refine)
    run = Run(seed, progress or Progress())
    address = databases.target(out, replace=True)
    target = Target.checked("release.parquet" if address is not None else out, order, key)
    with run.progress.stage("opening"):
        blocks = source if hasattr(source, "one_pass") else open_blocks(source)
    try:
        check_streamable(policy, blocks.schema, key)
        prepared = prepare_blocks(blocks, policy, run.progress)
        chosen = suited(chosen, blocks.records)
        classes = partition_prepared(prepared, chosen, run, refining)
        if address is None:
            return release_blocks(prepared, classes, chosen, run, target)
        return release_into_database(prepared, classes, chosen, run, DatabaseTarget(address, target))
    finally:
        close_blocks(blocks)


def encode(data: Any, policy: Policy) -> Encoded:
    """Return the integer view of a table under a policy, for work stage by stage.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    >>> shoal.encode({"age": [40, None, 20]}, policy).codes.T.tolist()
    [[1, 2, 0]]
    """
    from .encoding import encode as encode_table
    from .table import Table

    table = Table.from_any(data).data
    return encode_table(table, policy.resolved(table))


def partition(
    encoded: Encoded,
    policy: Policy,
    *,
    algorithm: str = "auto",
    refine: bool | str | float | Refine | None = None,
    seed: int = 0,
    **parameters: Any,
) -> Partition:
    """Return the partition of an encoded table by an algorithm, repaired until it keeps the policy.

    With `refine`, as for `anonymize`, its loss is lowered further.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    >>> encoded = shoal.encode({"age": [20, 21, 60, 61]}, policy)
    >>> shoal.partition(encoded, policy, algorithm="mondrian").labels.tolist()
    [0, 0, 1, 1]
    """
    refining = _refine(refine)
    run = informed(policy, Run(seed), refining)
    chosen = suited(make_algorithm(algorithm, parameters), encoded.records)
    made = chosen.partition(encoded, policy.compile(encoded), run)
    return enforced(made, encoded, policy, run, refining, chosen)


def explore(
    data: Any,
    policy: Policy | None = None,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Exploration:
    """Return the best full-domain generalizations of a table, and what is known of all others.

    Parameters
    ----------
    data, policy
        As for `anonymize`.
    seed : int
        For lattices too large to be searched in full.
    progress : Progress, optional
        Told about every stage.
    **options
        The policy's ingredients when `policy` is not given, and the parameters of ``lattice``, such as
        ``solutions=10``.

    Examples
    --------
    >>> import shoal
    >>> age = shoal.Hierarchy.intervals(widths=[10, 20])
    >>> found = shoal.explore({"age": [21, 25, 34, 38]}, quasi={"age": age}, k=2, solutions=2)
    >>> [solution.levels for solution in found.solutions], found.optimal
    ([{'age': 1}, {'age': 2}], True)
    """
    from .algorithms.lattice import Lattice

    policy, parameters = _split(policy, options)
    lattice = Lattice.create(parameters)
    run = Run(seed, progress or Progress())
    with run.progress.stage("encoding"):
        prepared = prepare(data, policy)
    rules = prepared.policy.compile(prepared.encoded)
    return lattice.explore(prepared.encoded, rules, informed(prepared.policy, run))


def compare(
    data: Any,
    policy: Policy | None = None,
    *,
    algorithms: Iterable[str] = ("mondrian", "k-member"),
    k: Iterable[int] | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Comparison:
    """Return a table of what several algorithms reach, for one or several k.

    Examples
    --------
    >>> import shoal
    >>> found = shoal.compare({"age": [20, 21, 22, 60, 61, 62]}, quasi=["age"], k=[2, 3])
    >>> [(row.algorithm, row.k) for row in found.rows]
    [('mondrian', 2), ('mondrian', 3), ('k-member', 2), ('k-member', 3)]
    """
    from .comparing import compare_algorithms

    if policy is None:
        options["k"] = min(k) if k is not None else None
    policy, leftover = _split(policy, options)
    if leftover:
        raise ParameterError(f"compare does not know {', '.join(map(repr, leftover))}")
    run = Run(seed, progress or Progress())
    return compare_algorithms(data, policy, tuple(algorithms), None if k is None else tuple(k), run)


def _refine(asked: Any) -> Refine | None:
    """Return how to refine, None for not at all."""
    from .refine import Refine

    return Refine.of(asked)


def _split(policy: Policy | None, options: dict[str, Any]) -> tuple[Policy, dict[str, Any]]:
    """Return the policy, made from its ingredients if need be, and the options that are not its."""
    ingredients = {name: options[name] for name in _SHORT if name in options}
    rest = {name: value for name, value in options.items() if name not in ingredients}
    if policy is None:
        if "quasi" not in ingredients:
            raise ParameterError(
                "neither a policy nor quasi-identifiers are given",
                hint="Pass policy=..., or quasi=[...] with k=5.",
            )
        return short_policy(**ingredients), rest
    if ingredients:
        raise ParameterError(f"{next(iter(ingredients))!r} belongs into the policy that is given")
    return policy, rest
