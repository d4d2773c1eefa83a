"""Facts: everything a report says, as plain values. The page, the summary and the JSON are made from them."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import registry
from ..comparing import k_of
from ..io.columnar import hash_table
from ..manifest import describe_policy, versions

if TYPE_CHECKING:
    from ..comparing import Comparison
    from ..evidence import Evidence
    from ..policy import Policy
    from ..utility.measuring import Utility

FORMAT = "shoal report 1"
_SIZES = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000)


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """What a report is about, however it came to be.

    Attributes
    ----------
    original, published : pyarrow.Table
    policy : Policy
        Resolved on the original.
    evidence : Evidence
    metrics : mapping
        As in ``release.metrics``; empty where only the tables are known.
    sizes : int64[classes]
        Records of each class.
    made : mapping
        How the release was made: algorithm, parameters, seed; empty where that is not known.
    """

    original: pa.Table
    published: pa.Table
    policy: Policy
    evidence: Evidence
    metrics: Mapping[str, Any]
    sizes: NDArray[np.int64]
    made: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """What was measured for a report; what was not is None."""

    utility: Utility | None = None
    risk: Mapping[str, Any] | None = None
    attacks: Mapping[str, Any] | None = None
    comparison: Comparison | None = None


def collect(
    subject: Subject, found: Findings, *, files: Mapping[str, str] | None = None, input_hash: bool = False
) -> dict[str, Any]:
    """Return the facts: no cell values, and nothing that is not JSON.

    Parameters
    ----------
    subject, found
        What the report is about, and what was measured.
    files : mapping of name to SHA-256, optional
        Files that belong to the release.
    input_hash : bool
        Whether the hash of the original is told. Whoever knows all records but one could try values for that
        one until the hash fits, so it belongs into a report that stays in the house.
    """
    facts: dict[str, Any] = _plain(
        {
            "format": FORMAT,
            "verdict": _verdict(subject),
            "promises": [_promise(promise) for promise in subject.evidence.promises],
            "problems": list(subject.evidence.problems),
            "unnamed": list(subject.evidence.unnamed),
            "cost": _cost(subject, found.utility),
            "classes": class_sizes(subject.sizes),
            "risk": found.risk,
            "attacks": found.attacks,
            "utility": None if found.utility is None else found.utility.to_dict(),
            "comparison": None if found.comparison is None else _compared(found.comparison),
            "repeat": _repeat(subject, files or {}, input_hash),
        }
    )
    return facts


def _verdict(subject: Subject) -> dict[str, Any]:
    evidence, records = subject.evidence, subject.original.num_rows
    suppressed = evidence.suppressed
    return {
        "holds": evidence.holds,
        "records": records,
        "published": subject.published.num_rows,
        "suppressed": suppressed if suppressed is not None else max(records - subject.published.num_rows, 0),
        "classes": evidence.classes,
        "smallest_class": int(subject.sizes.min()) if len(subject.sizes) else 0,
        "k": k_of(subject.policy),
        "quasi": [column.name for column in subject.policy.schema.quasi],
        "sensitive": [column.name for column in subject.policy.schema.sensitive],
    }


def _promise(promise: Any) -> dict[str, Any]:
    known = registry.names("models")
    meaning = registry.get("models", promise.model).summary if promise.model in known else ""
    return {**asdict(promise), "how": str(promise.how), "meaning": meaning}


def _cost(subject: Subject, utility: Utility | None) -> dict[str, Any]:
    by_column = subject.metrics.get("ncp")
    if not isinstance(by_column, Mapping):
        by_column = {} if utility is None else utility.loss
    gcp = subject.metrics.get("gcp")
    if gcp is None and len(by_column) == len(subject.policy.schema.quasi):
        gcp = float(np.mean(list(by_column.values())))
    metrics = [
        {"name": name, "value": value, "meaning": registry.get("metrics", name).summary}
        for name, value in subject.metrics.items()
        if isinstance(value, int | float) and name in registry.names("metrics")
    ]
    return {
        "gcp": gcp,
        "by_column": dict(by_column),
        "suppression_limit": subject.policy.suppression,
        "bound": subject.metrics.get("bound"),
        "gap": subject.metrics.get("gap"),
        "squares": subject.metrics.get("il-sse"),
        "squares_bound": subject.metrics.get("il-sse-bound"),
        "squares_gap": subject.metrics.get("il-sse-gap"),
        "refinement": subject.evidence.provenance.get("refinement"),
        "auto": subject.evidence.provenance.get("auto"),
        "metrics": metrics,
    }


def class_sizes(sizes: NDArray[np.int64]) -> list[dict[str, Any]]:
    """Return how many classes and records there are by the size of the class, in steps that widen.

    Examples
    --------
    >>> import numpy as np
    >>> class_sizes(np.array([3, 4, 12]))[0]
    {'size': '3-4', 'classes': 2, 'records': 7}
    """
    found = []
    for low, high in zip(_SIZES, [*_SIZES[1:], math.inf], strict=True):
        inside = sizes[(sizes >= low) & (sizes < high)]
        name = f"{low}+" if high == math.inf else str(low) if high - low == 1 else f"{low}-{int(high) - 1}"
        found.append({"size": name, "classes": len(inside), "records": int(inside.sum())})
    filled = [i for i, row in enumerate(found) if row["classes"]]
    return found[filled[0] : filled[-1] + 1] if filled else []


def published_sizes(published: pa.Table, policy: Policy) -> NDArray[np.int64]:
    """Return the records of each group of equal published quasi-identifiers; null equals null."""
    names = [name for column in policy.schema.quasi for name in column.published_names]
    keys = published.select(names).rename_columns([str(i) for i in range(len(names))])
    plain = [c.cast(c.type.value_type) if pa.types.is_dictionary(c.type) else c for c in keys.columns]
    table = pa.table(plain, names=keys.column_names)
    counted = table.group_by(table.column_names).aggregate([([], "count_all")])
    return np.asarray(counted["count_all"].to_numpy(), dtype=np.int64)


def _compared(comparison: Comparison) -> list[dict[str, Any]]:
    return [asdict(row) for row in comparison.rows]


def _repeat(subject: Subject, files: Mapping[str, str], input_hash: bool) -> dict[str, Any]:
    policy = describe_policy(subject.policy)
    hashes = {"published_content": hash_table(subject.published), "policy": _hash_of(policy), **files}
    provenance = subject.evidence.provenance
    if input_hash:
        hashes["input"] = provenance.get("input_sha256") or hash_table(subject.original)
    return {
        "policy": policy,
        "algorithm": subject.made.get("algorithm"),
        "parameters": subject.made.get("parameters", {}),
        "seed": subject.made.get("seed"),
        "noise": provenance.get("noise"),
        "versions": provenance.get("versions") or versions(),
        "sha256": hashes,
    }


def _hash_of(plain: Any) -> str:
    text = json.dumps(plain, sort_keys=True, default=str, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _plain(value: Any) -> Any:
    """Return nested values as JSON holds them: numbers that are none as None, NumPy's as Python's."""
    if isinstance(value, Mapping):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
