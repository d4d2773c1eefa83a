"""The stages on a Spark cluster: dictionaries, cuts, cells, verification, one file each."""

from ...errors import MissingExtra

try:
    import pyspark as _pyspark  # noqa: F401
except ModuleNotFoundError:
    raise MissingExtra.of("Spark", "spark") from None
