"""shoal turns a table about people into one that can be published, and proves it on the published file.

A release is a partition of records, a recoding of each class, and evidence computed again from the result.
"""

from __future__ import annotations

import importlib
import sys
import types
from typing import TYPE_CHECKING, Any

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
    "algorithms": "listing",
    "anonymize": "api",
    "anonymize_file": "api",
    "attack": "examining",
    "attacks": "listing",
    "audit": "examining",
    "compare": "api",
    "dp_centroid": "private_centroids",
    "encode": "api",
    "explore": "api",
    "metrics": "listing",
    "models": "listing",
    "papers": "listing",
    "partition": "api",
    "report": "examining",
    "risk": "examining",
    "update": "updating.run",
    "verify": "examining",
}

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


class _Shoal(types.ModuleType):
    """The package itself: a public function keeps its name when the package of the same name is imported.

    `shoal.metrics` is a function and ``shoal/metrics/`` a package; Python, and pytest in its own way, bind a
    package to its parent's attribute whenever they import it.
    """

    def __setattr__(self, name: str, value: Any) -> None:
        if not (name in _PUBLIC and isinstance(value, types.ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Shoal


if TYPE_CHECKING:
    from . import datasets as datasets
    from .api import anonymize as anonymize
    from .api import anonymize_file as anonymize_file
    from .api import compare as compare
    from .api import encode as encode
    from .api import explore as explore
    from .api import partition as partition
    from .errors import ShoalError as ShoalError
    from .evidence import Evidence as Evidence
    from .examining import attack as attack
    from .examining import audit as audit
    from .examining import report as report
    from .examining import risk as risk
    from .examining import verify as verify
    from .hierarchies import Hierarchy as Hierarchy
    from .listing import algorithms as algorithms
    from .listing import attacks as attacks
    from .listing import metrics as metrics
    from .listing import models as models
    from .listing import papers as papers
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
