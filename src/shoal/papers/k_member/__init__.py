"""Byun, Kamra, Bertino and Li: clustering for k-anonymity."""
