"""Files: what is read is what was written, and every refusal names the line and no cell."""

from __future__ import annotations

import datetime as dt
import gzip
import io
import math
import sys
import time
import traceback
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

import shoal.io as sio
from shoal.errors import DataError, ParameterError, ShoalError, WriteError
from shoal.io import csv_blocks
from shoal.io.blocks import open_blocks

SECRET = "Xyzzy77"
UTC = dt.UTC


def put(folder: Path, content: str | bytes, name: str = "table.csv") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def refusal(path: Path, **options: object) -> str:
    """Return the message of the refusal, after looking for the secret in all that travels with it."""
    with pytest.raises(DataError) as caught:
        sio.read(path, **options)  # type: ignore[arg-type]
    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in "".join(traceback.format_exception_only(error))
        error = error.__cause__ or error.__context__
    message = str(caught.value)
    assert "\n" not in message
    return message


# --- types of CSV columns ---


@pytest.mark.parametrize(
    ("fields", "kind", "values"),
    [
        (["1", "-2", "0", ""], pa.int64(), [1, -2, 0, None]),
        (["01234", "99999"], pa.string(), ["01234", "99999"]),
        (["-01", "5"], pa.string(), ["-01", "5"]),
        (["+46", "47"], pa.string(), ["+46", "47"]),
        (["0x1F", "3"], pa.string(), ["0x1F", "3"]),
        (["00.5", "1.5"], pa.string(), ["00.5", "1.5"]),
        (["0.5", "-0.5", ".5", "1e3"], pa.float64(), [0.5, -0.5, 0.5, 1000.0]),
        (["1.5", "NaN", "2"], pa.float64(), [1.5, None, 2.0]),
        (["nan", "inf"], pa.string(), ["nan", "inf"]),
        (["12345678901234567890", "1"], pa.string(), ["12345678901234567890", "1"]),
        (["9007199254740993", "1.5"], pa.string(), ["9007199254740993", "1.5"]),
        (["9007199254740993", "1"], pa.int64(), [9007199254740993, 1]),
        (["true", "False", ""], pa.bool_(), [True, False, None]),
        (["true", "1"], pa.string(), ["true", "1"]),
        (["2024-02-29", ""], pa.date32(), [dt.date(2024, 2, 29), None]),
        (["2024-02-30", "2024-01-01"], pa.string(), ["2024-02-30", "2024-01-01"]),
        (["2024-02-29T10:00:00"], pa.timestamp("us"), [dt.datetime(2024, 2, 29, 10)]),
        (
            ["2024-02-29 12:00:00+02:00"],
            pa.timestamp("us", "UTC"),
            [dt.datetime(2024, 2, 29, 10, tzinfo=UTC)],
        ),
        (["20240229"], pa.int64(), [20240229]),
        (["NA", "1"], pa.string(), ["NA", "1"]),
        (["", ""], pa.string(), [None, None]),
        (['""', "a"], pa.string(), ["", "a"]),
        (['""', '"5"'], pa.int64(), [None, 5]),
        (['""', ""], pa.string(), ["", None]),
        ([" 5", "6"], pa.string(), [" 5", "6"]),
        (["1,5", "2", '""'], pa.float64(), [1.5, 2.0, None]),
        (["-1.234,50", "17"], pa.float64(), [-1234.5, 17.0]),
        (["1,234", "17"], pa.string(), ["1,234", "17"]),  # a thousand and more, or one and a bit
        (["1,5", "01,5"], pa.string(), ["1,5", "01,5"]),
        (["1,5", "2,3,4"], pa.string(), ["1,5", "2,3,4"]),
        (["1.5", "2,5"], pa.string(), ["1.5", "2,5"]),
        (["1.2.2024", "29.02.2024"], pa.date32(), [dt.date(2024, 2, 1), dt.date(2024, 2, 29)]),
        (["29.02.2023", "01.02.2024"], pa.string(), ["29.02.2023", "01.02.2024"]),
        (["03/04/2024", "04/12/2024"], pa.string(), ["03/04/2024", "04/12/2024"]),
        (["03/04/2024", "04/13/2024"], pa.date32(), [dt.date(2024, 3, 4), dt.date(2024, 4, 13)]),
        (["03-04-2024", "13-04-2024"], pa.date32(), [dt.date(2024, 4, 3), dt.date(2024, 4, 13)]),
        (["03/14/2024", "14/03/2024"], pa.string(), ["03/14/2024", "14/03/2024"]),
        (["2024/2/9"], pa.date32(), [dt.date(2024, 2, 9)]),
        (["1.2.2024 10:05"], pa.timestamp("us"), [dt.datetime(2024, 2, 1, 10, 5)]),
        (["1.2.24"], pa.string(), ["1.2.24"]),
    ],
)
def test_a_column_is_typed_only_when_nothing_is_lost(
    tmp_path: Path, fields: list[str], kind: pa.DataType, values: list[object]
) -> None:
    path = put(tmp_path, "n;x\n" + "".join(f"1;{field}\n" for field in fields))
    column = sio.read(path)["x"]
    assert column.type == kind
    assert column.to_pylist() == values
    blocks = open_blocks(path)
    assert blocks.schema.field("x").type == kind
    streamed = pa.concat_tables(blocks.read(["x"]))["x"].cast(kind).to_pylist()
    assert streamed == values


