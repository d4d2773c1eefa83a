"""Shared by all tests: the oracle package on the path, and the real data sets."""

from __future__ import annotations

import os
import sys
from pathlib import Path

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))
os.environ.setdefault("SHOAL_DATA", str(TESTS.parents[1] / "shared" / "data"))
