"""What a rollback journal and a write-ahead log hold, read as SQLite's recovery reads them.

Formats: https://www.sqlite.org/fileformat2.html, sections 3 and 4. Nothing here opens a file: a reader
gives `read(count, offset)`. What these find decides routes (DESIGN 3.1) and refusals (DECISIONS 18).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from struct import unpack, unpack_from

from persistence.strays import Strays
from persistence.strays import sums as _sums

__all__ = ["JOURNAL_MAGIC", "JournalFacts", "LogFacts", "log_header_valid", "read_journal", "read_log"]

Read = Callable[[int, int], bytes]
"""`read(count, offset)`: that many bytes from there, fewer at the end of the file."""

JOURNAL_MAGIC = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
_LOG_MAGIC = {b"\x37\x7f\x06\x82": "<", b"\x37\x7f\x06\x83": ">"}  # the byte order of its checksums
_LOG_VERSION = 3007000
_LONGEST_NAME = 513  # SQLite's limit for a path, with its NUL: a longer super-journal name is not read
_WORDS = 0xFFFFFFFF


@dataclass(frozen=True, slots=True)
class JournalFacts:
    """A rollback journal. `hot_header` is what an interrupted transaction leaves; sizes are bytes."""

    size: int
    hot_header: bool
    records: int | None = None  # what its headers promise; None: as many as fit (it was never synced)
    promised: int = 0  # the size that holds them
    page_size: int = 0
    sector_size: int = 0
    original_pages: int = 0
    super_journal: bytes | None = None

    @property
    def short(self) -> bool:
        """Whether its size does not hold the records it promises (DECISIONS 18)."""
        return self.hot_header and self.promised > self.size

    @property
    def words(self) -> str:
        if self.size == 0:
            return "empty"
        if not self.hot_header:
            return "at rest"
        held = "unsynced" if self.records is None else _count(self.records, "page")
        ends = ", cut short" if self.short else ""
        return f"hot header, {held}{ends}{', names a super-journal' if self.super_journal else ''}"


@dataclass(frozen=True, slots=True)
class LogFacts:
    """A write-ahead log, counted in frames (one page each) from its beginning.

    Recovery takes the first `committed` frames. The rest with the log's own salts are `passed_over`,
    `passed_over_commits` of them marked as commits; `earlier` ones carry other salts: an older generation's
    (normal), but for `strange_commits` marks on frames that cannot be.
    """

    size: int
    valid: bool
    page_size: int = 0
    sequence: int = 0
    salts: bytes = b""
    frames: int = 0
    committed: int = 0
    commits: int = 0
    passed_over: int = 0
    passed_over_commits: int = 0
    earlier: int = 0
    strange_commits: int = 0

    @property
    def lost_commits(self) -> int:
        """Commit marks on frames that were this log's and that recovery does not take."""
        return self.passed_over_commits + self.strange_commits

    @property
    def contradicts(self) -> bool:
        """Whether it cannot be what one writer left (DECISIONS 18): its rows decide nothing."""
        return (self.size > 0 and not self.valid) or self.lost_commits > 1

    @property
    def torn(self) -> bool:
        """Whether its last transaction was cut off, which is normal after a crash."""
        return self.valid and self.passed_over > 0 and self.lost_commits <= 1

    @property
    def words(self) -> str:
        if self.size == 0:
            return "empty"
        if not self.valid:
            return "its header is not valid"
        text = f"{_count(self.committed, 'frame')}, {_count(self.commits, 'commit')}"
        if self.passed_over:
            marks = f" ({_count(self.passed_over_commits, 'commit')})" if self.passed_over_commits else ""
            text = f"{text}, then {self.passed_over} passed over{marks}"
        if self.strange_commits > 1:
            return f"{text}, then damaged frames ({_count(self.strange_commits, 'commit')})"
        if self.passed_over:
            return text
        return f"{text}, sound"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def read_journal(read: Read, size: int) -> JournalFacts:
    """The facts of a journal of `size` bytes."""
    head = read(28, 0)
    if len(head) < 28 or head[:8] != JOURNAL_MAGIC:
        return JournalFacts(size, False)
    records, _nonce, pages, sector, page = unpack(">IIIII", head[8:28])
    total: int | None = 0
    promised = offset = 0
    while True:
        if records == _WORDS:  # written without syncing: recovery takes what fits
            total, promised = None, max(promised, offset + sector)
            break
        total = (total or 0) + records
        promised = offset + sector + records * (page + 8)
        # Each time a transaction is synced half-way another header follows, on a sector's boundary.
        following = -(-promised // sector) * sector if sector else promised
        head = read(28, following) if records and following > offset else b""
        if len(head) < 28 or head[:8] != JOURNAL_MAGIC:
            break
        offset, records = following, unpack_from(">I", head, 8)[0]
    return JournalFacts(size, True, total, promised, page, sector, pages, _super_journal(read, size))


def _super_journal(read: Read, size: int) -> bytes | None:
    """The name of the super-journal at a journal's end, when SQLite would read one there."""
    tail = read(16, size - 16) if size >= 16 else b""
    if len(tail) < 16 or tail[8:] != JOURNAL_MAGIC:
        return None
    length, checksum = unpack(">II", tail[:8])
    if not 0 < length < min(_LONGEST_NAME, size - 16):
        return None
    name = read(length, size - 16 - length)
    # Its checksum adds the characters up as signed ones.
    if sum(byte - 256 if byte > 127 else byte for byte in name) & _WORDS != checksum:
        return None
    return name.partition(b"\0")[0] or None


def log_header_valid(head: bytes) -> bool:
    """Whether these first 32 bytes are a log header recovery accepts."""
    order = _LOG_MAGIC.get(head[:4])
    if order is None or len(head) < 32:
        return False
    version, page = unpack(">II", head[4:12])
    sums = _sums(order, head[:24], 0, 0)
    whole = 512 <= page <= 65536 and page & (page - 1) == 0
    return whole and version == _LOG_VERSION and sums == unpack(">II", head[24:32])


def read_log(read: Read, size: int, check: Callable[[int, int], None] | None = None) -> LogFacts:
    """The facts of a log of `size` bytes; every frame is checked (about 50 µs each).

    `check(done, total)` is called every 256 frames and may raise to stop.
    """
    head = read(32, 0) if size else b""
    if not log_header_valid(head):
        return LogFacts(size, False)
    order = _LOG_MAGIC[head[:4]]
    page = unpack(">I", head[8:12])[0]
    salts, frames = head[16:24], (size - 32) // (page + 24)
    sums = unpack(">II", head[24:32])
    sound, committed, commits, passed, passed_commits, earlier = True, 0, 0, 0, 0, 0
    pending = 0  # sound frames since the last commit
    strays = Strays(order, salts)
    for number in range(frames):
        if check is not None and number % 256 == 0:
            check(number, frames)
        offset = 32 + number * (page + 24)
        frame = read(24 + page if sound else 24, offset)
        if len(frame) < 24 or frame[8:16] != salts:
            if len(frame) >= 24:
                earlier += 1
                page_of = partial(read, page, offset + 24)
                strays.add(frame[:24], page_of, after=sums if sound else None)
            sound = False
            continue
        strays.gap()
        if sound:
            # The eight first bytes and the page are summed on from the frame before.
            after = _sums(order, frame[24:], *_sums(order, frame[:8], *sums))
            whole = len(frame) == 24 + page and frame[:4] != b"\0\0\0\0"
            sound = whole and after == unpack(">II", frame[16:24])
            sums = after
        marked = frame[4:8] != b"\0\0\0\0"
        if sound:
            pending += 1
            if marked:
                committed, commits, pending = number + 1, commits + 1, 0
        else:
            passed += 1
            passed_commits += marked
    return LogFacts(
        size,
        True,
        page,
        unpack(">I", head[12:16])[0],
        salts,
        frames,
        committed,
        commits,
        passed + pending,
        passed_commits,
        earlier,
        strays.commits(),
    )