def test_a_comma_between_fields_is_no_decimal_comma(tmp_path: Path) -> None:
    path = put(tmp_path, 'n,x\n1,"1,5"\n1,"2,5"\n')
    assert sio.read(path)["x"].to_pylist() == ["1,5", "2,5"]
    assert open_blocks(path).schema.field("x").type == pa.string()


def test_blocks_settle_a_spelling_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csv_blocks, "_BLOCK", 64)
    days = [f"{day:02}/03/2024" for day in [*range(1, 13)] * 3 + [20]]
    numbers = ["1,234"] * 30 + ["2", "5,5"]
    path = put(tmp_path, "day;x\n" + "".join(f"{d};{x}\n" for d, x in zip(days, numbers, strict=False)))
    blocks = open_blocks(path)
    parts = list(blocks.read(["day", "x"]))
    assert len(parts) > 3
    assert blocks.schema.types == sio.read(path).schema.types
    assert pa.concat_tables(parts).cast(blocks.schema) == sio.read(path)


def test_a_type_is_not_decided_by_the_first_records(tmp_path: Path) -> None:
    path = put(tmp_path, "a,b\n" + "1,1\n" * 300_000 + "1,01\n")
    table = sio.read(path)
    assert table.schema.types == [pa.int64(), pa.string()]
    assert table["b"][-1].as_py() == "01"


def test_null_spellings(tmp_path: Path) -> None:
    path = put(tmp_path, 'a,b\nNA,1\n"NA",2\n-,NA\n')
    table = sio.read(path, nulls=("", "NA", "-"))
    assert table.to_pydict() == {"a": [None, "NA", None], "b": [1, 2, None]}


# --- layout ---


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("a,b\n1,x y\n", "t.csv"),
        ("a;b\n1;x y\n", "t.csv"),
        ("a\tb\n1\tx y\n", "t.csv"),
        ("a\tb\n1\tx y\n", "t.tsv"),
        ("a|b\n1|x y\n", "t.txt"),
        ("\ufeffa,b\n1,x y\n", "t.csv"),
        ("a,b\r\n1,x y\r\n", "t.csv"),
        ("a,b\r1,x y\r", "t.csv"),
        ("\n\na,b\n1,x y", "t.csv"),
        ("a,b\n\n1,x y\n\n", "t.csv"),
        ('"a","b"\n"1","x y"\n', "t.csv"),
        ("a,b\n1,x y\n", "no_extension"),
        (gzip.compress(b"a,b\n1,x y\n", mtime=0), "t.csv.gz"),
        (gzip.compress(b"a,b\n1,x y\n", mtime=0), "t.csv"),
    ],
)
def test_layouts(tmp_path: Path, content: str | bytes, name: str) -> None:
    assert sio.read(put(tmp_path, content, name)).to_pydict() == {"a": [1], "b": ["x y"]}


def test_decimal_commas_do_not_fool_the_delimiter(tmp_path: Path) -> None:
    assert sio.read(put(tmp_path, "x;y\n1,5;2,5\n3,5;4,5\n")).column_names == ["x", "y"]


def test_the_delimiter_can_be_given(tmp_path: Path) -> None:
    table = sio.read(put(tmp_path, "a^b\n1^2\n"), delimiter="^")
    assert table.to_pydict() == {"a": [1], "b": [2]}
    with pytest.raises(ParameterError, match="single character"):
        sio.read(put(tmp_path, "a,b\n1,2\n"), delimiter=",,")


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16", "cp1252", "utf-8-sig"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    path = put(tmp_path, "näme,n\nJosé,1\n".encode(encoding))
    assert sio.read(path, encoding=encoding).to_pydict() == {"näme": ["José"], "n": [1]}


def test_an_unknown_encoding_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ParameterError, match="encoding"):
        sio.read(put(tmp_path, "a\n1\n"), encoding="utf-9")


