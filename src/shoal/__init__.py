"""shoal turns a table about people into one that can be published, and proves it on the published file.

A release is a partition of records, a recoding of each class, and evidence computed again from the result.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

# These packages share their names with public functions below. Python binds a submodule to its parent's
# attribute the first time it is imported, so they are imported (they are empty) before the functions exist.
from . import algorithms as _algorithms  # noqa: F401
from . import attacks as _attacks  # noqa: F401
from . import metrics as _metrics  # noqa: F401
from . import models as _models  # noqa: F401
from . import papers as _papers  # noqa: F401
from . import report as _report  # noqa: F401
from . import risk as _risk  # noqa: F401

__version__ = "0.1.0"

_PUBLIC = {
    "Action": "schema",
    "AlphaK": "models.alpha_k",
    "BetaLikeness": "models.beta_likeness",
    "Column": "schema",
    "DeltaDisclosure": "models.delta_disclosure",
    "DeltaPresence": "models.delta_presence",
    "Evidence": "evidence",
    "FileRelease": "release",
    "Form": "schema",
    "Hierarchy": "hierarchies",
    "KAnonymity": "models.k_anonymity",
    "KMap": "models.k_map",
    "Kind": "schema",
    "LDiversity": "models.l_diversity",
    "PSensitive": "models.p_sensitive",
    "Partition": "partitions",
    "Policy": "policy",
    "Refine": "refine",
    "Release": "release",
    "Role": "schema",
    "ShoalError": "errors",
    "TCloseness": "models.t_closeness",
    "algorithms": "api",
    "anonymize": "api",
    "anonymize_file": "api",
    "attack": "api",
    "attacks": "api",
    "audit": "api",
    "compare": "api",
    "dp_centroid": "private_centroids",
    "encode": "api",
    "explore": "api",
    "metrics": "api",
    "models": "api",
    "papers": "api",
    "partition": "api",
    "report": "api",
    "risk": "api",
    "update": "updating.run",
    "verify": "api",
}
for _name in ("algorithms", "attacks", "metrics", "models", "papers", "report", "risk"):
    del globals()[_name]  # so that __getattr__ answers with the function

__all__ = ["__version__", "datasets", *_PUBLIC]


def __getattr__(name: str) -> Any:
    if name == "datasets":
        return importlib.import_module(".datasets", __name__)
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_PUBLIC[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from . import datasets as datasets
    from .api import anonymize as anonymize
    from .api import anonymize_file as anonymize_file
    from .api import attack as attack
    from .api import audit as audit
    from .api import compare as compare
    from .api import encode as encode
    from .api import explore as explore
    from .api import partition as partition
    from .api import report as report
    from .api import risk as risk
    from .api import verify as verify
    from .errors import ShoalError as ShoalError
    from .evidence import Evidence as Evidence
    from .hierarchies import Hierarchy as Hierarchy
    from .models.alpha_k import AlphaK as AlphaK
    from .models.beta_likeness import BetaLikeness as BetaLikeness
    from .models.delta_disclosure import DeltaDisclosure as DeltaDisclosure
    from .models.delta_presence import DeltaPresence as DeltaPresence
    from .models.k_anonymity import KAnonymity as KAnonymity
    from .models.k_map import KMap as KMap
    from .models.l_diversity import LDiversity as LDiversity
    from .models.p_sensitive import PSensitive as PSensitive
    from .models.t_closeness import TCloseness as TCloseness
    from .partitions import Partition as Partition
    from .policy import Policy as Policy
    from .private_centroids import dp_centroid as dp_centroid
    from .refine import Refine as Refine
    from .release import FileRelease as FileRelease
    from .release import Release as Release
    from .schema import Action as Action
    from .schema import Column as Column
    from .schema import Form as Form
    from .schema import Kind as Kind
    from .schema import Role as Role
    from .updating.run import update as update
