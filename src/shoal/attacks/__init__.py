"""Attacks on a published table, run with the original as the truth. One attack a file."""
