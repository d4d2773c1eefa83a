"""Everything compiled by Numba: arrays and named tuples in, arrays out. Imports nothing of ours but itself."""
