"""What a file is by its first bytes, when it is not a SQLite database (DESIGN 3.1, row two).

Nothing here opens anything: it is given bytes and answers with words a person can act on.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["HEAD", "SQLITE", "Looks", "looks_like"]

SQLITE = b"SQLite format 3\0"
HEAD = 4096
"""How many first bytes are enough to tell."""


@dataclass(frozen=True, slots=True)
class Looks:
    """What a file looks like: `kind` is a stable word, `words` read on after "it looks like"."""

    kind: str
    words: str
    remedy: str | None = None


_UNPACK = "Unpack it first and name the file inside."
_STARTS: tuple[tuple[bytes, Looks], ...] = (
    (b"\x1f\x8b", Looks("gzip", "a gzip archive", _UNPACK)),
    (b"PK\x03\x04", Looks("zip", "a zip archive", _UNPACK)),
    (b"PK\x05\x06", Looks("zip", "an empty zip archive")),
    (b"\x28\xb5\x2f\xfd", Looks("zstd", "a zstd archive", _UNPACK)),
    (b"\xfd7zXZ\0", Looks("xz", "an xz archive", _UNPACK)),
    (b"BZh", Looks("bzip2", "a bzip2 archive", _UNPACK)),
    (b"7z\xbc\xaf\x27\x1c", Looks("7z", "a 7z archive", _UNPACK)),
    (
        b"version https://git-lfs.github.com/spec/",
        Looks("git-lfs", "a git-LFS pointer, not the file it stands for", "Fetch it with `git lfs pull`."),
    ),
    (
        b"** This file contains an SQLite 2",
        Looks("sqlite-2", "a SQLite 2 database, a format SQLite 3 does not read"),
    ),
    (b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7", Looks("journal", "the rollback journal of a SQLite database")),
    (b"\x37\x7f\x06\x82", Looks("log", "the write-ahead log of a SQLite database")),
    (b"\x37\x7f\x06\x83", Looks("log", "the write-ahead log of a SQLite database")),
    (b"\x18\xe2\x2d\0", Looks("index", "the index of a SQLite write-ahead log")),
    (b"PAR1", Looks("parquet", "a Parquet file")),
    (b"\x89HDF\r\n\x1a\n", Looks("hdf5", "an HDF5 file")),
    (b"\0\x01\0\0Standard Jet DB", Looks("access", "a Microsoft Access database")),
    (b"\0\x01\0\0Standard ACE DB", Looks("access", "a Microsoft Access database")),
    (b"PGDMP", Looks("pg-dump", "a PostgreSQL dump", "Restore it and name the database it is in.")),
    (b"%PDF-", Looks("pdf", "a PDF document")),
    (b"\x89PNG\r\n\x1a\n", Looks("png", "a PNG picture")),
    (b"\xff\xd8\xff", Looks("jpeg", "a JPEG picture")),
    (b"\x7fELF", Looks("program", "a program")),
)
_SIDECARS = {
    "journal": "Name the database beside it, without `-journal`.",
    "log": "Name the database beside it, without `-wal`.",
    "index": "Name the database beside it, without `-shm`.",
}


def looks_like(head: bytes, size: int) -> Looks:
    """What a file of `size` bytes that begins with `head` looks like; `sqlite` and `empty` included."""
    if size == 0:
        return Looks("empty", "an empty file")
    if head.startswith(SQLITE):
        return Looks("sqlite", "a SQLite database")
    for start, looks in _STARTS:
        if head.startswith(start):
            remedy = _SIDECARS.get(looks.kind, looks.remedy)
            return Looks(looks.kind, looks.words, remedy)
    if head[8:12] == b"DUCK":
        return Looks("duckdb", "a DuckDB database", "Open it with DuckDB; here only SQLite is read.")
    if head[257:262] == b"ustar":
        return Looks("tar", "a tar archive", _UNPACK)
    if not head.strip(b"\0"):
        return Looks("zeros", "a file of zero bytes, as one that was reserved and never written")
    return _text(head) or _scrambled(head)


def _wide(head: bytes) -> bool:
    """Whether what begins with the mark of UTF-16 goes on so: one random file in 30,000 has the mark."""
    try:
        head[: len(head) // 2 * 2].decode("utf-16")
    except UnicodeDecodeError as error:
        return error.start >= len(head) - 3  # a pair cut off at the end
    return True


def _text(head: bytes) -> Looks | None:
    if head.startswith((b"\xff\xfe", b"\xfe\xff")) and _wide(head):
        return Looks("text", "a text file (UTF-16)")
    try:
        text = head.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if len(head) - error.start > 3 or len(head) < HEAD:  # more than a character cut off at the end
            return None
        text = head[: error.start].decode("utf-8-sig")
    odd = sum(not (char.isprintable() or char in "\t\n\r\f\x1b") for char in text)
    if odd * 50 > len(text):
        return None
    start = text.lstrip()[:400].upper()
    if start.startswith(("PRAGMA ", "BEGIN TRANSACTION", "CREATE TABLE", "-- ")) and ";" in text:
        return Looks("sql", "SQL text (a dump)", "Load it into a new database and name that.")
    if start.startswith(("{", "[")):
        return Looks("json", "JSON text")
    if start.startswith(("<!DOCTYPE", "<HTML", "<?XML")):
        return Looks("markup", "a web page or XML text", "A download may have saved an error page instead.")
    return Looks("text", "a text file")


def _scrambled(head: bytes) -> Looks:
    # Ciphertext and random bytes use nearly all values; 512 of them show over 200 in all but freak cases.
    part = head[:512]
    if len(part) >= 256 and len(set(part)) > len(part) * 0.36 and max(map(part.count, set(part))) < 12:
        return Looks(
            "encrypted",
            "an encrypted database, or random bytes",
            "Open it with the program that has its key.",
        )
    return Looks("unknown", "a binary file of another kind")
