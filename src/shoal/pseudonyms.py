"""What becomes of direct identifiers that are not dropped: keyed pseudonyms, or a mask.

A pseudonym is HMAC-SHA256 of the column's name and the value, under a key that never enters the release. Who
has no key can neither compute it nor try values; who has it can link releases made under the same key.
"""

from __future__ import annotations

import hmac

import pyarrow as pa
import pyarrow.compute as pc

from .errors import PolicyError
from .schema import Action, Column

MASK = "***"
DIGITS = 32  # hexadecimal: 128 bits, so that two people never share one by chance
LEAST_KEY = 16  # bytes: a shorter key could be found by trying


def replace_identifier(values: pa.ChunkedArray, column: Column, key: bytes | None) -> pa.Array:
    """Return the published cells of a direct identifier that stays: masked, or one pseudonym per value.

    A null stays null under pseudonyms, and is masked like everything else by the mask.

    References
    ----------
    Krawczyk, H., Bellare, M. and Canetti, R. (1997): HMAC: Keyed-Hashing for Message Authentication.
    RFC 2104.

    Examples
    --------
    >>> import pyarrow as pa
    >>> names = pa.chunked_array([["Ann", "Bob", "Ann", None]])
    >>> column = Column("name", action=Action.PSEUDONYM)
    >>> made = replace_identifier(names, column, b"a secret of 16 bytes").to_pylist()
    >>> len(made[0]), made[0] == made[2], made[0] == made[1], made[3]
    (32, True, False, None)
    """
    if column.action is Action.MASK:
        return pa.array([MASK], type=pa.string()).take(pa.array([0] * len(values), type=pa.int64()))
    check_key(column, key)
    assert key is not None
    encoded = pc.dictionary_encode(values.combine_chunks().cast(_plain_type(values.type)))
    encoded = encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded
    made = [_pseudonym(key, column.name, str(value)) for value in encoded.dictionary.to_pylist()]
    return pa.array(made, type=pa.string()).take(encoded.indices)


def check_key(column: Column, key: bytes | None) -> None:
    """Raise when a column asks for pseudonyms and there is no key fit for them."""
    if key is None:
        raise PolicyError(
            f"the identifier {column.name!r} is to become a pseudonym, and there is no key",
            hint="Pass a secret key, or drop the column.",
        )
    if len(key) < LEAST_KEY:
        raise PolicyError(
            f"the key for pseudonyms has {len(key)} bytes; it needs at least {LEAST_KEY}",
            hint="Take a random one, such as secrets.token_bytes(32).",
        )


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind


def _pseudonym(key: bytes, column: str, value: str) -> str:
    message = f"{column}\0{value}".encode("utf-8", "surrogatepass")
    return hmac.digest(key, message, "sha256").hex()[:DIGITS]
