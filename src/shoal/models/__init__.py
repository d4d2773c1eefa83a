"""One privacy model a file. `shoal.registry` knows them by name."""
