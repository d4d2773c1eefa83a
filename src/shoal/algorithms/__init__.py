"""One algorithm a file. `shoal.registry` knows them by name."""
