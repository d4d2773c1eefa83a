"""The manifest of a release: how it was made and what it keeps, as plain values, none of them from cells."""

from __future__ import annotations

import math
import platform
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from .schema import Form, Role

if TYPE_CHECKING:
    from .policy import Policy
    from .release import Described

_LIBRARIES = ("numpy", "numba", "pyarrow")


def manifest_of(release: Described) -> dict[str, Any]:
    """Return what `Described.manifest` returns."""
    provenance = release.evidence.provenance
    return made_and_kept(
        release,
        {
            **({"levels": release.levels} if release.levels is not None else {}),
            **({"noise": provenance["noise"]} if "noise" in provenance else {}),
            **({"refinement": _without_curve(release.refinement)} if release.refinement else {}),
        },
    )


def made_and_kept(release: Any, more: dict[str, Any]) -> dict[str, Any]:
    """Return how a release of any engine was made, `more` of its own, and what it keeps."""
    evidence = release.evidence.to_dict()
    provenance = evidence.pop("provenance")
    found: dict[str, Any] = plain(
        {
            "versions": provenance["versions"],
            "policy": describe_policy(release.policy),
            "algorithm": {"name": release.algorithm.name, "parameters": release.algorithm.to_dict()},
            "seed": release.seed,
            **more,
            "evidence": evidence,
            "metrics": release.metrics,
        }
    )
    return found


def _without_curve(refinement: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in refinement.items() if name != "curve"}


def describe_policy(policy: Policy) -> dict[str, Any]:
    """Return a policy as plain values, none of them from cells: orders and hierarchies are left out."""
    columns = []
    for column in policy.schema.columns:
        described: dict[str, Any] = {"name": column.name, "role": column.role.value}
        if column.role is Role.IDENTIFIER:
            described["action"] = column.action.value
        else:
            described["kind"] = None if column.kind is None else column.kind.value
        if column.role is Role.QUASI:
            described["form"] = column.form.value
            if column.form is Form.RHO_NOISE:
                described["rho"] = column.rho
            described["weight"] = column.weight
            if column.domain is not None:
                described["domain"] = list(column.domain)
            described["hierarchy"] = column.hierarchy is not None
            described["least_level"], described["most_level"] = column.least_level, column.most_level
        columns.append(described)
    return {
        "columns": columns,
        "models": [{"name": model.name, **model.to_dict()} for model in policy.models],
        "suppression": policy.suppression,
        "suppressed": policy.suppressed,
        "unknown_values": policy.unknown_values,
    }


def versions() -> dict[str, str]:
    """Return the versions of shoal, Python and the libraries that decide what a release looks like."""
    from . import __version__

    found = {name: version(name) for name in _LIBRARIES}
    return {"shoal": __version__, "python": platform.python_version(), **found}


def plain(value: Any) -> Any:
    """Return nested values with numbers that JSON cannot hold as None."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
