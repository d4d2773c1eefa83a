"""What shoal knows by name: algorithms, models, metrics, papers. Each is one line here and one file there.

A name maps to ``"module:Class"`` and is imported only when asked for. Third parties add to a group with an
entry point of the same name (``shoal.algorithms``, ``shoal.models``, ``shoal.metrics``, ``shoal.papers``).
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
from typing import Any

from .errors import UnknownName

_BUILT_IN: dict[str, dict[str, str]] = {
    "algorithms": {
        "auto": "shoal.algorithms.auto:Auto",
        "bottom-up": "shoal.algorithms.bottom_up:BottomUp",
        "canon": "shoal.algorithms.canon:Canon",
        "datafly": "shoal.algorithms.datafly:Datafly",
        "dop": "shoal.algorithms.dop:Dop",
        "fuzzy-k-member": "shoal.algorithms.fuzzy_k_member:FuzzyKMember",
        "gcaa": "shoal.algorithms.gcaa:Gcaa",
        "k-member": "shoal.algorithms.k_member:KMember",
        "kfcfa": "shoal.algorithms.kfcfa:Kfcfa",
        "klt3l": "shoal.algorithms.klt3l:Klt3l",
        "knn": "shoal.algorithms.knn:Knn",
        "lattice": "shoal.algorithms.lattice:Lattice",
        "local": "shoal.algorithms.local:Local",
        "mdav": "shoal.algorithms.mdav:Mdav",
        "mondrian": "shoal.algorithms.mondrian:Mondrian",
        "mondrian-cof": "shoal.algorithms.mondrian_cof:MondrianCof",
        "oka": "shoal.algorithms.oka:Oka",
        "optimal-1d": "shoal.algorithms.optimal_1d:OptimalOneDimensional",
        "p-sensitive": "shoal.algorithms.p_sensitive:PSensitiveClustering",
        "rayden": "shoal.algorithms.rayden:Rayden",
        "top-down": "shoal.algorithms.top_down:TopDown",
        "v-mdav": "shoal.algorithms.v_mdav:VMdav",
    },
    "models": {
        "k-anonymity": "shoal.models.k_anonymity:KAnonymity",
        "k-map": "shoal.models.k_map:KMap",
        "l-diversity": "shoal.models.l_diversity:LDiversity",
        "t-closeness": "shoal.models.t_closeness:TCloseness",
        "p-sensitive": "shoal.models.p_sensitive:PSensitive",
        "alpha-k": "shoal.models.alpha_k:AlphaK",
        "beta-likeness": "shoal.models.beta_likeness:BetaLikeness",
        "delta-disclosure": "shoal.models.delta_disclosure:DeltaDisclosure",
        "delta-presence": "shoal.models.delta_presence:DeltaPresence",
    },
    "metrics": {
        "gcp": "shoal.metrics.generalization:GlobalCertaintyPenalty",
        "ncp": "shoal.metrics.generalization:CertaintyPenalty",
        "il": "shoal.metrics.generalization:InformationLoss",
        "il-normalised": "shoal.metrics.generalization:NormalisedInformationLoss",
        "lm": "shoal.metrics.generalization:LossMetric",
        "lil": "shoal.metrics.generalization:LocalInformationLoss",
        "iloss": "shoal.metrics.generalization:ILoss",
        "precision": "shoal.metrics.generalization:Precision",
        "bound": "shoal.metrics.optimality:LossBound",
        "gap": "shoal.metrics.optimality:OptimalityGap",
        "il-sse-bound": "shoal.metrics.optimality:SquaredErrorBound",
        "il-sse-gap": "shoal.metrics.optimality:SquaredErrorGap",
        "dm": "shoal.metrics.class_sizes:Discernibility",
        "dm-star": "shoal.metrics.class_sizes:DiscernibilityStar",
        "cavg": "shoal.metrics.class_sizes:NormalisedAverageClass",
        "cavg-achieved": "shoal.metrics.class_sizes:AchievedAverageClass",
        "average-class": "shoal.metrics.class_sizes:AverageClass",
        "aecs": "shoal.metrics.class_sizes:AverageEquivalenceClass",
        "largest-class": "shoal.metrics.class_sizes:LargestClass",
        "smallest-class": "shoal.metrics.class_sizes:SmallestClass",
        "classes": "shoal.metrics.class_sizes:Classes",
        "suppressed": "shoal.metrics.class_sizes:SuppressionRate",
        "cm": "shoal.metrics.diversity:ClassificationMetric",
        "information-gain": "shoal.metrics.diversity:InformationGain",
        "ed": "shoal.metrics.diversity:EqualDiversity",
        "sd": "shoal.metrics.diversity:SensitiveDiversity",
        "adr": "shoal.metrics.distortion:AverageDistortionRatio",
        "sse": "shoal.metrics.squares:SquaredError",
        "sst": "shoal.metrics.squares:TotalSquares",
        "il-sse": "shoal.metrics.squares:SquaredErrorShare",
        "dld": "shoal.metrics.linkage:DistanceLinkedDisclosure",
        "interval-disclosure": "shoal.metrics.linkage:IntervalDisclosure",
        "kl": "shoal.metrics.information:KullbackLeibler",
        "non-uniform-entropy": "shoal.metrics.information:NonUniformEntropy",
        "p-ka": "shoal.metrics.violations:SizeViolations",
        "p-tc": "shoal.metrics.violations:ClosenessViolations",
        "orr": "shoal.metrics.outliers:OutlierRecoveryRate",
        "outliers-detected": "shoal.metrics.outliers:OutliersDetected",
        "outliers-recovered": "shoal.metrics.outliers:OutliersRecovered",
        "outliers-suppressed": "shoal.metrics.outliers:OutliersSuppressed",
    },
    "attacks": {
        "linkage": "shoal.attacks.linkage:Linkage",
        "inference": "shoal.attacks.inference:BestGuess",
        "homogeneity": "shoal.attacks.inference:Homogeneity",
        "skewness": "shoal.attacks.inference:Skewness",
        "similarity": "shoal.attacks.similarity:Similarity",
        "background": "shoal.attacks.inference:Background",
        "singling-out": "shoal.attacks.singling_out:SinglingOut",
        "linkability": "shoal.attacks.linkability:Linkability",
        "intersection": "shoal.attacks.intersection:Intersection",
        "minimality": "shoal.attacks.minimality:Minimality",
    },
    "papers": {
        "dop": "shoal.papers.dop.paper:DensityDriven",
        "gcaa": "shoal.papers.gcaa.paper:GcaaPaper",
        "k-member": "shoal.papers.k_member.paper:KMemberPaper",
        "random-aggregation": "shoal.papers.random_aggregation.paper:RandomAggregation",
        "rayden": "shoal.papers.rayden.paper:RaydenPaper",
    },
}


@functools.cache
def _targets(group: str) -> dict[str, str]:
    found = dict(_BUILT_IN[group])
    for entry in importlib.metadata.entry_points(group=f"shoal.{group}"):
        found.setdefault(entry.name, entry.value)
    return found


def names(group: str) -> list[str]:
    """Return the names registered in a group, in the order they are listed.

    Examples
    --------
    >>> "mondrian" in names("algorithms")
    True
    """
    return list(_targets(group))


def get(group: str, name: str) -> Any:
    """Return the class registered under `name`, importing its module now.

    Examples
    --------
    >>> get("models", "k-anonymity").__name__
    'KAnonymity'
    """
    targets = _targets(group)
    if name not in targets:
        raise UnknownName.nearest(group.removesuffix("s"), name, list(targets))
    module, _, attribute = targets[name].partition(":")
    return getattr(importlib.import_module(module), attribute)
