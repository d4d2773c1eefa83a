"""Memory that was let go of, given back to the system between the stages of a stream.

Allocators keep what they were given back, in case it is needed again. Between two stages of a large table
that can be as much as all of its codes.
"""

from __future__ import annotations

import contextlib
import ctypes

import pyarrow as pa


def give_back() -> None:
    """Ask the allocators of Arrow and, where it is the GNU one, of C to give back what nobody uses."""
    pa.default_memory_pool().release_unused()
    with contextlib.suppress(OSError, AttributeError, TypeError):
        ctypes.CDLL(None).malloc_trim(0)
