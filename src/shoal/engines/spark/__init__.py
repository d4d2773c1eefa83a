"""The stages on a Spark cluster: dictionaries, cuts, cells, verification, one file each."""
