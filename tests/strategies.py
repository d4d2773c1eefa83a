"""Random tables for property tests: numbers, categories and codes with shared prefixes, nulls among them."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import strategies as st

AGES = st.one_of(st.none(), st.integers(18, 30))
JOBS = st.one_of(st.none(), st.sampled_from(["nurse", "cook", "clerk"]))
TOWNS = st.sampled_from(["101", "102", "201", "202"])
DISEASES = st.sampled_from(["flu", "cold", "gout"])


@st.composite
def random_tables(draw: st.DrawFn, max_records: int = 25) -> pa.Table:
    """Draw a table of a few records."""
    records = draw(st.lists(st.tuples(AGES, JOBS, TOWNS, DISEASES), min_size=1, max_size=max_records))
    age, job, town, disease = (list(column) for column in zip(*records, strict=True))
    return pa.table(
        {
            "age": pa.array(age, pa.int64()),
            "job": pa.array(job, pa.string()),
            "town": pa.array(town, pa.string()),
            "disease": pa.array(disease, pa.string()),
        }
    )
