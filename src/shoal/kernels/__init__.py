"""Everything compiled by Numba: arrays and named tuples in, arrays out. Imports nothing else of ours."""
