"""The stages between a table and its release, each as one call; `api` puts them in their order.

Whoever writes an algorithm, compares several or measures one calls these instead of `shoal.anonymize`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from . import registry
from .errors import PolicyError, PolicyUnsatisfiable

if TYPE_CHECKING:
    from .algorithms.base import Algorithm
    from .encoding import Encoded
    from .engines.encoding import PreparedBlocks
    from .partitions import Partition
    from .policy import Policy
    from .progress import Run
    from .refine import Refine
    from .release import Release
    from .table import Table


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


def make_algorithm(name: str, parameters: dict[str, Any]) -> Algorithm:
    """Return the algorithm registered under `name` with these parameters; `blocks` lets it work in blocks."""
    blocks = parameters.get("blocks")
    own = {key: value for key, value in parameters.items() if key != "blocks"}
    algorithm: Algorithm = registry.get("algorithms", name).create(own)
    if blocks is None:
        return algorithm
    from .algorithms.in_blocks import InBlocks

    return InBlocks.around(algorithm, blocks)


def suited(algorithm: Algorithm, records: int) -> Algorithm:
    """Return an algorithm as it takes on so many records: in blocks, where it would take for ever."""
    if algorithm.block is None:
        return algorithm
    from .algorithms import in_blocks

    return in_blocks.suited(algorithm, records)


def partition_prepared(
    prepared: Prepared | PreparedBlocks, algorithm: Algorithm, run: Run, refine: Refine | None = None
) -> Partition:
    """Return the partition an algorithm makes of a prepared table, repaired until it keeps the policy."""
    rules = prepared.policy.compile(prepared.encoded)
    run = informed(prepared.policy, run, refine)
    packed = algorithm.packed and refine is None
    encoded = prepared.encoded if packed else prepared.encoded.whole()
    with run.progress.stage(f"partitioning by {algorithm.name}"):
        classes = algorithm.partition(encoded, rules, run)
    return enforced(classes, encoded, prepared.policy, run, refine, algorithm)


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
    from .releasing import make_release

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


def informed(policy: Policy, run: Run, refine: Refine | None = None) -> Run:
    """Return the run with what algorithms may know of the policy, and of what comes after them."""
    return replace(
        run,
        suppression=policy.suppression,
        promises=tuple(policy.promises()),
        policy=policy,
        refining=refine is not None,
    )


def enforced(
    partition: Partition,
    encoded: Encoded,
    policy: Policy,
    run: Run,
    refine: Refine | None,
    algorithm: Algorithm,
) -> Partition:
    """Return the partition repaired until it keeps the policy, its levels included, and then refined.

    An algorithm that worked in blocks is refined in blocks.
    """
    from .algorithms.in_blocks import InBlocks
    from .enforce import enforce_levels

    repaired = enforce_levels(partition, encoded, policy, run)
    if refine is None:
        return repaired
    from .refine import refined
    from .refine.blocks import refined_in_blocks, works_in_blocks

    if isinstance(algorithm, InBlocks) and algorithm.cuts(encoded.records) and not repaired.uniform:
        rules = policy.compile(encoded, repaired.labels >= 0)
        if works_in_blocks(rules, refine):
            cut = algorithm.cut(encoded, rules, run)
            found = refined_in_blocks(repaired, encoded, policy, run, refine, cut)
            return enforce_levels(found, encoded, policy, run)
    return refined(repaired, encoded, policy, run, refine)
