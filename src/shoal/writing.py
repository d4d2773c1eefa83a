"""Putting a verified file in its place: all of it or nothing."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .errors import ParameterError, VerificationFailed, WriteError
from .evidence import Evidence
from .verification import verify_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .io.databases import Address
    from .policy import Policy


def write_verified(
    table: pa.Table,
    path: str | os.PathLike[str],
    policy: Policy,
    manifest: dict[str, Any] | None,
    classes: NDArray[np.integer[Any]] | None = None,
) -> Evidence:
    """Write a table so that its target holds the old file or the new one, verified, at every moment.

    The table goes to a temporary file in the target's folder, is read back, verified and counted there, and
    renamed. The manifest follows in the same way and names the SHA-256 of the file, so that a manifest that
    does not belong to its file can be told.

    Parameters
    ----------
    table : pyarrow.Table
        The published table.
    path : path, "-" for CSV on standard output, or address of a table in a database
        Standard output gets no manifest.
    policy : Policy
        What the file must keep.
    manifest : dict, optional
        Written beside the file; the file's hash and size are added.
    classes : int[n], optional
        The class of every row, for tables with noise (`verify_table`).

    Returns
    -------
    Evidence
        Of the file as it was read back.
    """
    if os.fspath(path) == "-":
        return _write_to_standard_output(table, policy, classes)
    from .io import databases, format_of

    address = databases.target(path, replace=True)
    if address is not None:
        return _write_to_database(table, address, policy, manifest, classes)
    format_of(path)  # refuses a name that says no format before anything is written
    target = Path(path)
    with reporting(target), _temporary(target) as draft:
        evidence = _write_and_verify(table, draft, policy, classes)
        install(draft, target, manifest)
    return evidence


def install(draft: Path, target: Path, manifest: dict[str, Any] | None) -> None:
    """Put a verified file in its place, and its manifest, with the file's hash and size, beside it."""
    described = None if manifest is None else {**manifest, "file": _describe(draft, target.name)}
    draft.chmod(_mode_for(target))
    os.replace(draft, target)
    _sync_folder(target.parent)
    if described is not None:
        write_json(described, manifest_path(target))


def manifest_path(path: str | os.PathLike[str]) -> Path:
    """Return where the manifest of a file stands.

    Examples
    --------
    >>> manifest_path("out.parquet").name
    'out.parquet.manifest.json'
    """
    target = Path(path)
    return target.with_name(f"{target.name}.manifest.json")


def write_json(content: dict[str, Any], target: Path) -> None:
    """Write a JSON file so that it is the old one or the new one at every moment."""
    with reporting(target), _temporary(target) as draft:
        draft.write_text(json.dumps(content, indent=2, allow_nan=False) + "\n", encoding="utf-8")
        sync(draft)
        os.replace(draft, target)
        _sync_folder(target.parent)


def _write_to_standard_output(
    table: pa.Table, policy: Policy, classes: NDArray[np.integer[Any]] | None
) -> Evidence:
    with tempfile.TemporaryDirectory() as folder:
        draft = Path(folder) / "published.csv"
        with reporting(draft):
            evidence = _write_and_verify(table, draft, policy, classes)
        with draft.open("rb") as source:
            shutil.copyfileobj(source, sys.stdout.buffer)
        sys.stdout.buffer.flush()
    return evidence


def _write_to_database(
    table: pa.Table,
    address: Address,
    policy: Policy,
    manifest: dict[str, Any] | None,
    classes: NDArray[np.integer[Any]] | None,
) -> Evidence:
    """Write a table, and its manifest as a table of one cell beside it, in one verified transaction."""
    from .io import databases

    evidence: list[Evidence] = []
    tables = {address.table: databases.storable(table)}
    if manifest is not None:
        described = {**manifest, "table": {"name": address.qualified, "records": table.num_rows}}
        text = json.dumps(described, allow_nan=False)
        tables[databases.manifest_table(address.table)] = pa.table({"manifest": [text]})
    databases.put(address, tables, lambda found: evidence.append(_verified(found, table, policy, classes)))
    return evidence[0]


def _write_and_verify(
    table: pa.Table, draft: Path, policy: Policy, classes: NDArray[np.integer[Any]] | None
) -> Evidence:
    """Write a table, make sure it is on the disk, and return the evidence of what is read back."""
    from .io import read, write

    write(table, draft)
    sync(draft)
    return _verified(read(draft, delimiter=","), table, policy, classes)