def test_one_column_keeps_its_nulls(tmp_path: Path) -> None:
    assert sio.read(put(tmp_path, "a\n1\n\n3\n"))["a"].to_pylist() == [1, None, 3]
    assert sio.read(put(tmp_path, "\na\n1\n\n3\n"))["a"].to_pylist() == [1, None, 3]


def test_records_of_nothing_but_nulls_count(tmp_path: Path) -> None:
    assert sio.read(put(tmp_path, "a\tb\n\t\n\t\n")).to_pydict() == {"a": [None, None], "b": [None, None]}


@pytest.mark.parametrize("content", ["a,b\n", "a,b", "a,b\r\n\r\n", '"a","b"'])
def test_a_header_alone_is_a_table_without_records(tmp_path: Path, content: str) -> None:
    table = sio.read(put(tmp_path, content))
    assert (table.column_names, table.num_rows) == (["a", "b"], 0)


def test_a_field_longer_than_a_block(tmp_path: Path) -> None:
    long = "x" * 9_000_000
    assert sio.read(put(tmp_path, f"a,b\n1,{long}\n2,y\n"))["b"].to_pylist() == [long, "y"]


# --- refusals ---


def test_missing_and_misnamed(tmp_path: Path) -> None:
    assert "there is no file" in refusal(tmp_path / "none.csv")
    assert "is a directory" in refusal(tmp_path)
    assert "is empty" in refusal(put(tmp_path, ""))
    assert "is empty" in refusal(put(tmp_path, "\n\n"))


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (f"a,b\n1,2\n3,{SECRET},5\n", 3),
        (f'a,b\n"x\ny",2\n{SECRET}\n', 4),
        (f"a,b\n\n1,2\n\n{SECRET},1,2,3\n", 5),
        (f'a,b\r\n"x\r\n\r\ny",2\r\n{SECRET},2,3\r\n', 5),
        (f'a,b\n1,"{SECRET}\n2,3\n4,5\n', 2),
    ],
)
def test_ragged_records_are_refused_with_their_line(tmp_path: Path, content: str, line: int) -> None:
    assert f"line {line}:" in refusal(put(tmp_path, content))
    assert f"line {line}:" in refusal(put(tmp_path, gzip.compress(content.encode()), "t.csv.gz"))


def test_a_ragged_record_far_down(tmp_path: Path) -> None:
    path = put(tmp_path, "a,b\n" + "1,2\n" * 400_000 + f"{SECRET},2,3\n" + "1,2\n" * 100_000)
    assert "line 400002: 3 fields where the header has 2" in refusal(path)


def test_duplicate_names_are_named(tmp_path: Path) -> None:
    message = refusal(put(tmp_path, "a,b,a,c,b\n1,2,3,4,5\n"))
    assert "'a', 'b'" in message
    assert "'c'" not in message
    pq.write_table(pa.table([[1], [2]], names=["a", "a"]), tmp_path / "t.parquet")
    assert "'a'" in refusal(tmp_path / "t.parquet")


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (f"a,b\n1,{SECRET}\xe9\n", 2),
        ("a,b\n" + "1,2\n" * 300_000 + f"1,{SECRET}\xe9\n", 300_002),
        (f"\xe9{SECRET},b\n1,2\n", 1),
        (f'a,b\n1,"{SECRET}\xe9\n', 2),
    ],
)
def test_other_encodings_are_refused_with_the_line(tmp_path: Path, content: str, line: int) -> None:
    message = refusal(put(tmp_path, content.encode("latin-1")))
    assert f"line {line} " in message
    assert "--encoding latin-1" in message


def test_utf16_is_recognised(tmp_path: Path) -> None:
    assert "--encoding utf-16" in refusal(put(tmp_path, f"a,b\n{SECRET},2\n".encode("utf-16")))
    content = f"a,b\n{SECRET},2\n".encode("utf-16")[:-1]
    assert "utf-16" in refusal(put(tmp_path, content), encoding="utf-16")


@pytest.mark.parametrize("start", [b"PK\x03\x04\0\0", b"PAR1\x15\x04", b"\x7fELF\0"])
def test_binary_files_are_refused(tmp_path: Path, start: bytes) -> None:
    assert "binary" in refusal(put(tmp_path, start + SECRET.encode()))


