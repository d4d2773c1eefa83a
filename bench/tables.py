"""The tables that benchmarks run on: Adult, and Adult-like tables of any size, the same on every machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

NUMBERS = ("age", "education-num")
CATEGORIES = ("workclass", "marital-status", "occupation", "race", "sex", "native-country")
ADULT_COLUMNS = ("age", "workclass", "education-num", *CATEGORIES[1:])


def data_folder() -> Path:
    """Return the folder of the real data sets: SHOAL_DATA, else ../shared/data beside the repository."""
    default = Path(__file__).resolve().parents[2] / "shared" / "data"
    return Path(os.environ.get("SHOAL_DATA", default))


def adult() -> pa.Table:
    """Return the 30,162 complete records of Adult."""
    options = csv.ConvertOptions(strings_can_be_null=True)
    return csv.read_csv(data_folder() / "adult.csv", convert_options=options).drop_null()


def adult_like(records: int, seed: int = 7) -> pa.Table:
    """Return records of Adult drawn with replacement, some numbers jittered, and a zip code added.

    Age moves by up to 2 years, hours by up to 3; the zip code depends on country and occupation, with normal
    noise, so that nearly every record of a ninth quasi-identifier differs.
    """
    rng = np.random.default_rng(seed)
    source = adult()
    drawn = source.take(pa.array(rng.integers(0, source.num_rows, records)))
    age = np.clip(drawn["age"].to_numpy() + rng.integers(-2, 3, records), 17, 90)
    hours = np.clip(drawn["hours-per-week"].to_numpy() + rng.integers(-3, 4, records), 1, 99)
    place = _first_seen(drawn["native-country"]) * 1543 + _first_seen(drawn["occupation"]) * 271
    noise = rng.normal(0, 900, records).astype(np.int64)
    zips = np.clip(place % 90000 + 10000 + noise, 10000, 99999)
    for name, values in (("age", age), ("hours-per-week", hours)):
        drawn = drawn.set_column(drawn.column_names.index(name), name, pa.array(values))
    return drawn.append_column("zip", pa.array(zips))


def _first_seen(column: pa.ChunkedArray) -> np.ndarray:
    """Return each value's number in order of first appearance."""
    codes = pc.dictionary_encode(column.combine_chunks()).indices
    return codes.to_numpy().astype(np.int64)


def big_batches(records: int, seed: int = 7, step: int = 1 << 20) -> Iterator[pa.Table]:
    """Yield `adult_like` tables of 20 columns, together of this many records, one seed each."""
    for part, begin in enumerate(range(0, records, step)):
        size = min(step, records - begin)
        rng = np.random.default_rng([seed, part])
        table = adult_like(size, seed=seed * 1000 + part)
        wards = pa.array([f"ward {name}" for name in "ABCDEFGHIJKLMNOP"])
        days = rng.integers(18_000, 20_000, size).astype(np.int32)
        cost = pa.array(rng.lognormal(6, 1, size).round(2), mask=rng.random(size) < 0.05)
        table = table.append_column("admitted", pa.array(days).cast(pa.date32()))
        table = table.append_column("ward", wards.take(pa.array(rng.integers(0, len(wards), size))))
        table = table.append_column("cost", cost)
        yield table.append_column("visit", pa.array(rng.integers(0, 1 << 40, size)))


def big_file(path: Path, records: int, seed: int = 7) -> Path:
    """Write `big_batches` as Parquet or CSV, unless a file of this name is there already."""
    if path.exists():
        return path
    draft = path.with_name(f".{path.name}")
    writer: Any = None
    for table in big_batches(records, seed):
        if writer is None:
            kind = csv.CSVWriter if path.suffix == ".csv" else pq.ParquetWriter
            writer = kind(draft, table.schema)
        writer.write_table(table)
    writer.close()
    return draft.replace(path)


CENSUS_NUMBERS = {"AGEP": 95, "PINCP": 990, "WAGP": 600, "WKHP": 99, "JWMNP": 140}
CENSUS_CODES = {"PUMA": 2300, "POWPUMA": 900, "MIGPUMA": 900, "OCCP": 530, "INDP": 270, "POBP": 220}
CENSUS_CODES |= {"ANC1P": 300, "FOD1P": 170}
CENSUS_ANSWERS = {"SEX": 2, "MAR": 5, "SCHL": 24, "COW": 9, "CIT": 5, "RAC1P": 9, "HISP": 24, "MIL": 4}
CENSUS_ANSWERS |= {"ESR": 6, "NATIVITY": 2, "DIS": 2, "LANX": 2, "ENG": 4, "MIG": 3, "RELP": 17, "JWTR": 12}
CENSUS_ANSWERS |= {"VPS": 14}
_TRAITS = 6  # hidden, that the columns of a census depend on


def census_like(records: int, seed: int = 7) -> pa.Table:
    """Return records of 30 columns with the names and numbers of values of the American Community Survey.

    Nobody's answers: each column mixes two of six hidden traits of a person with noise, and its values are as
    unevenly filled as those of a census (the i-th most frequent falls off as 1 / i).
    """
    rng = np.random.default_rng(seed)
    traits = rng.normal(size=(_TRAITS, records))
    made: dict[str, Any] = {}
    for name, size in (CENSUS_NUMBERS | CENSUS_CODES | CENSUS_ANSWERS).items():
        first, second = rng.choice(_TRAITS, 2, replace=False)
        noise = rng.normal(size=records)
        rank = np.argsort(np.argsort(2 * traits[first] + traits[second] + noise)) / records
        shares = np.ones(size) if name in CENSUS_NUMBERS else 1 / np.arange(1, size + 1)
        codes = np.searchsorted(np.cumsum(shares / shares.sum()), rank).clip(0, size - 1)
        made[name] = codes
        if name not in CENSUS_NUMBERS:
            names = [f"{4 * code:04d}" if name in CENSUS_CODES else str(code) for code in range(size)]
            made[name] = np.array(names)[codes]
    return pa.table(made)
