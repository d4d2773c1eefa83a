"""Masking: each level hides one more character from the right, or from the left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import HierarchyError
from .base import Hierarchy
from .levels import TEXT, Level, leaf_level, root_level
from .texts import is_number, texts

_MOST_LEVELS = 64


@dataclass(frozen=True, slots=True, repr=False)
class PrefixHierarchy(Hierarchy):
    """Prefixes or suffixes of texts, or of numbers filled with zeros; see `Hierarchy.prefix`, `suffix`."""

    keep: int | tuple[int, ...] | None
    mask: str
    length: int | None
    from_left: bool = False

    _misfit = "longer than the prefix hierarchy's length"
    _remedy = "Raise its length"

    @classmethod
    def of(
        cls, keep: int | Sequence[int] | None, mask: str, length: int | None, *, from_left: bool = False
    ) -> PrefixHierarchy:
        """Return the hierarchy, or refuse lengths that do not shrink."""
        if not isinstance(mask, str) or len(mask) != 1:
            raise HierarchyError("'mask' of a prefix hierarchy must be one character", hint="Such as '*'.")
        if length is not None and not _is_count(length):
            raise HierarchyError("'length' of a prefix hierarchy must be a whole number above 0")
        shown: list[Any] = list(keep) if isinstance(keep, Sequence) else [1 if keep is None else keep]
        counts = len(shown) > 0 and all(map(_is_count, shown))
        if not counts or any(high <= low for high, low in pairwise(shown)):
            raise HierarchyError(
                "'keep' of a prefix hierarchy must be a whole number above 0, or a list of them that shrinks",
                hint="Such as 3, or [3, 1].",
            )
        return cls(tuple(shown) if isinstance(keep, Sequence) else keep, mask, length, from_left)

    def _levels(self, values: pa.Array) -> tuple[list[Level], NDArray[np.int64]]:
        labels = texts(values)
        keys, full = self._keys(labels, is_number(values.type))
        sizes = pc.utf8_length(keys).to_numpy(zero_copy_only=False)
        known = np.flatnonzero(sizes <= full)
        order = known[pc.sort_indices(keys.take(pa.array(known))).to_numpy().astype(np.int64)]
        leaf_of = np.full(len(labels), -1, dtype=np.int64)
        leaf_of[order] = np.arange(len(order))
        keys, labels = keys.take(pa.array(order)), labels.take(pa.array(order))
        levels = [leaf_level(labels)]
        for shown in self._shown(full):
            levels.append(self._level(keys, labels, shown, full))
        return [*levels, root_level()], leaf_of

    def _keys(self, labels: pa.Array, numeric: bool) -> tuple[pa.Array, int]:
        """Return (the texts that are cut, the length of a full one)."""
        longest = pc.max(pc.utf8_length(labels)).as_py() if len(labels) else 1
        full = self.length or max(longest, 1)
        keys = pc.utf8_lpad(labels, full, padding="0") if numeric else labels
        return (pc.utf8_reverse(keys) if self.from_left else keys), full

    def _shown(self, full: int) -> list[int]:
        """Return how many characters each level shows, finest first."""
        if isinstance(self.keep, tuple):
            return [shown for shown in self.keep if shown < full]
        shown = list(range(full - 1, (self.keep or 1) - 1, -1))
        if len(shown) > _MOST_LEVELS:
            raise HierarchyError(
                f"masking one character a level would take {len(shown)} levels (limit {_MOST_LEVELS})",
                hint="List the prefix lengths to show: keep=[4, 2].",
            )
        return shown

    def _level(self, keys: pa.Array, labels: pa.Array, shown: int, full: int) -> Level:
        prefixes = pc.utf8_slice_codeunits(keys, 0, shown)
        changes = pc.not_equal(prefixes.slice(1), prefixes.slice(0, max(len(prefixes) - 1, 0)))
        starts = np.append(0, np.flatnonzero(changes.to_numpy(zero_copy_only=False)) + 1)[: len(keys)]
        at = pa.array(starts.astype(np.int64))
        hidden = pa.scalar(self.mask * (full - shown), TEXT)
        masked = pc.binary_join_element_wise(prefixes.take(at), hidden, pa.scalar("", TEXT))
        masked = pc.utf8_reverse(masked) if self.from_left else masked
        short = pc.less(pc.utf8_length(keys.take(at)), shown)  # the mask has not reached these yet
        return Level(starts.astype(np.int64), pc.if_else(short, labels.take(at), masked))

    @property
    def _name(self) -> str:
        return "suffix" if self.from_left else "prefix"

    def _spec(self, base_path: Path | None) -> dict[str, Any]:
        spec: dict[str, Any] = {"type": self._name}
        if self.keep is not None:
            spec["keep"] = list(self.keep) if isinstance(self.keep, tuple) else self.keep
        if self.mask != "*":
            spec["mask"] = self.mask
        if self.length is not None:
            spec["length"] = self.length
        return spec

    def __repr__(self) -> str:
        given = {key: value for key, value in self._spec(None).items() if key != "type"}
        return f"Hierarchy.{self._name}({', '.join(f'{key}={value!r}' for key, value in given.items())})"


def _is_count(given: Any) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and given > 0
