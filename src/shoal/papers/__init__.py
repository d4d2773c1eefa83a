"""One paper a file: its experiments, its claims, its printed figures and ours beside them.

`shoal.registry` knows them by name.
"""
