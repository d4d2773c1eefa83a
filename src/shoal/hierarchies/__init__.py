"""Hierarchies: how values of a column generalise, level by level."""

from __future__ import annotations

from .base import Hierarchy, LevelCount
from .tree import ROOT_LABEL, Tree

__all__ = ["ROOT_LABEL", "Hierarchy", "LevelCount", "Tree"]
