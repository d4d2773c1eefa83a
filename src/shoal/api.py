"""The public calls: they compose the stages and hold no logic of their own.

read -> encode -> compile -> partition -> enforce -> recode -> verify -> measure; no step is skipped.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from . import registry
from .errors import ParameterError, PolicyError, PolicyUnsatisfiable
from .policy import Policy, short_policy
from .progress import Progress, Run

if TYPE_CHECKING:
    import os

    from .algorithms.base import Algorithm
    from .attacks.base import Attack, Attacks
    from .auditing import Audit
    from .comparing import Comparison
    from .encoding import Encoded
    from .engines.encoding import PreparedBlocks
    from .evidence import Evidence
    from .exploration import Exploration
    from .partitions import Partition
    from .refine import Refine
    from .release import FileRelease, Release
    from .report.build import Report
    from .risk.exposure import Risk
    from .table import Table

_SHORT = ("quasi", "sensitive", "identifiers", "weight", "k", "l", "t", "suppression", "suppressed")


@dataclass(frozen=True, slots=True)
class Prepared:
    """A table ready for any algorithm: read, its policy resolved, encoded and found feasible."""

    table: Table
    policy: Policy
    encoded: Encoded


def prepare(data: Any, policy: Policy) -> Prepared:
    """Return the table encoded under the policy, or raise when the policy cannot be met by any partition."""
    from .encoding import encode as encode_table
    from .models.feasibility import feasible
    from .sets import with_texts
    from .table import Table

    if not policy.models:
        raise PolicyError(
            "the policy promises nothing", hint="Add a privacy model, such as k=5 or shoal.KAnonymity(5)."
        )
    table = Table.from_any(data)
    policy = policy.resolved(table.data)
    table = replace(table, data=with_texts(table.data, policy.schema.quasi))
    encoded = encode_table(table.data, policy)
    problems = feasible(policy.models, encoded)
    if problems:
        raise PolicyUnsatisfiable(" ".join(problems), code="S202")
    return Prepared(table, policy, encoded)


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
    source : path, or what `shoal.io.blocks.open_blocks` returns
        A Parquet, CSV or Arrow file.
    out : path
        Its ending says the format; what stands there stays until the verified file takes its place.
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
    from .engines.publishing import check_streamable
    from .engines.streaming import Target, release_blocks
    from .io.blocks import open_blocks

    policy, parameters = _split(policy, options)
    chosen, refining = make_algorithm(algorithm, parameters), _refine(refine)
    run = Run(seed, progress or Progress())
    target = Target.checked(out, order, key)
    with run.progress.stage("opening"):
        blocks = source if hasattr(source, "one_pass") else open_blocks(source)
    check_streamable(policy, blocks.schema, key)
    prepared = prepare_blocks(blocks, policy, run.progress)
    classes = partition_prepared(prepared, chosen, run, refining)
    return release_blocks(prepared, classes, chosen, run, target)


def release_prepared(
    prepared: Prepared,
    classes: Partition,
    algorithm: Algorithm,
    run: Run,
    *,
    key: bytes | None = None,
    noise_seed: int | None = None,
) -> Release:
    """Return the verified release of a prepared table by a partition that an algorithm made."""
    from .recode import publish
    from .release import make_release

    with run.progress.stage("publishing and verifying"):
        published = publish(
            prepared.table.data,
            prepared.encoded,
            classes,
            prepared.policy,
            key=key,
            noise_seed=noise_seed,
        )
        return make_release(prepared, classes, published, algorithm, run.seed, run.notes)


def make_algorithm(name: str, parameters: dict[str, Any]) -> Algorithm:
    """Return the algorithm registered under `name` with these parameters; `blocks` lets it work in blocks."""
    blocks = parameters.get("blocks")
    own = {key: value for key, value in parameters.items() if key != "blocks"}
    algorithm: Algorithm = registry.get("algorithms", name).create(own)
    if blocks is None:
        return algorithm
    from .algorithms.in_blocks import InBlocks

    return InBlocks.around(algorithm, blocks)


def partition_prepared(
    prepared: Prepared | PreparedBlocks, algorithm: Algorithm, run: Run, refine: Refine | None = None
) -> Partition:
    """Return the partition an algorithm makes of a prepared table, repaired until it keeps the policy."""
    rules = prepared.policy.compile(prepared.encoded)
    run = _under(prepared.policy, run, refine)
    with run.progress.stage(f"partitioning by {algorithm.name}"):
        classes = algorithm.partition(prepared.encoded, rules, run)
    return _enforced(classes, prepared.encoded, prepared.policy, run, refine)


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
    run = _under(policy, Run(seed), refining)
    made = make_algorithm(algorithm, parameters).partition(encoded, policy.compile(encoded), run)
    return _enforced(made, encoded, policy, run, refining)


def _refine(asked: Any) -> Refine | None:
    """Return how to refine, None for not at all."""
    from .refine import Refine

    return Refine.of(asked)


def _under(policy: Policy, run: Run, refine: Refine | None = None) -> Run:
    """Return the run with what algorithms may know of the policy, and of what comes after them."""
    return replace(
        run,
        suppression=policy.suppression,
        promises=tuple(policy.promises()),
        policy=policy,
        refining=refine is not None,
    )


def _enforced(
    partition: Partition, encoded: Encoded, policy: Policy, run: Run, refine: Refine | None
) -> Partition:
    """Return the partition repaired until it keeps the policy, its levels included, and then refined."""
    from .enforce import enforce_levels

    repaired = enforce_levels(partition, encoded, policy, run)
    if refine is None:
        return repaired
    from .refine import refined

    return refined(repaired, encoded, policy, run, refine)


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
    return lattice.explore(prepared.encoded, rules, _under(prepared.policy, run))


def audit(
    data: Any,
    *,
    quasi: Iterable[str],
    sensitive: Iterable[str] = (),
    fraction: float | None = None,
    seed: int = 0,
) -> Audit:
    """Return what a table gives away as it is.

    With `fraction`, the share of the population that is in the table, it also says how many people are unique
    in the population; `seed` is that of the intervals.

    Examples
    --------
    >>> import shoal
    >>> shoal.audit({"age": [31, 31, 52], "job": ["a", "a", "b"]}, quasi=["age", "job"]).smallest_class
    1
    """
    from .auditing import audit_table
    from .schema import Column
    from .sets import with_texts
    from .table import Table

    names = tuple(quasi)
    table = with_texts(Table.from_any(data).data, map(Column, names))
    return audit_table(table, names, tuple(sensitive), fraction=fraction, seed=seed)


def verify(data: Any, policy: Policy) -> Evidence:
    """Return the evidence for a published table, recomputed from its cells.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    >>> shoal.verify({"age": ["[20, 29]", "[20, 29]", "30"]}, policy).holds
    False
    """
    from .table import Table
    from .verification import verify_table

    return verify_table(Table.from_any(data).data, policy)


def risk(
    original: Any,
    published: Any = None,
    policy: Policy | None = None,
    *,
    fraction: float | None = None,
    population: Any = None,
    rows: Any = None,
    seed: int = 0,
    quasi: Iterable[str] = (),
) -> Risk:
    """Return how exposed people are in a table and in what was published of it.

    Parameters
    ----------
    original, published : frame
        Without `published`, only the risk before is measured.
    policy : Policy, optional
        Or its `quasi` alone.
    fraction : float, optional
        Share of the population that is in the table: adds the journalist's risk by a model, and estimates of
        how many people are unique in the population.
    population : frame, optional
        The population itself, the people of the table among them: the journalist's risk is then counted.
    rows : list of int, optional
        The record of the original behind each published one, where that is known; suppressed people then
        count as people without risk.
    seed : int
        Of the intervals.

    Examples
    --------
    >>> import shoal
    >>> found = shoal.risk({"age": [31, 34, 52, 52]}, {"age": ["[31, 34]"] * 2 + ["52"] * 2}, quasi=["age"])
    >>> found.before.prosecutor.highest, found.after.prosecutor.highest, found.uniques.to_dict()["unique"]
    (1.0, 0.5, 2)
    """
    from .risk.exposure import Surroundings, risk_of_tables
    from .sets import with_texts
    from .table import Table

    policy = Policy(quasi=tuple(quasi)) if policy is None else policy
    before, after, people = (
        None if frame is None else with_texts(Table.from_any(frame).data, policy.schema.quasi)
        for frame in (original, published, population)
    )
    known = Surroundings(fraction=fraction, population=people, rows=rows, seed=seed)
    return risk_of_tables(before, after, policy, known)


def attack(
    original: Any,
    published: Any,
    policy: Policy,
    *,
    known: Any = None,
    attacks: Iterable[str | Attack] | None = None,
    before: bool = False,
    progress: Progress | None = None,
    **means: Any,
) -> Attacks:
    """Return how often attacks on a published table succeed, the original being the truth.

    Parameters
    ----------
    original, published : frame
    policy : Policy
        What the published table was made under.
    known : list of column names, or list of such lists, optional
        What the attacker knows of everyone; all quasi-identifiers when not given.
    attacks : iterable of str or Attack, optional
        Names out of ``shoal.attacks()``; all of them when not given.
    before : bool
        Whether to run them on the original too, as if it had been published as it is.
    progress : Progress, optional
    **means
        `rows`, the record of the original behind each published one; `control`, a table of people who are
        not in the original; `other`, a second release about the same people; `sample`, how many people are
        attacked at most, and `seed`, which draws them.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [31, 34, 52, 55], "ill": ["flu", "flu", "flu", "cold"]}
    >>> policy = shoal.Policy(quasi=["age"], sensitive=["ill"], models=[shoal.KAnonymity(2)])
    >>> shown = shoal.anonymize(people, policy, algorithm="mondrian").table
    >>> found = shoal.attack(people, shown, policy, attacks=["linkage"])
    >>> found.results[0].success.value, found.results[0].baseline.value
    (0.5, 0.25)
    """
    from .attacks.run import attack_tables, target_of

    target = target_of(original, published, policy, means)
    return attack_tables(target, attacks, known, before=before, progress=progress)


def report(
    original: Any,
    published: Any,
    policy: Policy,
    *,
    target: str | None = None,
    fraction: float | None = None,
    attacks: bool = True,
    seed: int = 0,
    input_hash: bool = False,
    files: Mapping[str, str] | None = None,
    progress: Progress | None = None,
    **workload: Any,
) -> Report:
    """Return the report on a published table, whoever made it, against the table it was made from.

    Parameters
    ----------
    original, published : frame
    policy : Policy
        What was promised.
    target : str, optional
        A column that models are trained to predict; needs the extra ``ml``.
    fraction : float, optional
        Share of the population that is in the table, for the risks that depend on it.
    attacks : bool
        Whether attacks are run.
    seed : int
        Draws queries, samples and splits.
    input_hash : bool
        Whether the hash of the original is told; only for a report that stays in the house.
    files : mapping of name to SHA-256, optional
        Files to name in the report.
    progress : Progress, optional
        Told about every stage.
    **workload
        Of COUNT queries: `queries`, `columns`, `selectivity`, `sanity`.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi={"age": "numeric"}, models=[shoal.KAnonymity(2)])
    >>> shoal.report({"age": [20, 29]}, {"age": ["[20, 29]", "[20, 29]"]}, policy, queries=10)
    Report(holds, promises=1)
    """
    from .report.build import Wanted, report_tables
    from .sets import with_texts
    from .table import Table
    from .utility.queries import workload_of

    wanted = Wanted(
        target=target,
        workload=workload_of(seed, workload),
        files=files,
        input_hash=input_hash,
        attacks=attacks,
        fraction=fraction,
        progress=progress or Progress(),
    )
    before = with_texts(Table.from_any(original).data, policy.schema.quasi)
    return report_tables(before, Table.from_any(published).data, policy, wanted)


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


def algorithms() -> list[str]:
    """Return the names of all algorithms.

    Examples
    --------
    >>> import shoal
    >>> "mondrian" in shoal.algorithms()
    True
    """
    return registry.names("algorithms")


def models() -> list[str]:
    """Return the names of all privacy models.

    Examples
    --------
    >>> import shoal
    >>> shoal.models()[0]
    'k-anonymity'
    """
    return registry.names("models")


def metrics() -> list[str]:
    """Return the names of all metrics.

    Examples
    --------
    >>> import shoal
    >>> "gcp" in shoal.metrics()
    True
    """
    return registry.names("metrics")


def attacks() -> list[str]:
    """Return the names of all attacks.

    Examples
    --------
    >>> import shoal
    >>> "linkage" in shoal.attacks()
    True
    """
    return registry.names("attacks")


def papers() -> list[str]:
    """Return the names of all papers that ``shoal reproduce`` knows.

    Examples
    --------
    >>> import shoal
    >>> isinstance(shoal.papers(), list)
    True
    """
    return registry.names("papers")


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