def _verified(
    found: pa.Table, table: pa.Table, policy: Policy, classes: NDArray[np.integer[Any]] | None
) -> Evidence:
    """Return the evidence of what was read back of a written table, or raise."""
    if found.num_rows != table.num_rows or found.column_names != table.column_names:
        raise VerificationFailed(
            f"{table.num_rows} records in {table.num_columns} columns were written, and {found.num_rows} in "
            f"{found.num_columns} read back",
            hint="Write a .parquet file instead.",
        )
    # The classes belong to the rows by position, so with noise every row must have stayed where it was.
    for column in policy.schema.quasi:
        if column.form.noisy and not _same_cells(found.column(column.name), table.column(column.name)):
            raise VerificationFailed(
                f"column {column.name!r} was not read back as it was written",
                hint="Write a .parquet file instead.",
            )
    evidence = verify_table(found, policy, classes)
    evidence.require()
    return evidence


def _same_cells(found: pa.ChunkedArray, written: pa.ChunkedArray) -> bool:
    """Return whether a column was read back cell by cell; a column of nulls may have lost its type."""
    if found.null_count == len(found) == written.null_count:
        return True
    try:
        return bool(found.cast(written.type).equals(written))
    except pa.ArrowInvalid:
        return False


@contextlib.contextmanager
def _temporary(target: Path) -> Iterator[Path]:
    """Give a new file beside the target, with the same endings, that is gone afterwards unless renamed."""
    endings = "".join(target.suffixes[-2:])
    handle, name = tempfile.mkstemp(
        prefix=f".{target.name.removesuffix(endings)}.", suffix=endings, dir=target.parent
    )
    os.close(handle)
    draft = Path(name)
    try:
        draft.chmod(_mode_for(target))
        yield draft
    finally:
        draft.unlink(missing_ok=True)


def _mode_for(target: Path) -> int:
    """Return the permissions of the file that is replaced, or those of any new file."""
    with contextlib.suppress(FileNotFoundError):
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


@contextlib.contextmanager
def reporting(target: Path) -> Iterator[None]:
    """Turn what the system says into a `WriteError`."""
    reason = ""
    try:
        yield
        return
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the file cannot be written"
    raise WriteError(
        f"cannot write {target.name!r}: {reason}",
        hint="What stood there before is untouched; check the folder.",
    )


def sync(path: Path) -> None:
    """Wait until a file is on the disk."""
    with path.open("rb") as stream:
        os.fsync(stream.fileno())


def _sync_folder(folder: Path) -> None:
    """Make a rename last through a power cut, where the system lets a folder be synced."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return
    try:
        with contextlib.suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)


def _describe(path: Path, name: str) -> dict[str, Any]:
    with path.open("rb") as stream:
        digest = hashlib.file_digest(stream, "sha256")
    return {"name": name, "sha256": digest.hexdigest(), "bytes": path.stat().st_size}


def row_order(table: pa.Table, order: str) -> NDArray[np.int64] | None:
    """Return the row numbers in which a table is to be written, None for as it is."""
    if order not in ("shuffle", "sort", "keep"):
        raise ParameterError("'order' of write must be one of 'shuffle', 'sort', 'keep'")
    if order == "keep":
        return None
    return _fresh_permutation(table.num_rows) if order == "shuffle" else _sorted_order(table)


def _fresh_permutation(n: int) -> NDArray[np.int64]:
    return np.random.default_rng(secrets.randbits(256)).permutation(n)


def _sorted_order(table: pa.Table) -> NDArray[np.int64]:
    """Return the row numbers of a table in the order of its cells, first column first, nulls last."""
    columns = {str(j): _sortable(column) for j, column in enumerate(table.columns)}
    keys = [(name, "ascending") for name in columns]
    found: NDArray[np.int64] = pc.sort_indices(pa.table(columns), sort_keys=keys).to_numpy().astype(np.int64)
    return found


def _sortable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as values that have an order: categories as what they stand for, lists as texts."""
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    if pa.types.is_nested(column.type):
        return pa.chunked_array([list(map(repr, column.to_pylist()))], pa.string())
    return column
