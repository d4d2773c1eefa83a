"""Publishing a table again when it has grown, without changing what was published for others."""

from .run import Update, update
from .state import State

__all__ = ["State", "Update", "update"]
