"""How exposed people are: per record, by unique values, and in the population a table was drawn from."""
