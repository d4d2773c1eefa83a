"""Verification: every promise recomputed from the published table, with code of its own.

Nothing here imports a kernel, a model, an algorithm or the encoding: a defect there cannot hide itself here.
"""

from __future__ import annotations

from .verify import verify_table

__all__ = ["verify_table"]
