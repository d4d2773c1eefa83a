"""shoal on Spark: the same policy and the same algorithms, for tables larger than one machine.

``shoal.spark.anonymize(sdf, policy)`` returns a verified release of a Spark DataFrame;
``shoal.spark.verify(sdf, policy)`` the evidence for a published one. Needs the extra ``spark``.
"""

from __future__ import annotations

from .engines.spark.run import SparkRelease, anonymize
from .engines.spark.session import read_parquet
from .engines.spark.verifying import verify_spark as verify

__all__ = ["SparkRelease", "anonymize", "read_parquet", "verify"]
