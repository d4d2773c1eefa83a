"""One family of metrics a file. `shoal.registry` knows them by name."""
