"""``shoal datasets``: the public data sets shoal can load."""

from __future__ import annotations

import click

from .options import screen_options
from .screen import Screen


@click.command()
@click.argument("name", required=False)
@screen_options
def datasets(name: str | None, screen: Screen) -> None:
    """List the public data sets shoal can load, or show one: where it lies, its columns, its hierarchies.

    A set is taken from the folder named by SHOAL_DATA, else from the cache, else from its publisher.
    """
    from .. import datasets as library

    if name is None:
        names = library.names()
        screen.json({"datasets": names})
        screen.table(["data set"], [[each] for each in names])
        screen.advise("More about one: shoal datasets NAME; in Python: shoal.datasets.load(NAME)")
        return
    path = library.path(name)
    table = library.load(name)
    hierarchies = sorted(library.hierarchies(name))
    columns = [
        {"name": field.name, "type": str(field.type), "nulls": table.column(field.name).null_count}
        for field in table.schema
    ]
    screen.json(
        {
            "name": name,
            "path": str(path),
            "records": table.num_rows,
            "columns": columns,
            "hierarchies": hierarchies,
        }
    )
    screen.line(f"{name}: {table.num_rows:,} records, in {path}")
    screen.table(
        ["column", "type", "nulls", "hierarchy"],
        [
            [
                str(c["name"]),
                str(c["type"]),
                f"{c['nulls']:,}",
                "yes" if c["name"] in hierarchies else "",
            ]
            for c in columns
        ],
    )
