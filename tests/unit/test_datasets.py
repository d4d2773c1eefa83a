"""Data sets: found by name, checked, and cleaned from the publishers' files exactly as they were."""

from __future__ import annotations

import csv
import hashlib
import io
import os
import tarfile
import zipfile
from pathlib import Path

import pytest

from shoal import datasets
from shoal.dataset_sources import HIERARCHIES, SOURCES, Raw
from shoal.errors import DataError, UnknownName

DATA = Path(os.environ["SHOAL_DATA"])
UNREACHABLE = {"pima", "census-casc", "tarragona", "eia", "twitter-ego12831", "twitter-ego12831-binary"}


def rows(name: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO((DATA / SOURCES[name].file).read_text("utf-8"))))


def adult(name: str, first: str = "", stop: str = "") -> str:
    """The raw file, rebuilt from the cleaned one: the checksums below prove it is the publisher's."""
    records = rows(name)[1:]
    return first + "".join(", ".join(cell or "?" for cell in row) + stop + "\n" for row in records) + "\n"


def heart(records: list[list[str]]) -> str:
    def spelled(cell: str, j: int) -> str:
        return cell + ".0" if cell and "." not in cell and j < 13 else cell or "?"

    return "".join(",".join(spelled(cell, j) for j, cell in enumerate(row)) + "\n" for row in records)


def semicolons(name: str, numbers: set[str], quoted_header: bool) -> str:
    header, *records = rows(name)
    lines = [";".join(f'"{column}"' if quoted_header else column for column in header)]
    for row in records:
        pairs = zip(header, row, strict=True)
        lines.append(";".join(cell if column in numbers else f'"{cell}"' for column, cell in pairs))
    return "\n".join(lines) + "\n"


def breast() -> str:
    codes = {"benign": "2", "malignant": "4"}
    records = rows("breast-cancer-wisconsin")[1:]
    return "".join(",".join([*(c or "?" for c in row[:-1]), codes[row[-1]]]) + "\n" for row in records)


def wdbc() -> str:
    return "".join(",".join([row[0], row[-1], *row[1:-1]]) + "\n" for row in rows("wdbc")[1:])


BANK = {"age", "balance", "day", "duration", "campaign", "pdays", "previous"}
STUDENT = set(
    "age Medu Fedu traveltime studytime failures famrel freetime goout Dalc Walc health absences G3".split()  # noqa: SIM905
)


def rebuilt(name: str) -> bytes:
    """Return the publisher's raw file of a set."""
    text = {
        "adult": lambda: adult("adult"),
        "adult-test": lambda: adult("adult-test", "|1x3 Cross validator\n", "."),
        "bank-full": lambda: semicolons("bank-full", BANK, True),
        "bank": lambda: semicolons("bank", BANK, True),
        "heart-cleveland": lambda: heart(rows("heart-cleveland")[1:]),
        "student-mat": lambda: semicolons("student-mat", STUDENT, False),
        "student-por": lambda: semicolons("student-por", STUDENT, False),
        "breast-cancer-wisconsin": breast,
        "wdbc": wdbc,
    }[name]()
    return text.encode()


