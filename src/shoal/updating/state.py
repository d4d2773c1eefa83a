"""What has been published so far: every class's cells, and what each release added to it.

A state holds nothing but what the releases show: cells of quasi-identifiers, sizes, and how often each
sensitive value was published. It is made from published tables, never from originals.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from ..errors import DataError
from ..hierarchies.texts import texts
from ..verification.groups import group_rows

if TYPE_CHECKING:
    import os

    from ..policy import Policy

_FORMAT = 1

Cells = tuple[str | None, ...]


@dataclass(frozen=True, slots=True)
class Added:
    """What one release added to one class.

    Attributes
    ----------
    release : int
        Counted from 1.
    records : int
    values : dict of sensitive column to dict of value (as text) to count
    """

    release: int
    records: int
    values: dict[str, dict[str | None, int]]


@dataclass(slots=True)
class State:
    """The releases so far, class by class.

    Attributes
    ----------
    columns : list of str
        Published names of the quasi-identifiers.
    sensitive : list of str
    releases : int
    classes : dict of cells to list of Added
    """

    columns: list[str]
    sensitive: list[str]
    releases: int = 0
    classes: dict[Cells, list[Added]] = field(default_factory=dict)

    @classmethod
    def of(cls, published: pa.Table, policy: Policy) -> State:
        """Return the state after a first release.

        Examples
        --------
        >>> import pyarrow as pa, shoal
        >>> policy = shoal.Policy(quasi=["age"], sensitive=["ill"], models=[shoal.KAnonymity(2)])
        >>> table = pa.table({"age": ["[20, 29]", "[20, 29]"], "ill": ["flu", "cold"]})
        >>> State.of(table, policy).sizes()
        {('[20, 29]',): 2}
        """
        columns = [name for column in policy.schema.quasi for name in column.published_names]
        empty = cls(columns, [column.name for column in policy.schema.sensitive])
        return empty.with_release(published)

    def with_release(self, added: pa.Table) -> State:
        """Return the state after one more release, which added these rows."""
        number = self.releases + 1
        classes = {cells: list(parts) for cells, parts in self.classes.items()}
        for cells, rows in cells_of(added, self.columns).items():
            values = {name: _counted(added.column(name).take(pa.array(rows))) for name in self.sensitive}
            classes.setdefault(cells, []).append(Added(number, len(rows), values))
        return State(self.columns, self.sensitive, number, classes)

    def sizes(self) -> dict[Cells, int]:
        """Return how many records each class has by now."""
        return {cells: sum(part.records for part in parts) for cells, parts in self.classes.items()}

    def check(self, published: pa.Table) -> None:
        """Raise unless a published table has just the classes and sizes of this state."""
        missing = [name for name in (*self.columns, *self.sensitive) if name not in published.column_names]
        same = not missing and self.sizes() == {
            cells: len(rows) for cells, rows in cells_of(published, self.columns).items()
        }
        if not same:
            raise DataError(
                "the state is not that of the published table",
                hint="Give the table and the state that were written together, or leave the state out.",
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the state as plain values, for JSON."""
        return {
            "format": _FORMAT,
            "columns": self.columns,
            "sensitive": self.sensitive,
            "releases": self.releases,
            "classes": [
                {
                    "cells": list(cells),
                    "added": [
                        {
                            "release": part.release,
                            "records": part.records,
                            "values": {name: list(map(list, v.items())) for name, v in part.values.items()},
                        }
                        for part in parts
                    ],
                }
                for cells, parts in self.classes.items()
            ],
        }

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> State:
        """Return the state in a file that `write` made."""
        problem = ""
        try:
            found = json.loads(Path(path).read_text(encoding="utf-8"))
            return cls._from_dict(found)
        except OSError as error:
            problem = f"cannot be read: {error.strerror}"
        except (ValueError, KeyError, TypeError, AttributeError):
            problem = "is no state of shoal, or one of another version"
        raise DataError(f"the state file {Path(path).name!r} {problem}", hint="Name the file update wrote.")

    @classmethod
    def _from_dict(cls, found: dict[str, Any]) -> State:
        if found["format"] != _FORMAT:
            raise ValueError("another version")
        classes = {
            tuple(entry["cells"]): [
                Added(part["release"], part["records"], {n: dict(v) for n, v in part["values"].items()})
                for part in entry["added"]
            ]
            for entry in found["classes"]
        }
        return cls(list(found["columns"]), list(found["sensitive"]), int(found["releases"]), classes)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the state, so that the file is the old one or the new one at every moment."""
        from ..writing import write_json

        write_json(self.to_dict(), Path(path))


def cells_of(published: pa.Table, columns: Sequence[str]) -> dict[Cells, list[int]]:
    """Return the rows of every class of a published table, by the cells they share."""
    ids = group_rows(published, list(columns))
    _, first = np.unique(ids, return_index=True)
    shown = [
        texts(published.column(name).take(pa.array(first)).combine_chunks()).to_pylist() for name in columns
    ]
    order = np.argsort(ids, kind="stable")
    members = np.split(order, np.cumsum(np.bincount(ids))[:-1]) if len(ids) else []
    return {cells: rows.tolist() for cells, rows in zip(zip(*shown, strict=True), members, strict=True)}


def _counted(column: pa.ChunkedArray) -> dict[str | None, int]:
    return dict(Counter(None if value is None else str(value) for value in column.to_pylist()))
