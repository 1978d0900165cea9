"""The 156 cases themselves: see `craft`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from tests.persistence.lineage.craft import (
    CASES,
    LINEAGE_ROW,
    META,
    VERSION_ROW,
    Build,
    beside,
    case,
    complete,
    edit,
    foreign,
    hot,
    logged,
    loose_meta,
    meta,
    small,
    spoil,
)

__all__ = ["CASES"]


def simple(name: str, what: str, build: Build, **more: Any) -> None:
    case(name, what, **more)(build)


# -- the lineage row ----------------------------------------------------------------------------------

simple("lineage-lionagi", "complete, lineage lionagi, version 4", complete)
for _name, _value, _words in (
    ("other", "acme-desk", "names another application"),
    ("empty", "", "is empty"),
    ("blank", "   ", "is only spaces"),
    ("case", "LionAGI", "differs in letter case"),
    ("padded", "lionagi ", "has a trailing space"),
    ("long", "x" * 5000, "is 5000 characters long"),
    ("blob", b"lionagi", "is a blob of the bytes of lionagi"),
):
    simple(f"lineage-{_name}", f"the lineage {_words}", lambda d, v=_value: meta(complete(d), "lineage", v))
simple("lineage-missing", "no lineage row, version 4", lambda d: meta(complete(d), "lineage", None))
simple("lineage-null", "lineage NULL", lambda d: loose_meta(complete(d), ("version", "4"), ("lineage", None)))
simple(
    "lineage-integer",
    "lineage the integer 1",
    lambda d: loose_meta(complete(d), ("version", "4"), ("lineage", 1)),
)
simple(
    "lineage-twice-lionagi-last",
    "two lineage rows, acme-desk first",
    lambda d: loose_meta(complete(d), ("version", "4"), ("lineage", "acme-desk"), ("lineage", "lionagi")),
)
simple(
    "lineage-twice-other-last",
    "two lineage rows, lionagi first",
    lambda d: loose_meta(complete(d), ("version", "4"), ("lineage", "lionagi"), ("lineage", "acme-desk")),
)
simple(
    "lineage-key-case",
    "the key is spelled Lineage",
    lambda d: meta(meta(complete(d), "lineage", None), "Lineage", "acme-desk"),
)
simple(
    "lineage-other-and-too-new",
    "lineage acme-desk and version 99",
    lambda d: meta(meta(complete(d), "lineage", "acme-desk"), "version", "99"),
)

# -- versions -----------------------------------------------------------------------------------------

for _name, _value in (
    ("missing", None),
    ("equal", "4"),
    ("lower", "1"),
    ("higher", "5"),
    ("huge", "9" * 30),
    ("zero", "0"),
    ("zero-padded", "004"),
    ("spaced", " 4 "),
    ("empty", ""),
    ("word", "four"),
    ("float", "4.0"),
    ("negative", "-1"),
    ("plus", "+5"),
    ("underscore", "1_0"),
    ("arabic-digit", "\u0665"),
    ("blob", b"4"),
    ("newline", "4\n"),
):
    simple(
        f"version-{_name}-with-lineage",
        f"lineage lionagi, version {_value!r}",
        lambda d, v=_value: meta(complete(d), "version", v),
    )
    simple(
        f"version-{_name}-no-lineage",
        f"0.34.1 without lineage, version {_value!r}",
        lambda d, v=_value: meta(complete(d, "0.34.1"), "version", v),
    )
simple(
    "version-integer-no-lineage", "the integer 3", lambda d: loose_meta(complete(d, "0.34.1"), ("version", 3))
)
simple(
    "version-real-no-lineage", "the float 3.0", lambda d: loose_meta(complete(d, "0.34.1"), ("version", 3.0))
)

# -- the shape of schema_meta -------------------------------------------------------------------------

simple(
    "meta-absent-native-tables", "schema_meta dropped", lambda d: edit(complete(d), "DROP TABLE schema_meta")
)
simple(
    "meta-absent-foreign-table",
    "one unknown table, no schema_meta",
    lambda d: small(d, "CREATE TABLE ledger (id INTEGER PRIMARY KEY)"),
)
simple(
    "meta-absent-operator-table",
    "only a table of the operator store",
    lambda d: small(d, "CREATE TABLE studio_operator_views (id TEXT PRIMARY KEY)"),
)
simple(
    "meta-absent-lookalike",
    "another application's sessions and messages",
    lambda d: small(
        d,
        "CREATE TABLE sessions (sid INTEGER PRIMARY KEY, cookie TEXT)",
        "CREATE TABLE messages (mid INTEGER PRIMARY KEY, body TEXT)",
        "INSERT INTO sessions VALUES (1,'c')",
        "INSERT INTO messages VALUES (1,'hello')",
    ),
)
simple(
    "meta-no-key-column",
    "schema_meta(name, val)",
    lambda d: small(
        d,
        "CREATE TABLE schema_meta (name TEXT, val TEXT)",
        "INSERT INTO schema_meta VALUES ('lineage','acme-desk')",
    ),
)
simple(
    "meta-upper-columns",
    "schema_meta(KEY, VALUE)",
    lambda d: edit(
        complete(d),
        "DROP TABLE schema_meta",
        "CREATE TABLE schema_meta (KEY TEXT PRIMARY KEY, VALUE TEXT NOT NULL)",
        (LINEAGE_ROW, ("lionagi",)),
        (VERSION_ROW, ("4",)),
    ),
)
simple(
    "meta-upper-name",
    "SCHEMA_META",
    lambda d: edit(
        complete(d),
        "DROP TABLE schema_meta",
        "CREATE TABLE SCHEMA_META (key TEXT PRIMARY KEY, value TEXT NOT NULL)",
        (LINEAGE_ROW, ("acme-desk",)),
        (VERSION_ROW, ("4",)),
    ),
)
simple(
    "meta-is-view",
    "schema_meta is a view over another application's table",
    lambda d: small(
        d,
        "CREATE TABLE facts (k TEXT, v TEXT)",
        "INSERT INTO facts VALUES ('lineage','acme-desk')",
        "CREATE VIEW schema_meta AS SELECT k AS key, v AS value FROM facts",
    ),
)
simple(
    "meta-is-view-native-tables",
    "schema_meta is a view, every table is lionagi's",
    lambda d: edit(
        complete(d),
        "DROP TABLE schema_meta",
        "CREATE VIEW schema_meta AS SELECT 'lineage' AS key, 'acme-desk' AS value",
    ),
)
simple(
    "meta-generated-value",
    "schema_meta.value is generated",
    lambda d: small(
        d,
        "CREATE TABLE schema_meta (key TEXT PRIMARY KEY, value TEXT GENERATED ALWAYS AS "
        "(CASE key WHEN 'lineage' THEN 'acme-desk' ELSE '7' END) VIRTUAL)",
        "INSERT INTO schema_meta(key) VALUES ('lineage')",
        "INSERT INTO schema_meta(key) VALUES ('version')",
    ),
)
simple("meta-empty", "no rows", lambda d: edit(complete(d), "DELETE FROM schema_meta"))

# -- unknown tables -----------------------------------------------------------------------------------

LEDGER = "CREATE TABLE ledger (id INTEGER PRIMARY KEY)"
simple("tables-unknown-with-lineage", "lineage and an unknown table", lambda d: edit(complete(d), LEDGER))
simple(
    "tables-unknown-no-lineage-sessions",
    "no lineage, version 3, sessions, an unknown table",
    lambda d: edit(complete(d, "0.34.1"), LEDGER),
)
simple(
    "tables-unknown-no-lineage-no-sessions",
    "no lineage, version 3, no sessions, an unknown table",
    lambda d: small(d, META, (VERSION_ROW, ("3",)), LEDGER),
)
simple(
    "tables-partial-no-lineage",
    "no lineage, version 3, only progressions",
    lambda d: small(
        d,
        META,
        (VERSION_ROW, ("3",)),
        "CREATE TABLE progressions (id TEXT NOT NULL PRIMARY KEY, created_at FLOAT NOT NULL, "
        "collection TEXT DEFAULT '[]' NOT NULL)",
    ),
)
simple(
    "tables-none-lineage-lionagi",
    "only schema_meta, lineage lionagi",
    lambda d: small(d, META, (VERSION_ROW, ("4",)), (LINEAGE_ROW, ("lionagi",))),
)
simple("tables-only-a-view", "one view", lambda d: small(d, "CREATE VIEW v AS SELECT 1 AS one"))
simple(
    "tables-sqlite-prefixed-lookalike",
    "one table named sqlitex_data",
    lambda d: small(d, "CREATE TABLE sqlitex_data (id INTEGER)"),
)

# -- kinds of file ------------------------------------------------------------------------------------


def _half(path: Path) -> None:
    data = path.read_bytes()
    path.write_bytes(data[: len(data) // 2])


simple("file-absent", "no file", lambda d: None)
simple("file-absent-parent-absent", "no directory", lambda d: None, open="no/such/dir/store.db")
simple("file-empty", "zero bytes", lambda d: (d / "store.db").touch())
simple("file-zero-tables", "no table", lambda d: small(d, "PRAGMA user_version = 1"))
simple("file-text", "text", lambda d: (d / "store.db").write_text("not a database\n" * 600))
simple("file-text-short", "12 bytes of text", lambda d: (d / "store.db").write_text("hello world\n"))
simple("file-truncated-half", "cut to half", lambda d: _half(complete(d)))
simple(
    "file-truncated-header",
    "the first 100 bytes",
    lambda d: (d / "store.db").write_bytes(complete(d).read_bytes()[:100]),
)
simple(
    "file-foreign-corrupt-page",
    "the second page overwritten",
    lambda d: spoil(foreign(d), 4096, lambda b: b"\xff" * 4096 + b[4096:]),
)
simple("file-directory", "a directory", lambda d: (d / "store.db").mkdir())


@case("file-symlink-foreign", "a link to a foreign store")
def _link(folder: Path) -> None:
    (folder / "real").mkdir()
    foreign(folder / "real")
    (folder / "store.db").symlink_to("real/store.db")


simple("file-symlink-dangling", "a link to nothing", lambda d: (d / "store.db").symlink_to("gone.db"))
simple(
    "file-hardlink-foreign",
    "a hard link to a foreign store",
    lambda d: os.link(foreign(d, name="other.db"), d / "store.db"),
)
simple("file-mode-000-foreign", "mode 000", lambda d: foreign(d).chmod(0))
simple("file-mode-444-foreign", "mode 444", lambda d: foreign(d).chmod(0o444))

# -- rollback journals --------------------------------------------------------------------------------

simple("journal-hides-foreign", "hot: acme-desk, pending lionagi", lambda d: hot(d, "acme-desk", "lionagi"))
simple("journal-deleted-foreign", "hot: the row deleted", lambda d: hot(d, "acme-desk", "", drop_row=True))
simple("journal-shows-foreign", "hot: lionagi, pending acme-desk", lambda d: hot(d, "lionagi", "acme-desk"))
simple("journal-half-foreign-uncommitted", "hot: none, pending acme-desk", lambda d: hot(d, "-", "acme-desk"))
simple("journal-zeroed", "at rest", lambda d: beside(foreign(d), "-journal").write_bytes(b"\0" * 4096))
simple("journal-garbage", "text", lambda d: beside(foreign(d), "-journal").write_text("not a journal " * 100))
simple(
    "journal-truncated",
    "cut to 512 bytes",
    lambda d: spoil(beside(hot(d, "acme-desk", "lionagi"), "-journal"), 512, lambda b: b""),
)
simple("journal-directory", "a directory", lambda d: beside(complete(d), "-journal").mkdir())
simple("journal-empty-file", "zero bytes", lambda d: beside(complete(d), "-journal").touch())

# -- write-ahead logs ---------------------------------------------------------------------------------


def _too_new_in_log(folder: Path) -> None:
    from tests.persistence.lineage.craft import in_child

    complete(folder, name="live.db")
    in_child(
        """
        path = sys.argv[1]
        c = sqlite3.connect(path, isolation_level=None)
        c.execute("PRAGMA wal_autocheckpoint=0")
        c.execute("UPDATE schema_meta SET value='9' WHERE key='version'")
        for suffix in ('', '-wal'):
            shutil.copyfile(path + suffix, path.replace('live.db', 'store.db') + suffix)
        """,
        folder / "live.db",
    )
    for left in folder.glob("live.db*"):
        left.unlink()


@case("wal-beside-delete-mode", "another store's log beside a rollback-format file")
def _stray_log(folder: Path) -> None:
    log = beside(logged(folder, "-", "lionagi", shm=False), "-wal").read_bytes()
    (folder / "store.db").unlink()
    foreign(folder)
    (folder / "store.db-wal").write_bytes(log)


GARBAGE = b"\x99" * 9000
simple("wal-foreign-only-in-log-shm", "acme-desk in the log, an index", lambda d: logged(d, "-", "acme-desk"))
simple(
    "wal-foreign-only-in-log-noshm", "acme-desk in the log", lambda d: logged(d, "-", "acme-desk", shm=False)
)
simple(
    "wal-file-lionagi-log-foreign",
    "file lionagi, log acme-desk",
    lambda d: logged(d, "lionagi", "acme-desk", native=True),
)
simple(
    "wal-file-foreign-log-lionagi",
    "file acme-desk, log lionagi",
    lambda d: logged(d, "acme-desk", "lionagi", native=True),
)
simple(
    "wal-file-foreign-log-deleted",
    "file acme-desk, log without the row",
    lambda d: logged(d, "acme-desk", "-", shm=False, native=True),
)
simple(
    "wal-uncommitted-foreign",
    "only frames of an uncommitted transaction",
    lambda d: logged(d, "lionagi", "acme-desk", commit=False, native=True),
)
simple(
    "wal-stale-shm",
    "an index of zeros",
    lambda d: beside(logged(d, "-", "acme-desk"), "-shm").write_bytes(b"\0" * 32768),
)
simple(
    "wal-garbage-shm",
    "an index of garbage",
    lambda d: beside(logged(d, "-", "acme-desk"), "-shm").write_bytes(bytes(range(256)) * 128),
)
simple(
    "wal-garbage-log", "native, log of garbage", lambda d: beside(complete(d), "-wal").write_bytes(GARBAGE)
)
simple(
    "wal-garbage-log-foreign-file",
    "foreign, log of garbage",
    lambda d: beside(foreign(d, wal=True), "-wal").write_bytes(GARBAGE),
)
simple("wal-short-log", "log of 10 bytes", lambda d: beside(complete(d), "-wal").write_bytes(b"0123456789"))
simple(
    "wal-corrupt-frames",
    "acme-desk in damaged frames",
    lambda d: spoil(
        beside(logged(d, "-", "acme-desk", shm=False), "-wal"), 40, lambda b: bytes(x ^ 0x5A for x in b)
    ),
)
simple("wal-zero-length", "foreign, empty log", lambda d: beside(foreign(d, wal=True), "-wal").touch())
simple("wal-directory", "a directory", lambda d: beside(complete(d), "-wal").mkdir())
simple(
    "wal-empty-file-full-log",
    "zero bytes beside a log naming acme-desk",
    lambda d: logged(d, "-", "acme-desk", shm=False).write_bytes(b""),
)
simple("wal-too-new-in-log", "version 9 in the log", _too_new_in_log)

# -- how it is spelled (a foreign store each, so a refusal proves that the file was found) -----------------


def _spelled(folder: Path) -> None:
    foreign(folder)
    (folder / "sub").mkdir()


for _name, _spelling in {
    "relative-path": "store.db",
    "dot-relative-path": "./store.db",
    "dotdot-path": "sub/../store.db",
    "absolute-path": "{abs}/store.db",
    "sqlite-relative": "sqlite:///store.db",
    "sqlite-absolute": "sqlite:///{abs}/store.db",
    "aiosqlite-absolute": "sqlite+aiosqlite:///{abs}/store.db",
    "pysqlite-driver": "sqlite+pysqlite:///{abs}/store.db",
    "upper-scheme": "SQLITE:///{abs}/store.db",
    "file-uri": "sqlite:///file:{abs}/store.db?uri=true",
    "file-uri-rw": "sqlite:///file:{abs}/store.db?mode=rw&uri=true",
    "file-uri-ro": "sqlite:///file:{abs}/store.db?mode=ro&uri=true",
    "file-uri-immutable": "sqlite:///file:{abs}/store.db?immutable=1&uri=true",
    "file-uri-no-uri-flag": "sqlite:///file:{abs}/store.db",
    "file-uri-percent": "sqlite:///file:{abs}/%73tore.db?uri=true",
    "file-uri-memory": "sqlite:///file:{abs}/store.db?mode=memory&uri=true",
    "file-uri-fragment": "sqlite:///file:{abs}/store.db#x?uri=true",
    "bare-file-uri": "file:{abs}/store.db",
    "percent-in-plain": "sqlite:///{abs}/%73tore.db",
    "query-timeout": "sqlite:///{abs}/store.db?timeout=7",
    "query-unknown": "sqlite:///{abs}/store.db?nosuch=1",
    "query-cache-shared": "sqlite:///{abs}/store.db?cache=shared",
    "trailing-slash": "{abs}/store.db/",
    "trailing-space": "{abs}/store.db ",
    "memory": ":memory:",
    "sqlite-memory": "sqlite:///:memory:",
    "sqlite-bare": "sqlite://",
    "empty": "",
    "schemeless-credentials": "user:secret@host/db",
    "unknown-scheme": "mysql://u:p@h/db",
    "nul-byte": "{abs}/st\0ore.db",
}.items():
    simple(f"url-{_name}", f"spelled {_spelling!r}", _spelled, open=_spelling)
for _name, _file in {
    "question-mark": "st?re.db",
    "hash": "st#re.db",
    "percent": "st%20re.db",
    "space": "st re \u00fc.db",
}.items():
    simple(f"url-name-with-{_name}", _file, lambda d, f=_file: foreign(d, name=f), open=f"{{abs}}/{_file}")

# -- locks and rights ---------------------------------------------------------------------------------

simple("lock-exclusive-foreign", "an EXCLUSIVE lock elsewhere", foreign, hold="EXCLUSIVE")
simple("lock-immediate-native", "the write lock elsewhere", complete, hold="IMMEDIATE")
simple(
    "lock-exclusive-mode-native",
    "exclusive locking mode and a row in the log",
    complete,
    hold="WAL-EXCLUSIVE",
)
simple("perm-file-000-foreign", "mode 000", lambda d: foreign(d).chmod(0), as_user=True)
simple("perm-file-444-native", "mode 444", lambda d: complete(d).chmod(0o444), as_user=True)
simple("perm-file-444-foreign", "mode 444", lambda d: foreign(d).chmod(0o444), as_user=True)
simple(
    "perm-dir-555-native",
    "a directory that may not be written",
    lambda d: (complete(d), d.chmod(0o555)),
    as_user=True,
)
simple(
    "perm-dir-555-foreign-log",
    "acme-desk in the log, a directory that may not be written",
    lambda d: (logged(d, "-", "acme-desk", shm=False), d.chmod(0o555)),
    as_user=True,
)
simple(
    "perm-wal-000",
    "file lionagi, a log that may not be read",
    lambda d: beside(logged(d, "lionagi", "acme-desk", native=True), "-wal").chmod(0),
    as_user=True,
)
simple(
    "perm-journal-000",
    "a hot journal that may not be read",
    lambda d: beside(hot(d, "acme-desk", "lionagi"), "-journal").chmod(0),
    as_user=True,
)


@case("perm-dir-000", "a directory that may not be entered", open="shut/store.db", as_user=True)
def _shut(folder: Path) -> None:
    (folder / "shut").mkdir()
    foreign(folder / "shut")
    (folder / "shut").chmod(0)
