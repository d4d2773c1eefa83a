"""The public calls that say what there is: the names in the registry."""

from __future__ import annotations

from . import registry


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
