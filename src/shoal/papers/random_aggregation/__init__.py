"""Yang: Random Aggregation, reproduced."""
