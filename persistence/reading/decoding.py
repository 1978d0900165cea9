"""Stored text bytes as text."""

from __future__ import annotations

import codecs
import sqlite3
from functools import lru_cache

from persistence.reading.plans import Drive, Plan

__all__ = ["Decoder", "decoder", "decoding"]


class Decoder:
    """Makes text of the bytes a store keeps it as; what is not valid UTF-8 becomes surrogate escapes."""

    def __init__(self, encoding: str) -> None:
        self.encoding = encoding

    def __call__(self, raw: bytes) -> str:
        try:
            return raw.decode(self.encoding, "surrogateescape")
        except UnicodeDecodeError:
            return raw.decode(self.encoding, "replace")  # UTF-16 has no escapes for half a pair

    def head(self, raw: bytes, characters: int) -> str:
        """The beginning, without the character the cut went through."""
        try:
            text = codecs.getincrementaldecoder(self.encoding)("surrogateescape").decode(raw)
        except UnicodeDecodeError:
            text = raw.decode(self.encoding, "replace")
        return text[:characters]


_NAMES = {"UTF-16le": "utf-16-le", "UTF-16be": "utf-16-be"}


@lru_cache(maxsize=4)
def _of(encoding: str) -> Decoder:
    return Decoder(_NAMES.get(encoding, "utf-8"))


def decoder(connection: sqlite3.Connection) -> Decoder:
    """The decoder of the database's own encoding."""
    return _of(connection.execute("PRAGMA encoding").fetchone()[0])


def decoding(dialect: str) -> Plan[Decoder]:
    """The same as a step of a plan; a server hands text over as text."""
    if dialect != "sqlite":
        return _of("UTF-8")
    found: Decoder = yield Drive(decoder)
    return found