def test_truncated_files_are_refused(tmp_path: Path) -> None:
    table = pa.table({"a": [SECRET] * 1000, "b": list(range(1000))})
    for name in ("t.parquet", "t.feather", "t.csv.gz"):
        sio.write(table, tmp_path / name)
        content = (tmp_path / name).read_bytes()
        for length in (6, len(content) // 2, len(content) - 3):
            (tmp_path / name).write_bytes(content[:length])
            message = refusal(tmp_path / name)
            assert "damaged" in message, (name, length)


def test_a_csv_called_parquet_is_refused(tmp_path: Path) -> None:
    assert "Parquet" in refusal(put(tmp_path, f"a,b\n{SECRET},2\n", "t.parquet"))


def test_values_that_do_not_fit_a_schema_are_not_quoted(tmp_path: Path) -> None:
    path = put(tmp_path, f"a,b\n{SECRET},2\n")
    assert "'a'" in refusal(path, schema=pa.schema({"a": pa.int64()}))


# --- formats ---


def test_format_of() -> None:
    names = ["a.csv", "a.TSV", "a.txt.gz", "a.parquet", "a.pq", "a.arrow", "a.feather", "a.ipc"]
    found = [sio.format_of(Path("d.x") / name) for name in names]
    assert found == ["csv", "csv", "csv", "parquet", "parquet", "arrow", "arrow", "arrow"]
    for name in ("a.json", "a", "a.parquet.gz", "a.gz"):
        with pytest.raises(ParameterError, match=r"\.csv"):
            sio.format_of(name)
    with pytest.raises(ParameterError, match="format"):
        sio.read("a.csv", format="json")


@pytest.mark.parametrize("name", ["t.parquet", "t.feather", "t.arrow", "t.csv", "t.csv.gz", "t.tsv"])
def test_every_format_returns_what_was_written(tmp_path: Path, name: str) -> None:
    table = pa.table(
        {
            "text": [
                "a",
                None,
                "",
                'say "hi"',
                "x,y\tz;|",
                "line\nbreak",
                "ü🐟",
                "*",
                "[1, 2]",
                "\r",
                " pad ",
            ],
            "int": [1, None, -3, 0, 5, 6, 7, 8, 9, 10, 2**63 - 1],
            "float": [0.1, None, 3.0, -1e300, 5e-324, 6.5, 7.0, 8.0, 9.0, 10.0, 1 / 3],
            "date": [dt.date(2024, 2, 29)] + [None] * 10,
            "time": [dt.datetime(2024, 2, 29, 1, 2, 3, 456)] + [None] * 10,
            "zoned": pa.array(
                [dt.datetime(2024, 2, 29, tzinfo=UTC)] + [None] * 10, pa.timestamp("us", "UTC")
            ),
            "flag": [True, False, None] * 3 + [True, True],
        }
    )
    sio.write(table, tmp_path / name, delimiter="\t" if "tsv" in name else ",")
    assert sio.read(tmp_path / name).equals(table)


def test_categories_and_decimals_become_csv(tmp_path: Path) -> None:
    from decimal import Decimal

    table = pa.table(
        {"c": pa.array(["b", None, "a"]).dictionary_encode(), "d": [Decimal("1.50"), None, None]}
    )
    sio.write(table, tmp_path / "t.csv")
    assert (tmp_path / "t.csv").read_text() == "c,d\nb,1.50\n,\na,\n"


def test_a_schema_brings_back_types_that_csv_does_not_say(tmp_path: Path) -> None:
    from decimal import Decimal

    table = pa.table(
        {
            "decimal": [Decimal("1.50"), None],
            "nothing": pa.nulls(2),
            "time": [dt.time(1, 2, 3, 4), None],
            "seconds": pa.array([dt.time(1, 2, 3), None], pa.time32("s")),
            "small": pa.array([7, None], pa.uint8()),
            "zoned": pa.array([dt.datetime(2024, 1, 1), None], pa.timestamp("ns", "Europe/Stockholm")),
            "digits": ["1.0", "1"],
        }
    )
    sio.write(table, tmp_path / "t.csv")
    assert sio.read(tmp_path / "t.csv", schema=table.schema).equals(table)


def test_nested_columns_need_parquet(tmp_path: Path) -> None:
    table = pa.table({"l": [[1], [2, 3]]})
    with pytest.raises(DataError, match="'l'"):
        sio.write(table, tmp_path / "t.csv")
    sio.write(table, tmp_path / "t.parquet")
    assert sio.read(tmp_path / "t.parquet").equals(table)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.arrow"])
def test_unwritable_targets(tmp_path: Path, name: str) -> None:
    with pytest.raises(WriteError, match="No such file"):
        sio.write(pa.table({"a": [SECRET]}), tmp_path / "missing" / name)


def test_a_table_survives_its_file_being_written_over(tmp_path: Path) -> None:
    path = tmp_path / "t.arrow"
    sio.write(pa.table({"a": list(range(100_000))}), path)
    table = sio.read(path)
    sio.write(pa.table({"a": [1]}), path)
    assert table["a"].to_pylist()[-1] == 99_999


# --- standard input and output ---


@pytest.mark.parametrize("format", ["csv", "parquet", "arrow"])
def test_standard_streams(monkeypatch: pytest.MonkeyPatch, format: str) -> None:
    table = pa.table({"a": [1, None], "b": ["x", "y,z"]})
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", SimpleNamespace(buffer=out))
    sio.write(table, "-", format=format)
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(out.getvalue())))
    assert sio.read("-").equals(table)


