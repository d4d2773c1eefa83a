"""Hierarchies: how values of a column generalise, level by level."""
