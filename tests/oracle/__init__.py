"""The definitions of the papers in plain slow Python: what the fast code is compared with."""