def test_messages_call_standard_input_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"a,b\n1,2,3\n")))
    with pytest.raises(DataError, match="standard input, line 2"):
        sio.read("-")


def test_an_arrow_stream_is_recognised(tmp_path: Path) -> None:
    table = pa.table({"a": [1, 2]})
    with pa.OSFile(str(tmp_path / "t.arrow"), "wb") as sink, pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    assert sio.read(tmp_path / "t.arrow").equals(table)


# --- properties ---

texts = st.text(alphabet=st.sampled_from('ab,;"\n\r\t |*é🐟01.+-'), max_size=6)
numbers = st.floats(allow_nan=False, allow_infinity=False)
COLUMNS: dict[str, tuple[pa.DataType, st.SearchStrategy[object]]] = {
    "text": (pa.string(), texts),
    "int": (pa.int64(), st.integers(-(2**63), 2**63 - 1)),
    "float": (pa.float64(), numbers),
    "date": (pa.date32(), st.dates()),
    "time": (pa.timestamp("us"), st.datetimes(dt.datetime(1900, 1, 1), dt.datetime(2200, 1, 1))),
    "flag": (pa.bool_(), st.booleans()),
}


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    records = draw(st.integers(1, 6))
    kinds = draw(st.lists(st.sampled_from(sorted(COLUMNS)), min_size=1, max_size=4))
    columns = {}
    for j, kind in enumerate(kinds):
        arrow, values = COLUMNS[kind]
        drawn = draw(st.lists(st.none() | values, min_size=records, max_size=records))
        columns[f"{draw(st.sampled_from(['c', 'a,b', 'ü']))}{j}"] = pa.array(drawn, arrow)
    return pa.table(columns)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(), st.sampled_from(",;\t|"))
def test_csv_returns_every_table_with_its_schema(tmp_path: Path, table: pa.Table, delimiter: str) -> None:
    path = tmp_path / "t.csv"
    sio.write(table, path, delimiter=delimiter)
    assert sio.read(path, delimiter=delimiter, schema=table.schema).equals(table)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(), st.sampled_from(",;\t|"))
def test_csv_returns_the_types_by_itself(tmp_path: Path, table: pa.Table, delimiter: str) -> None:
    for column in table.columns:
        values = column.drop_null().to_pylist()
        assume(values)  # a column of nulls has no type of its own
        if column.type == pa.string():
            assume(
                any("a" in value for value in values)
            )  # texts that could be something else are read as that
    path = tmp_path / "t.csv"
    sio.write(table, path, delimiter=delimiter)
    assert sio.read(path, delimiter=delimiter).equals(table)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=200) | st.text(alphabet='a,"\n1é', max_size=60).map(str.encode))
def test_any_bytes_are_read_or_refused(tmp_path: Path, content: bytes) -> None:
    try:
        table = sio.read(put(tmp_path, content))
    except ShoalError:
        return
    assert len(set(table.column_names)) == table.num_columns > 0


def test_a_million_fields_take_no_python_loop(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    records = 150_000
    table = pa.table(
        {
            "i": rng.integers(0, 100, records),
            "f": rng.normal(size=records).round(3),
            "t": rng.choice(["red", "green, dark", 'b"lue'], records),
            **{f"n{j}": rng.integers(0, 10**6, records) for j in range(6)},
        }
    )
    begin = time.process_time()
    sio.write(table, tmp_path / "t.csv")
    assert sio.read(tmp_path / "t.csv").equals(table)
    assert time.process_time() - begin < 10  # 1.35 million fields; a loop over them takes longer
    assert math.isfinite(table["f"][0].as_py())


def test_nul_characters_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    with pytest.raises(DataError, match="NUL characters in 2 cells of column 'a'") as caught:
        sio.write(pa.table({"a": ["x", f"{SECRET}\0", "\0"]}), target)
    assert SECRET not in str(caught.value)
    assert not target.exists()
    sio.write(pa.table({"a": ["x\0y"]}), tmp_path / "out.parquet")
