"""Importing shoal is cheap and loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys

import shoal

PROBE = """
import sys, time
before = time.process_time()
import shoal
spent = time.process_time() - before
heavy = {"numba", "numpy", "pyarrow", "pandas", "polars", "narwhals", "pyspark"} & set(sys.modules)
print(spent, *sorted(heavy))
"""


def test_import_loads_no_numba_and_no_frame_library() -> None:
    output = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True).stdout
    spent, *heavy = output.split()
    assert heavy == []
    assert float(spent) < 0.2


def test_every_public_name_resolves() -> None:
    for name in shoal.__all__:
        assert getattr(shoal, name) is not None
        assert name in dir(shoal)


def test_every_public_object_shows_an_example() -> None:
    silent = [
        n for n in shoal.__all__ if n != "__version__" and ">>>" not in (getattr(shoal, n).__doc__ or "")
    ]
    assert silent == []


def test_functions_that_share_a_name_with_a_package_stay_functions() -> None:
    import shoal.algorithms.base
    import shoal.metrics.base
    import shoal.models.base

    assert "mondrian" in shoal.algorithms()
    assert "k-anonymity" in shoal.models()
    assert "gcp" in shoal.metrics()
    shoal.metrics = sys.modules["shoal.metrics"]  # as pytest does for a package whose doctests it runs
    assert "gcp" in shoal.metrics()