def archived(url: str, members: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    if url.endswith(".zip"):
        with zipfile.ZipFile(content, "w") as archive:
            for name, data in members.items():
                archive.writestr(name, data)
    else:
        with tarfile.open(fileobj=content, mode="w:gz") as tar:
            for name, data in members.items():
                info = tarfile.TarInfo(name)
                info.size = len(data)
                tar.addfile(info, io.BytesIO(data))
    return content.getvalue()


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """No data folder, an empty cache, and no network."""
    monkeypatch.delenv("SHOAL_DATA")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def refuse(raw: Raw) -> bytes:
        raise AssertionError("no download expected")

    monkeypatch.setattr(datasets, "_fetched", refuse)
    return tmp_path


@pytest.mark.real_data
@pytest.mark.parametrize("name", SOURCES)
def test_every_set_loads_from_the_folder(name: str) -> None:
    table = datasets.load(name)
    header, *records = rows(name)
    assert table.column_names == header
    assert table.num_rows == len(records)
    empty = sum(cell == "" for row in records for cell in row)
    assert sum(column.null_count for column in table.columns) == empty


@pytest.mark.real_data
@pytest.mark.parametrize(
    "name",
    [
        "adult",
        "adult-test",
        "bank-full",
        "bank",
        "heart-cleveland",
        "student-mat",
        "student-por",
        "breast-cancer-wisconsin",
        "wdbc",
    ],
)
def test_a_download_is_cleaned_checked_and_cached(
    name: str, nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = rebuilt(name)
    [raw] = SOURCES[name].raw
    expected = raw.members[0][1] if raw.members else raw.sha256
    assert hashlib.sha256(content).hexdigest() == expected, "the rebuilt file is not the publisher's"
    sent = archived(raw.url, {raw.members[0][0]: content}) if raw.members else content
    monkeypatch.setattr(datasets, "_fetched", lambda raw: sent)
    assert datasets.path(name).read_bytes() == (DATA / SOURCES[name].file).read_bytes()
    monkeypatch.setattr(datasets, "_fetched", lambda raw: b"")
    assert datasets.path(name).parent == nowhere / "shoal"


@pytest.mark.real_data
def test_the_four_clinics_are_merged(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    by_clinic: dict[str, list[list[str]]] = {}
    for row in rows("heart-920")[1:]:
        by_clinic.setdefault(row[0], []).append(row[1:])
    parts = [heart(records) for records in by_clinic.values()]
    clean = SOURCES["heart-920"].clean
    assert clean is not None
    assert clean(parts) == (DATA / "heart_disease_920.csv").read_text("utf-8")


@pytest.mark.real_data
@pytest.mark.parametrize("name", ["facebook-ego0", "facebook-ego0-binary"])
def test_ego_networks_become_tables(name: str, nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    header, *records = rows("facebook-ego0-binary")
    features = [column.rpartition("=f") for column in header[1:]]
    lines = [
        f"{j} {group.replace('.', ';')};anonymized feature {n}" for j, (group, _, n) in enumerate(features)
    ]
    members = {
        "facebook/0.feat": "".join(" ".join(row) + "\n" for row in records).encode(),
        "facebook/0.featnames": ("\n".join(lines) + "\n").encode(),
    }
    sent = archived("facebook.tar.gz", members)
    monkeypatch.setattr(datasets, "_fetched", lambda raw: sent)
    assert datasets.path(name).read_bytes() == (DATA / SOURCES[name].file).read_bytes()


@pytest.mark.real_data
def test_hierarchies_are_fetched_and_cleaned(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def sent(raw: Raw) -> bytes:
        column = raw.url.rpartition("hierarchy_")[2]
        content = (DATA / "hierarchies" / f"adult_{column}").read_bytes()
        content = content.removesuffix(b"\n") if "native-country" in column else content
        assert hashlib.sha256(content).hexdigest() == raw.sha256
        return content

    monkeypatch.setattr(datasets, "_fetched", sent)
    assert set(datasets.hierarchies("adult")) == set(HIERARCHIES["adult"])
    assert datasets.hierarchies("bank") == {}


@pytest.mark.real_data
def test_a_changed_download_is_refused(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "_fetched", lambda raw: rebuilt("wdbc") + b"1\n")
    with pytest.raises(DataError, match="is not the file that is known"):
        datasets.path("wdbc")
    assert not list(nowhere.rglob("wdbc*"))


def test_a_broken_archive_is_refused(nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets, "_fetched", lambda raw: b"not an archive")
    for name in ("bank", "facebook-ego0"):
        with pytest.raises(DataError, match="is not the file that is known"):
            datasets.path(name)


@pytest.mark.parametrize("name", sorted(UNREACHABLE))
def test_sets_without_an_address_say_which_file_to_provide(name: str, nowhere: Path) -> None:
    with pytest.raises(DataError) as caught:
        datasets.load(name)
    assert SOURCES[name].file in str(caught.value)
    assert SOURCES[name].sha256 in str(caught.value)
    assert "SHOAL_DATA" in str(caught.value)


def test_every_other_set_can_be_fetched() -> None:
    assert {name for name, source in SOURCES.items() if source.clean is None} == UNREACHABLE


@pytest.mark.real_data
def test_a_changed_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = (DATA / "bank.csv").read_bytes()
    (tmp_path / "bank.csv").write_bytes(content.replace(b"30,", b"31,", 1))
    monkeypatch.setenv("SHOAL_DATA", str(tmp_path))
    with pytest.raises(DataError, match="checksum differs"):
        datasets.load("bank")


def test_unknown_names_get_the_nearest() -> None:
    with pytest.raises(UnknownName, match="adult"):
        datasets.load("adlt")
    with pytest.raises(UnknownName, match="data set"):
        datasets.hierarchies("nothing")
