"""Whether a rollback journal holds whole what it promises to put back (DECISIONS 18).

Recovery puts pages back one by one and stops, without a word, at the first it does not trust; what comes
after stays as the interrupted transaction left it. https://www.sqlite.org/fileformat2.html, section 3.
"""

from __future__ import annotations

from collections.abc import Callable
from struct import unpack

from persistence.sidecars import JOURNAL_MAGIC, JournalFacts

__all__ = ["at_rest", "broken_records", "header_makes_sense"]

_WORDS = 0xFFFFFFFF
_CHECKED = 200  # the checksum of a page adds up every so many bytes of it, from its end

Read = Callable[[int, int], bytes]
"""`read(count, offset)`: that many bytes from there, fewer at the end of the file."""


def at_rest(head: bytes) -> bool:
    """Whether a non-empty journal that begins so means nothing: its first bytes are zeroed when a transaction
    ends, and written when its pages are safe on the disk."""
    return head[:8] == bytes(8)


def header_makes_sense(facts: JournalFacts) -> bool:
    """Whether recovery takes a journal's first header; one it does not take puts nothing back."""
    page, sector = facts.page_size, facts.sector_size
    return (
        512 <= page <= 65536
        and page & (page - 1) == 0
        and 32 <= sector <= 65536
        and sector & (sector - 1) == 0
    )


def broken_records(read: Read, facts: JournalFacts) -> int:
    """How many of the pages that the journal's headers promise are not whole; each is read once."""
    broken = offset = 0
    page = facts.page_size
    while True:
        head = read(28, offset)
        if len(head) < 28 or head[:8] != JOURNAL_MAGIC:
            return broken
        records, nonce = unpack(">II", head[8:16])
        if records == _WORDS:
            return broken  # it was never synced, and promises nothing
        at = offset + facts.sector_size
        for _ in range(min(records, (facts.size - at) // (page + 8) + 1 if facts.size > at else 0)):
            record = read(page + 8, at)
            at += page + 8
            broken += len(record) < page + 8 or not _whole(record, nonce)
        following = -(-at // facts.sector_size) * facts.sector_size
        if not records or following <= offset:
            return broken
        offset = following


def _whole(record: bytes, nonce: int) -> bool:
    number, body = record[:4], record[4:-4]
    total = nonce + sum(body[len(body) - _CHECKED : 0 : -_CHECKED])
    return number != b"\0\0\0\0" and total & _WORDS == unpack(">I", record[-4:])[0]
