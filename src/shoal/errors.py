"""The one tree of errors: each has a code, a hint and an exit status, and never carries a cell value.

A message says what is wrong and where; the hint says how to put it right. Both are made from column
names, counts and parameter names only.
"""

from __future__ import annotations


class ShoalError(Exception):
    """Base of every error shoal raises on purpose.

    Examples
    --------
    >>> print(ShoalError("the table is empty", code="S101", hint="Give it at least one record."))
    ShoalError[S101]: the table is empty. Give it at least one record.
    """

    exit_status = 2
    default_code = "S100"

    def __init__(self, message: str, *, code: str | None = None, hint: str = "") -> None:
        self.message = message
        self.code = code or self.default_code
        self.hint = hint
        super().__init__(message)

    def __str__(self) -> str:
        text = f"{type(self).__name__}[{self.code}]: {self.message.rstrip('.')}."
        return f"{text} {self.hint}".strip()


class DataError(ShoalError):
    """The table cannot be read or does not fit what is asked of it."""

    default_code = "S101"


class PolicyError(ShoalError):
    """The policy contradicts itself or the table."""

    default_code = "S102"


class ParameterError(ShoalError):
    """A parameter lies outside what it is declared to accept."""

    default_code = "S103"


class HierarchyError(ShoalError):
    """A hierarchy is ragged, contradictory, or misses values of its column."""

    default_code = "S104"


class UnknownName(ShoalError):
    """A name (column, algorithm, model, metric, data set) that does not exist."""

    default_code = "S105"

    @classmethod
    def nearest(cls, what: str, name: str, known: list[str]) -> UnknownName:
        """Return the error for ``name``, with the nearest known name as the hint."""
        import difflib

        close = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f"Did you mean {close[0]!r}?" if close else f"Known: {', '.join(known) or 'none'}."
        return cls(f"there is no {what} {name!r}", hint=hint)


class MissingExtra(ShoalError):
    """An optional dependency is not installed."""

    default_code = "S106"

    @classmethod
    def of(cls, what: str, extra: str) -> MissingExtra:
        """Return the error that names the extra to install."""
        return cls(f"{what} needs an optional dependency", hint=f"pip install 'shoal[{extra}]'")


class PolicyUnsatisfiable(ShoalError):
    """No release of this table can keep the policy within its suppression limit."""

    exit_status = 1
    default_code = "S201"


class VerificationFailed(ShoalError):
    """The published table does not keep the policy: nothing was written."""

    exit_status = 1
    default_code = "S301"


class WriteError(ShoalError):
    """The release could not be written; whatever stood at the target is untouched."""

    default_code = "S401"


class InternalError(ShoalError):
    """Something nobody foresaw."""

    default_code = "S901"

    @classmethod
    def of(cls, error: BaseException) -> InternalError:
        """Return the error that says where another happened, and not what: its message may quote cells.

        Examples
        --------
        >>> try:
        ...     {}["a cell"]
        ... except KeyError as error:
        ...     print(InternalError.of(error).message.partition(":")[0])
        unexpected KeyError at <doctest shoal.errors.InternalError.of[0]>
        """
        import os

        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f"{os.path.basename(place.tb_frame.f_code.co_filename)}:{place.tb_lineno}" if place else "?"
        return cls(
            f"unexpected {type(error).__name__} at {where}",
            hint="Set SHOAL_DEBUG=1 to see where it comes from (the traceback may show values of the table).",
        )
