"""Partition -> table in a database, for a table that is never held as a whole.

The release is first written to a private file, verified there, and then loaded block by block in one
transaction. What the database holds is read back and verified in that transaction, and only then committed.
"""

from __future__ import annotations

import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import VerificationFailed
from ..io import databases
from ..io.blocks import Blocks, open_blocks
from ..verification.streamed import verify_blocks
from .streaming import Target, release_blocks
from .workspace import workspace

if TYPE_CHECKING:
    from ..algorithms.base import Algorithm
    from ..io.databases import Address
    from ..partitions import Partition
    from ..policy import Policy
    from ..progress import Run
    from ..release import FileRelease
    from .encoding import PreparedBlocks


def release_into_database(
    prepared: PreparedBlocks, partition: Partition, algorithm: Algorithm, run: Run, target: DatabaseTarget
) -> FileRelease:
    """Load the release of a prepared table into a database, verify it there, and let others see it.

    Killed at any moment, this leaves the old table or the new one: an unfinished transaction is undone.

    Raises
    ------
    DataError, VerificationFailed, WriteError
        As for `release_blocks`. What the database held is untouched.
    """
    address, policy = target.address, prepared.policy
    with workspace(target.place) as folder:
        draft = folder / "release.parquet"
        how = dataclasses.replace(target.file, path=draft, manifest=False)
        release = release_blocks(prepared, partition, algorithm, run, how)
        close_blocks(prepared.blocks)  # it may be a table of the same database
        content = open_blocks(draft)
        with run.progress.stage("loading and verifying"):
            databases.put_blocks(
                address, content, release.manifest(), lambda found: _verified(found, content, policy)
            )
    return dataclasses.replace(release, path=Path(address.label))


@dataclasses.dataclass(frozen=True, slots=True)
class DatabaseTarget:
    """Where a release goes, and how; the path of `file` does not matter."""

    address: Address
    file: Target

    @property
    def place(self) -> Path:
        """Beside what the private folder stands: the database's file, or a name among temporary files."""
        if self.address.engine == "postgresql":
            return Path(tempfile.gettempdir()) / "shoal-postgresql"
        return Path(self.address.where)


def close_blocks(blocks: Blocks) -> None:
    """End the transaction of blocks that have one."""
    if isinstance(blocks, databases.DatabaseBlocks):
        blocks.close()


def _verified(found: Blocks, written: Blocks, policy: Policy) -> None:
    if found.records != written.records or found.schema.names != written.schema.names:
        raise VerificationFailed(
            f"{written.records} records in {len(written.schema.names)} columns were written, and "
            f"{found.records} in {len(found.schema.names)} read back",
            hint="Nothing was changed. Write a .parquet file instead.",
        )
    verify_blocks(found, policy).require()
